"""What earlier iterations did, as each agent needs it, bounded in length; and the figures prompts are written about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from rlgpt.agents.base import History
from rlgpt.agents.text import code_block, number, shorten
from rlgpt.agents.traces import failure_of, render_verdict
from rlgpt.domain import (
    ActionPlan,
    Evaluation,
    Finding,
    Iteration,
    Plain,
    Rehearsal,
    RLSetup,
    TrainingRecord,
    Verdict,
    best_of,
)

FIRST = "Nothing: this is the first iteration."
LIMIT = 14_000


def measured(history: History) -> dict[str, Plain]:
    """The figures of the last iteration; empty before the first."""
    if not history:
        return {}
    return figures(history[-1].evaluation, history[-1].code_evaluation)


def figures(evaluation: Evaluation, code: Evaluation | None) -> dict[str, Plain]:
    """Success and mean reward of a policy, and success of pure code where it was run."""
    found: dict[str, Plain] = {
        "success": round(evaluation.success_rate, 3),
        "reward": round(evaluation.mean_reward, 3),
    }
    if code is not None:
        found["code_success"] = round(code.success_rate, 3)
    return found


def for_slow(history: History, limit: int = LIMIT) -> str:
    """Every iteration in a line; of the last one, and the best, what became of each sub-action; the critic's words."""
    return _told(history, limit, lambda it: [_sub_actions(it), _verdicts(it), _critique(it, slow=True, fast=False)])


def for_setup(history: History, limit: int = LIMIT) -> str:
    """The setups so far, their curves and the critic's findings."""
    return _told(
        history,
        limit,
        lambda it: [
            "setup: " + render_setup(it.setup),
            "usage: " + render_usage(it.evaluation),
            "learning curve:\n" + render_curve(it.training),
            _verdicts(it),
            _critique(it, slow=False, fast=True),
        ],
    )


def for_solo(history: History, limit: int = LIMIT) -> str:
    """All of it: what one agent in the place of two needs."""
    return _told(
        history,
        limit,
        lambda it: [
            _sub_actions(it),
            "setup: " + render_setup(it.setup),
            "learning curve:\n" + render_curve(it.training),
            _verdicts(it),
            _critique(it, slow=True, fast=True),
        ],
    )


def for_action(history: History, name: str, limit: int = LIMIT) -> str:
    """How the sub-action ``name`` fared when it was last written, with its source and what was found about it."""
    if not history:
        return FIRST
    lines = [_summary(history)]
    written = [it for it in history if any(a.name == name for a in it.actions)]
    if written:
        last = written[-1]
        action = next(a for a in last.actions if a.name == name)
        lines.append(
            f"Iteration {last.index} had a `{name}`: {render_rehearsed(last.rehearsals.get(name, ()))}; "
            f"it was {_share(last.evaluation, name)}. Keep what worked of it. It was:\n{code_block(action)}"
        )
        lines += [f"error in training or evaluation: {v}" for v in _told_verdicts(_all_verdicts(last), name)]
    else:
        lines.append(f"No earlier iteration had a `{name}`.")
    if (critique := history[-1].critique) is not None:
        about = [f for f in (*critique.for_fast, *critique.for_slow) if f.action in (name, "")]
        lines += ["What the critic found about it and the whole:", render_findings(about)]
    return shorten("\n".join(lines), limit)


def render_plan(plan: ActionPlan) -> str:
    """The sub-actions, numbered in the order of use."""
    return "\n".join(
        f"{i}. `{s.name}` ({s.kind}): {s.description} (Why {s.kind}: {s.reason})"
        for i, s in enumerate(plan.sub_actions, start=1)
    )


def render_setup(setup: RLSetup) -> str:
    return setup.model_dump_json()


def render_findings(findings: Iterable[Finding]) -> str:
    lines = [f"- {f.action or 'the whole'}: {f.problem} -> {f.suggestion}" for f in findings]
    return "\n".join(lines) or "- nothing"


