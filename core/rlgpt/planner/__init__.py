"""The planner divides a long task into a graph of sub-goals. The outer and the inner loop of RL-GPT work on each
sub-goal as on a separate task. An executor (:class:`GraphPlayer`) then plays the whole graph.

Each public name of this package is imported only when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlgpt.lazy import lazy_exports

__all__ = ["GraphPlayer", "GraphPolicy", "PlannedContext", "PlannerContext", "PlannerSettings", "run"]

if TYPE_CHECKING:
    from rlgpt.planner.build import PlannerContext
    from rlgpt.planner.context import PlannedContext, PlannerSettings
    from rlgpt.planner.player import GraphPlayer
    from rlgpt.planner.policy import GraphPolicy
    from rlgpt.planner.run import run
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "rlgpt.planner.build": ("PlannerContext",),
            "rlgpt.planner.context": ("PlannedContext", "PlannerSettings"),
            "rlgpt.planner.player": ("GraphPlayer",),
            "rlgpt.planner.policy": ("GraphPolicy",),
            "rlgpt.planner.run": ("run",),
        },
    )
