"""Values of the domain as text for prompts: plans, setups, findings, figures, learning curves, attempts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rlgpt.agents.text import number, shorten
from rlgpt.agents.traces import failure_of, render_verdict
from rlgpt.domain import (
    ActionPlan,
    Evaluation,
    Finding,
    Rehearsal,
    RLSetup,
    TrainingRecord,
    Verdict,
)


def render_plan(plan: ActionPlan) -> str:
    """The sub-actions, numbered in the order of use, from 1."""
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
    """The share of decisions of each action in percent, the largest first."""
    return _shares(evaluation.usage) or "(not measured)"


def render_curve(training: TrainingRecord | None, points: int = 8) -> str:
    """At most ``points`` rows of a learning curve: success, episode return, each reward term, use of each action."""
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
        used = _shares(p.usage)
        rows.append(
            f"- at {p.primitive_steps} primitive steps ({p.decisions} decisions): success {p.success:.2f}, reward "
            f"{number(p.total_reward)}" + (f"; terms: {terms}" if terms else "") + (f"; used: {used}" if used else "")
        )
    return "\n".join(rows)


def render_verdicts(verdicts: Iterable[Verdict]) -> str:
    """At most 8 different verdicts with their counts, the most frequent first."""
    counted = Counter((v.action, v.kind, v.line, v.message) for v in verdicts)
    lines = [
        f"- {n} times: {render_verdict(Verdict(action=action, kind=kind, line=line, message=message))}"
        for (action, kind, line, message), n in counted.most_common(8)
    ]
    return "\n".join(lines)


def render_attempts(rehearsals: Sequence[Rehearsal]) -> str:
    """The number of attempts at a coded action, and how the last one ended."""
    if not rehearsals:
        return "not rehearsed"
    last = rehearsals[-1]
    tries = f"{len(rehearsals)} attempt{'s' if len(rehearsals) > 1 else ''}"
    if last.failed:
        return f"{tries}, the last one failed: {shorten(failure_of(last), 400)}"
    if last.trace is not None and not last.exercised:
        return f"{tries}, the last one could not start where its rehearsal came to it: its code has not run"
    return f"{tries}, the last one worked"


def _shares(usage: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {100 * share:.0f} %" for name, share in sorted(usage.items(), key=lambda pair: -pair[1]))
