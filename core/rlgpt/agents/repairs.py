"""What the prompt of a repair says about the attempts so far."""

from __future__ import annotations

from collections.abc import Sequence

from rlgpt.agents.base import Brief
from rlgpt.agents.rendering import render_findings
from rlgpt.agents.text import code_block, number, shorten, source_block
from rlgpt.agents.traces import failure_of, render_rehearsal, render_verdict
from rlgpt.domain import FunctionRehearsal, Plain, Rehearsal


def _repairs(brief: Brief, attempts: int) -> str:
    """The number of the repair in progress, and the number of repairs that remain, as text."""
    left = "" if brief.repairs is None else f"; {brief.repairs or 'none'} left after it"
    return f"This is repair {attempts}{left}."


def _earlier(lines: Sequence[str]) -> str:
    return "\n".join(["The attempts before the last one:", *lines]) if lines else ""


def repair_slots(attempts: Sequence[Rehearsal], brief: Brief) -> dict[str, str]:
    """Texts for the prompt of a repair, which say how each attempt failed, and show the last attempt in full."""
    last = attempts[-1]
    lines = [f"- attempt {a.attempt + 1}: {shorten(failure_of(a), 600, 'the failure')}" for a in attempts[:-1]]
    full = [f"Its code:\n{code_block(last.action)}", f"What happened:\n{render_rehearsal(last)}"]
    if last.review is not None:
        full.append(f"What the critic says:\n{render_findings(last.review.findings)}")
    return {"repairs": _repairs(brief, len(attempts)), "failures": _earlier(lines), "last": "\n\n".join(full)}


def repair_measured(attempts: Sequence[Rehearsal]) -> dict[str, Plain]:
    """The figures that are recorded with a repair, which are the number of attempts and the kind of the last
    failure."""
    last = attempts[-1]
    return {"attempts": len(attempts), "failure": last.stopped_by.kind if last.stopped_by is not None else "review"}


def function_repair_slots(attempts: Sequence[FunctionRehearsal], brief: Brief) -> dict[str, str]:
    """Texts for the measured slots of the prompt that asks for the repair of a coded function. The texts say how each
    attempt failed, and show the last attempt in full. Without attempts, there are no texts.
    """
    if not attempts:
        return {}
    lines = [f"- attempt {a.attempt + 1}: {_failure(a)}" for a in attempts[:-1]]
    last = attempts[-1]
    full = [f"Its code:\n{source_block(last.function.source)}", f"What was wrong: {_failure(last)}"]
    if last.answers:
        full.append(f"Its answers at {last.moments} moments ({last.played}):\n{render_answers(last)}")
    full += [f"Remark: {remark}" for remark in last.remarks]
    return {"repairs": _repairs(brief, len(attempts)), "failures": _earlier(lines), "last": "\n\n".join(full)}


def render_answers(rehearsal: FunctionRehearsal) -> str:
    """Text with one line for each output of a coded function in its rehearsal. A line has the smallest and the largest
    value, the mean, how often the output changed, how often it was outside its bounds, and a few values.
    """
    return "\n".join(
        f"- {a.name}: {number(a.low)} to {number(a.high)}, mean {number(a.mean)}, changed {a.changes} times"
        + (f", {a.outside} times outside its bounds" if a.outside else "")
        + (f"; in order of time: {', '.join(map(number, a.samples))}" if a.samples else "")
        for a in rehearsal.answers
    )


def _failure(attempt: FunctionRehearsal) -> str:
    failure = render_verdict(attempt.verdict) if attempt.verdict is not None else attempt.fault
    return shorten(failure, 600, "the failure") or "worked"
