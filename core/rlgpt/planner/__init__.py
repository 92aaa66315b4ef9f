"""The planner: a long task as a graph of sub-goals. Each sub-goal goes through both loops; an executor plays the graph.

The names of this package are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlgpt.lazy import lazy_exports

__all__ = ["GraphPlayer", "PlannedContext", "PlannerSettings", "run"]

if TYPE_CHECKING:
    from rlgpt.planner.context import PlannedContext, PlannerSettings
    from rlgpt.planner.player import GraphPlayer
    from rlgpt.planner.run import run
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "rlgpt.planner.context": ("PlannedContext", "PlannerSettings"),
            "rlgpt.planner.player": ("GraphPlayer",),
            "rlgpt.planner.run": ("run",),
        },
    )