def render_usage(evaluation: Evaluation) -> str:
    """Share of decisions of each action, largest first."""
    used = sorted(evaluation.usage.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{name} {100 * share:.0f} %" for name, share in used) or "(not measured)"


def render_curve(training: TrainingRecord | None, points: int = 8) -> str:
    """At most ``points`` rows of a learning curve: success, reward, each reward term, use of each action."""
    if training is None or not training.curve:
        return "(no training)"
    curve = training.curve
    count = min(points, len(curve))
    chosen = [curve[round(i * (len(curve) - 1) / max(1, count - 1))] for i in range(count)]
    if count == 1:
        chosen = [curve[-1]]
    rows = []
    for p in chosen:
        terms = ", ".join(f"{k} {number(v)}" for k, v in p.reward_terms.items())
        used = ", ".join(f"{k} {100 * v:.0f} %" for k, v in sorted(p.usage.items(), key=lambda u: -u[1]))
        rows.append(
            f"- at {p.primitive_steps} primitive steps ({p.decisions} decisions): success {p.success:.2f}, reward "
            f"{number(p.total_reward)}" + (f"; terms: {terms}" if terms else "") + (f"; used: {used}" if used else "")
        )
    return "\n".join(rows)


def count_verdicts(verdicts: Iterable[Verdict]) -> str:
    """Verdicts, the same ones counted, the most frequent first."""
    counted = Counter((v.action, v.kind, v.line, v.message) for v in verdicts)
    lines = [
        f"- {n} times: {render_verdict(Verdict(action=action, kind=kind, line=line, message=message))}"
        for (action, kind, line, message), n in counted.most_common(8)
    ]
    return "\n".join(lines)


def _told(history: History, limit: int, parts: Callable[[Iteration], list[str]]) -> str:
    if not history:
        return FIRST
    best = best_of(history)
    last = history[-1]
    shown = {best.index: best, last.index: last}
    room = (limit - len(_summary(history))) // len(shown)
    blocks = [_summary(history)]
    for it in (last, *([best] if best.index != last.index else [])):
        title = "the last" if it is last else "the best so far"
        body = "\n".join(part for part in parts(it) if part)
        blocks.append(shorten(f"Iteration {it.index}, {title}:\n{body}", room))
    return "\n\n".join(blocks)


def _summary(history: History) -> str:
    rows = []
    for it in history:
        code = f", pure code {it.code_evaluation.success_rate:.2f}" if it.code_evaluation is not None else ""
        plan = ", ".join(f"{s.name} ({s.kind})" for s in it.plan.sub_actions)
        rows.append(
            f"- iteration {it.index}: success {it.evaluation.success_rate:.2f} ({it.evaluation.mode}, "
            f"{len(it.evaluation.episodes)} episodes){code}, mean reward {number(it.evaluation.mean_reward)}, "
            f"{it.steps.total} primitive steps spent; plan: {plan}"
        )
    return "\n".join(rows)


def _sub_actions(it: Iteration) -> str:
    room = max(800, 6000 // max(1, len(it.actions)))
    source = {a.name: a for a in it.actions}
    blocks = []
    for s in it.plan.sub_actions:
        line = f"- `{s.name}` ({s.kind}): {shorten(s.description, 400)}"
        if s.kind == "code":
            line += f"\n  {render_rehearsed(it.rehearsals.get(s.name, ()))}; {_share(it.evaluation, s.name)}."
            line += "\n" + code_block(source[s.name], room) if s.name in source else "\n  It was left out."
        blocks.append(line)
    return f"thoughts: {shorten(it.plan.thoughts, 800)}\n" + "\n".join(blocks)


def render_rehearsed(rehearsals: Sequence[Rehearsal]) -> str:
    """How many attempts there were, and how the last one went."""
    if not rehearsals:
        return "not rehearsed"
    last = rehearsals[-1]
    tries = f"{len(rehearsals)} attempt{'s' if len(rehearsals) > 1 else ''}"
    if last.failed:
        return f"{tries}, the last one failed: {shorten(failure_of(last), 400)}"
    if last.trace is not None and not last.exercised:
        return f"{tries}, the last one could not start where its rehearsal came to it: its code has not run"
    return f"{tries}, the last one worked"


def _share(evaluation: Evaluation, name: str) -> str:
    if not evaluation.usage:
        return "use not measured"
    return f"chosen in {100 * evaluation.usage.get(name, 0.0):.0f} % of decisions"


def _all_verdicts(it: Iteration) -> list[Verdict]:
    return [*it.evaluation.verdicts, *(it.training.verdicts if it.training else ())]


def _told_verdicts(verdicts: Iterable[Verdict], name: str) -> list[str]:
    return list(dict.fromkeys(render_verdict(v) for v in verdicts if v.action == name))[:4]


def _verdicts(it: Iteration) -> str:
    counted = count_verdicts(_all_verdicts(it))
    gone = ", ".join(it.training.quarantined) if it.training else ""
    lines = ([f"errors in training and evaluation:\n{counted}"] if counted else []) + (
        [f"taken out after three errors: {gone}"] if gone else []
    )
    return "\n".join(lines)


def _critique(it: Iteration, *, slow: bool, fast: bool) -> str:
    if it.critique is None:
        return ""
    lines = [f"critic: {it.critique.summary}"]
    if slow:
        lines.append("findings about the plan:\n" + render_findings(it.critique.for_slow))
    if fast:
        lines.append("findings about code and learning setup:\n" + render_findings(it.critique.for_fast))
    return "\n".join(lines)
