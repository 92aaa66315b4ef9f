"""The planner of short tasks: the task itself is the only sub-task."""

from __future__ import annotations

from collections.abc import Sequence

from rlgpt.agents.base import Planner
from rlgpt.domain import Task


class OneSubtask(Planner):
    """Splits nothing."""

    def split(self, task: Task) -> Sequence[Task]:
        return (task,)
