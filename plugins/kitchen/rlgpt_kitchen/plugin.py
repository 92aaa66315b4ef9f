"""The kitchen plugin of rlgpt. The simulator is imported when the first environment is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
from rlgpt.domain import Plain, RLSetup, Task
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.shipped import page, recordings
from rlgpt.plugin.types import Check, Context, EnvLimits, Labels, Primitive, RewardTerm, StateCodec, ViewKey

from rlgpt_kitchen.tasks import elements_of, make_tasks, noise_of

ACTION_LABELS = (*(f"joint{i}" for i in range(1, 8)), "finger_right", "finger_left")


class KitchenPlugin(EnvironmentPlugin):
    """The plugin for FrankaKitchen-v1. The kitchen plugin has seven tasks with one element, two tasks with a sequence
    of four elements, one task with a sequence of all seven elements, and a noisy variant of each task.
    """

    name = "kitchen"

    def tasks(self) -> Mapping[str, Task]:
        return make_tasks()

    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
        from rlgpt_kitchen.env import KitchenTask

        return KitchenTask(task, seed=seed, render_mode=render_mode)

    def model(self, env: gymnasium.Env[Any, Any]) -> Any:
        from rlgpt_kitchen.model import KitchenModel

        return KitchenModel(env.unwrapped.base)  # type: ignore[attr-defined]

    def primitives(self, task: Task) -> Sequence[Primitive]:
        from rlgpt_kitchen.primitives import PRIMITIVES

        return PRIMITIVES

    def view_keys(self, task: Task) -> Sequence[ViewKey]:
        from rlgpt_kitchen.views import view_keys

        return view_keys(task)

    def view(self, ctx: Context) -> dict[str, Plain]:
        from rlgpt_kitchen.views import view

        return view(ctx)

    def summarize(self, view: Mapping[str, Plain]) -> str:
        from rlgpt_kitchen.views import summarize

        return summarize(view)

    def labels(self, task: Task) -> Labels:
        return Labels(actions=ACTION_LABELS)

    def reward_terms(self, task: Task) -> Sequence[RewardTerm]:
        from rlgpt_kitchen.rewards import reward_terms

        return reward_terms(task)

    def default_setup(self, task: Task) -> RLSetup:
        from rlgpt_kitchen.rewards import default_setup

        return default_setup(task)

    def states(self, task: Task) -> StateCodec:
        from rlgpt.plugin.states import OwnStates

        return OwnStates()

    def knowledge(self, task: Task) -> str:
        pages = [page("rlgpt_kitchen", name) for name in ("kitchen", *elements_of(task))]
        return "\n".join([*pages, page("rlgpt_kitchen", "noise").format(**noise_of(task))])

    def transcripts(self, task: Task) -> Sequence[Path]:
        return recordings("rlgpt_kitchen", task)

    def limits(self, task: Task) -> EnvLimits:
        return EnvLimits(max_envs=64)

    def doctor(self) -> Sequence[Check]:
        from rlgpt_kitchen.doctor import checks

        return checks()
