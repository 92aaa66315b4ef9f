"""Reads the plans of an iteration for the live page, also while the plans are written and compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlgpt.domain import ActionPlan, ComparedPlan, Evaluation
from rlgpt.report import attempts
from rlgpt.report.figures import round_result
from rlgpt.runs import Run
from rlgpt.view.plain import plain

MOST_PLANS = 16
"""Maximal number of plans of an iteration."""
KINDS = ("actions", "functions")
"""The names of the folders with the attempts at the code of a plan."""


def plans_of(run: Run, index: int) -> Sequence[ComparedPlan]:
    """All plans of an iteration with their results so far; empty if the slow agent wrote only one plan."""
    above = f"iterations/{index}/plans"
    stored = run.stage(above, tuple[ComparedPlan, ...])
    if stored is not None:
        return stored
    numbers = [number for number in range(MOST_PLANS) if run.files.exists(f"{above}/{number}/plan.json")]
    known = {number: run.stage(f"{above}/{number}/plan", ActionPlan) for number in numbers}
    return [
        ComparedPlan(number=number, plan=plan, rounds=tuple(run.values(f"{above}/{number}/rounds", Evaluation)))
        for number, plan in known.items()
        if plan is not None
    ]


def compared(plans: Sequence[ComparedPlan]) -> list[dict[str, Any]]:
    """The number, the sub-actions and the results of each plan, and what became of it, as plain values."""
    decided = any(p.kept for p in plans)
    return [
        {
            "number": p.number,
            "names": plain([s.name for s in p.plan.sub_actions]),
            "rounds": [round_result(e) for e in p.rounds],
            "fate": attempts.fate(p) if decided else ("", ""),
        }
        for p in plans
    ]


def shown_plan(run: Run, index: int, plans: Sequence[ComparedPlan]) -> int:
    """The number of the plan that the page shows in detail, which is the plan that goes on or, before this plan is
    known, the newest plan with code.

    :param plans: all plans of the iteration; if there are none, the result is 0.
    """
    above = f"iterations/{index}/plans"
    begun = [p.number for p in plans if any(run.files.names(f"{above}/{p.number}/{kind}") for kind in KINDS)]
    kept = next((p.number for p in plans if p.kept), None)
    return max(begun, default=0) if kept is None else kept


def plan_folder(run: Run, index: int) -> str:
    """The folder with plan, actions and functions of an iteration. Each of several plans has a folder."""
    here, plans = f"iterations/{index}", plans_of(run, index)
    return f"{here}/plans/{shown_plan(run, index, plans)}" if plans else here
