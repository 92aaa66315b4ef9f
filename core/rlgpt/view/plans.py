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


def plan_folder(run: Run, index: int, plans: Sequence[ComparedPlan]) -> str:
    """The folder with plan, actions and functions of an iteration. If there are several plans, it is the folder of the
    plan that goes on or, before this plan is known, of the newest plan with code.
    """
    here = f"iterations/{index}"
    if not plans:
        return here
    begun = [
        p.number
        for p in plans
        if any(run.files.names(f"{here}/plans/{p.number}/{kind}") for kind in ("actions", "functions"))
    ]
    best = next((p.number for p in plans if p.kept), max(begun, default=plans[0].number))
    return f"{here}/plans/{best}"
