"""Calls primitives by name. The tests of a plugin use the class Player to play tasks from scripts."""

from __future__ import annotations

from typing import Any

from rlgpt.domain import Plain, Task
from rlgpt.errors import UnknownNameError
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.types import Context
from rlgpt.testing.stage import Stage


class Player(Stage):
    """Calls primitives by name. The call ``player("move_to", x=0.1)`` returns the outcome of the primitive ``move_to``,
    or ``{}`` if the episode has ended or the primitive does not end within its ``max_steps``. (In the sandbox, the
    outcome of such a primitive is ``{"ended": "primitive limit"}``.)

    Missing arguments have their defaults. Unlike the arguments in a coded action, the arguments of Player are not
    clipped to their ranges.
    """

    def __init__(self, plugin: EnvironmentPlugin, task: Task, *, seed: int = 0) -> None:
        super().__init__(plugin, task, seed=seed)
        self._primitives = {p.name: p for p in plugin.primitives(task)}

    def __call__(self, name: str, **args: Plain) -> dict[str, Plain]:
        if self.over:
            return {}
        if name not in self._primitives:
            raise UnknownNameError("primitive", name, self._primitives)
        primitive = self._primitives[name]
        defaults: dict[str, Plain] = {p.name: p.default for p in primitive.parameters}
        for argument in args:
            if argument not in defaults:
                raise UnknownNameError(f"argument of {name}", argument, defaults)
        return dict(self.call(primitive, {**defaults, **args}).outcome or {})

    @property
    def ctx(self) -> Context:
        return self.context

    def see(self) -> dict[str, Any]:
        """The current view."""
        return self.plugin.view(self.context)

    @property
    def success(self) -> bool:
        return bool(self.context.info["success"])
