"""Furniture assembly as a plugin of rlgpt. Imports no simulator before one is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import gymnasium
from rlgpt.domain import Task
from rlgpt.plugin.base import Check, EnvironmentPlugin, Labels, Primitive

from rlgpt_furniture.tasks import make_tasks


class FurniturePlugin(EnvironmentPlugin):
    """A Panda arm that puts furniture together: one leg, a square table, a desk, a lamp."""

    name = "furniture"

    def tasks(self) -> Mapping[str, Task]:
        return make_tasks()

    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
        from rlgpt_furniture.env import FurnitureTask

        return FurnitureTask(task, seed=seed, render_mode=render_mode)

    def primitives(self, task: Task) -> Sequence[Primitive]:
        from rlgpt_furniture.primitives import primitives

        return primitives(task)

    def low_level_space(self, env: gymnasium.Env[Any, Any]) -> gymnasium.Space[Any]:
        """By the hand or by joint velocities: primitives go by joints, whatever policies do."""
        return gymnasium.spaces.OneOf((env.action_space, env.action_space))

    def labels(self, task: Task) -> Labels:
        if task.settings["control"] == "joints":
            return Labels(actions=(*(f"joint_{i}" for i in range(1, 8)), "grip"))
        return Labels(actions=("dx", "dy", "dz", "turn_x", "turn_y", "turn_z", "turn_w", "grip"))

    def knowledge(self, task: Task) -> str:
        folder = resources.files("rlgpt_furniture") / "knowledge"
        kind = str(task.settings["furniture"])
        names = ("arm", "lamp" if kind == "lamp" else "legs")
        return "\n".join((folder / f"{name}.md").read_text(encoding="utf-8").strip() for name in names)

    def doctor(self) -> Sequence[Check]:
        from rlgpt_furniture.doctor import checks

        return checks()
