"""The furniture plugin of rlgpt. The simulator is imported when the first environment is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
from rlgpt.domain import Plain, RLSetup, Task
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.shipped import recordings
from rlgpt.plugin.types import Check, Context, Labels, Primitive, RewardTerm, StateCodec, ViewKey

from rlgpt_furniture.tasks import make_tasks


class FurniturePlugin(EnvironmentPlugin):
    """The plugin for a Panda arm that assembles furniture. The furniture is one leg of a table, a square table, a desk
    or a lamp.
    """

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
        """The low-level action space contains motions of the hand and joint velocities. Primitives always use joint
        velocities; a policy uses either motions of the hand or joint velocities.
        """
        return gymnasium.spaces.OneOf((env.action_space, env.action_space))

    def view_keys(self, task: Task) -> Sequence[ViewKey]:
        from rlgpt_furniture.views import view_keys

        return view_keys(task)

    def view(self, ctx: Context) -> dict[str, Plain]:
        from rlgpt_furniture.views import view

        return view(ctx)

    def summarize(self, view: Mapping[str, Plain]) -> str:
        from rlgpt_furniture.views import summarize

        return summarize(view)

    def reward_terms(self, task: Task) -> Sequence[RewardTerm]:
        from rlgpt_furniture.rewards import reward_terms

        return reward_terms(task)

    def default_setup(self, task: Task) -> RLSetup:
        from rlgpt_furniture.rewards import default_setup

        return default_setup(task)

    def trainer_defaults(self, task: Task) -> Mapping[str, Any]:
        return {"hidden": (128, 128)}

    def transcripts(self, task: Task) -> Sequence[Path]:
        return recordings("rlgpt_furniture", task)

    def labels(self, task: Task) -> Labels:
        from rlgpt_furniture.settings import read_settings

        if read_settings(task).by_joints:
            return Labels(actions=(*(f"joint_{i}" for i in range(1, 8)), "grip"))
        return Labels(actions=("dx", "dy", "dz", "turn_x", "turn_y", "turn_z", "turn_w", "grip"))

    def states(self, task: Task) -> StateCodec:
        from rlgpt.plugin.states import OwnStates

        return OwnStates()

    def knowledge(self, task: Task) -> str:
        from rlgpt_furniture.knowledge import knowledge

        return knowledge(task)

    def doctor(self) -> Sequence[Check]:
        from rlgpt.plugin import mujoco_doctor

        return mujoco_doctor.checks(without="no video and no cameras")
