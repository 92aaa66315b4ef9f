"""The car plugin of rlgpt. The simulator is imported when the first environment is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
from rlgpt.domain import Plain, RLSetup, Task
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.shipped import page, recordings
from rlgpt.plugin.types import Check, Context, Labels, Primitive, RewardTerm, StateCodec, ViewKey

from rlgpt_mujoco_car.tasks import friction, make_tasks, scenario_of, sensor_delay


class CarPlugin(EnvironmentPlugin):
    """The plugin for a 1:10 car, with tasks on winding roads, a blocked start, a parking space and a hill."""

    name = "mujoco_car"
    vectors = "plain"

    def tasks(self) -> Mapping[str, Task]:
        return make_tasks()

    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
        from rlgpt_mujoco_car.env import CarTask

        return CarTask(task, seed=seed, render_mode=render_mode)

    def primitives(self, task: Task) -> Sequence[Primitive]:
        from rlgpt_mujoco_car.primitives import PRIMITIVES

        return PRIMITIVES

    def view_keys(self, task: Task) -> Sequence[ViewKey]:
        from rlgpt_mujoco_car.views import view_keys

        return view_keys(task)

    def view(self, ctx: Context) -> dict[str, Plain]:
        from rlgpt_mujoco_car.views import view

        return view(ctx)

    def summarize(self, view: Mapping[str, Plain]) -> str:
        from rlgpt_mujoco_car.views import summarize

        return summarize(view)

    def labels(self, task: Task) -> Labels:
        return Labels(actions=("speed", "steering"))

    def reward_terms(self, task: Task) -> Sequence[RewardTerm]:
        from rlgpt_mujoco_car.rewards import reward_terms

        return reward_terms(task)

    def default_setup(self, task: Task) -> RLSetup:
        from rlgpt_mujoco_car.rewards import default_setup

        return default_setup(task)

    def states(self, task: Task) -> StateCodec:
        from rlgpt.plugin.states import OwnStates

        return OwnStates()

    def knowledge(self, task: Task) -> str:
        pages = [page("rlgpt_mujoco_car", name) for name in ("car", scenario_of(task))]
        if (share := friction(task)) < 1.0:
            pages.append(page("rlgpt_mujoco_car", "slippery").format(share=share, hold=0.9 * share))
        if delay := sensor_delay(task):
            pages.append(page("rlgpt_mujoco_car", "late").format(delay=delay))
        return "\n\n".join(pages)

    def transcripts(self, task: Task) -> Sequence[Path]:
        return recordings("rlgpt_mujoco_car", task)

    def doctor(self) -> Sequence[Check]:
        from rlgpt.plugin import mujoco_doctor

        return mujoco_doctor.checks(without="no video and no camera")
