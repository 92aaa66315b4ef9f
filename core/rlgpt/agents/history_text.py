"""What earlier iterations did, as text for each agent, bounded in length; and the figures that prompts show."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rlgpt.agents.base import History
from rlgpt.agents.rendering import (
    render_attempts,
    render_curve,
    render_findings,
    render_setup,
    render_usage,
    render_verdicts,
)
from rlgpt.agents.text import code_block, number, shorten
from rlgpt.agents.traces import render_verdict
from rlgpt.domain import Evaluation, Iteration, Plain, Verdict, best_of

FIRST = "Nothing: this is the first iteration."
LIMIT = 14_000
"""Characters of a history, about: a note of what was left out may come on top."""


def measured(history: History) -> dict[str, Plain]:
    """The figures of the last iteration; empty before the first."""
    if not history:
        return {}
    return figures(history[-1].evaluation, history[-1].code_evaluation)


def figures(evaluation: Evaluation, code: Evaluation | None) -> dict[str, Plain]:
    """Success rate and mean episode return of a policy; the success rate of code alone where it was evaluated."""
    result: dict[str, Plain] = {
        "success": round(evaluation.success_rate, 3),
        "reward": round(evaluation.mean_reward, 3),
    }
    if code is not None:
        result["code_success"] = round(code.success_rate, 3)
    return result


def for_slow(history: History, limit: int = LIMIT) -> str:
    """A line for each iteration; for the last and the best one each sub-action's result and the critic's findings."""
    return _render(history, limit, lambda it: [_sub_actions(it), _verdicts(it), _critique(it, slow=True, fast=False)])


def for_setup(history: History, limit: int = LIMIT) -> str:
    """A line for each iteration; for the last and the best one setup, use of actions, learning curve and findings."""
    return _render(
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
    """What :func:`for_slow` and :func:`for_setup` say, for the single agent that replaces the slow and the fast one."""
    return _render(
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
    """The newest coded action ``name``: its attempts, its source, its errors and the critic's findings about it."""
    if not history:
        return FIRST
    lines = [_summary(history)]
    written = [it for it in history if any(a.name == name for a in it.actions)]
    if written:
        last = written[-1]
        action = next(a for a in last.actions if a.name == name)
        lines.append(
            f"Iteration {last.index} had a `{name}`: {render_attempts(last.rehearsals.get(name, ()))}; "
            f"it was {_share(last.evaluation, name)}. Keep what worked of it. It was:\n{code_block(action)}"
        )
        lines += [f"error in training or evaluation: {v}" for v in _verdicts_of(_all_verdicts(last), name)]
    else:
        lines.append(f"No earlier iteration had a `{name}`.")
    if (critique := history[-1].critique) is not None:
        about = [f for f in (*critique.for_fast, *critique.for_slow) if f.action in (name, "")]
        lines += ["What the critic found about it and the whole:", render_findings(about)]
    return shorten("\n".join(lines), limit)


def _render(history: History, limit: int, parts: Callable[[Iteration], list[str]]) -> str:
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
            line += f"\n  {render_attempts(it.rehearsals.get(s.name, ()))}; {_share(it.evaluation, s.name)}."
            line += "\n" + code_block(source[s.name], room) if s.name in source else "\n  It was left out."
        blocks.append(line)
    return f"thoughts: {shorten(it.plan.thoughts, 800)}\n" + "\n".join(blocks)


def _share(evaluation: Evaluation, name: str) -> str:
    if not evaluation.usage:
        return "use not measured"
    return f"chosen in {100 * evaluation.usage.get(name, 0.0):.0f} % of decisions"


def _all_verdicts(it: Iteration) -> list[Verdict]:
    return [*it.evaluation.verdicts, *(it.training.verdicts if it.training else ())]


def _verdicts_of(verdicts: Iterable[Verdict], name: str) -> list[str]:
    return list(dict.fromkeys(render_verdict(v) for v in verdicts if v.action == name))[:4]


def _verdicts(it: Iteration) -> str:
    counts = render_verdicts(_all_verdicts(it))
    gone = ", ".join(it.training.quarantined) if it.training else ""
    lines = ([f"errors in training and evaluation:\n{counts}"] if counts else []) + (
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
