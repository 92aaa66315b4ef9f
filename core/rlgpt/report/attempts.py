"""Describes in words how an attempt to write code ended, and whether a plan was kept. Each description has a CSS class
(``good``, ``warn``, ``bad``), which sets the colour of the text.
"""

from __future__ import annotations

from rlgpt.domain import ComparedPlan, FunctionRehearsal, Rehearsal

State = tuple[str, str]
"""A few words, and the CSS class that sets their colour."""


def state(attempt: Rehearsal | FunctionRehearsal) -> State:
    """A description of how an attempt to write code ended, in words."""
    if isinstance(attempt, FunctionRehearsal):
        if attempt.verdict is not None:
            return attempt.verdict.kind, "bad"
        return ("left out", "bad") if attempt.failed else ("kept", "good")
    if attempt.stopped_by is not None:
        return f"{attempt.stopped_by.kind}{', from another start' if attempt.verdict is None else ''}", "bad"
    if attempt.failed:
        return "does not work yet", "warn"
    if attempt.trace is not None and not attempt.exercised:
        return "not exercised", "warn"
    return "kept", "good"


def title(attempt: Rehearsal | FunctionRehearsal) -> str:
    return "first version" if attempt.attempt == 0 else f"repair {attempt.attempt}"


def fate(plan: ComparedPlan) -> State:
    """A description of what became of one of several plans, after the comparison of the plans has ended."""
    if plan.kept:
        return "goes on", "good"
    if plan.equals is not None:
        return f"equals plan {plan.equals}", ""
    return (f"dropped after round {len(plan.rounds)}", "warn") if plan.rounds else ("no code that works", "bad")
