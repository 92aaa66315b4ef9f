"""The Minecraft plugin of rlgpt. The plugin imports a simulator only when it makes an environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlgpt.domain import Plain, RLSetup, Task
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.shipped import recordings
from rlgpt.plugin.types import Check, Context, EnvLimits, Labels, Primitive, RewardTerm, StateCodec, ViewKey

from rlgpt_minecraft.tasks import NAME, make_suite, make_tasks

if TYPE_CHECKING:
    import gymnasium


class MinecraftPlugin(EnvironmentPlugin):
    """Offers MineDojo's harvest tasks and the tasks of the paper, in the embedded world or in MineDojo itself."""

    name = NAME
    vectors = "plain"

    def tasks(self) -> Mapping[str, Task]:
        return make_tasks()

    def unlisted_tasks(self) -> Mapping[str, Task]:
        """Return MineDojo's programmatic tasks for which the embedded world has everything."""
        return make_suite()

    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
        from rlgpt_minecraft.task_env import MinecraftTask

        return MinecraftTask(task, seed=seed, render_mode=render_mode)

    def make_vector(self, task: Task, *, count: int, seed: int) -> gymnasium.vector.VectorEnv[Any, Any, Any] | None:
        """Make a vector of the embedded world, or return None if the task shows a picture or runs in MineDojo."""
        from rlgpt_minecraft.settings import Settings

        settings = Settings.of(task)
        if settings.backend != "embedded" or settings.image_size is not None:
            return None
        from rlgpt_minecraft.vector import MinecraftVector

        return MinecraftVector(task, count=count, seed=seed)

    def model(self, env: gymnasium.Env[Any, Any]) -> Any:
        """Return the observation reader. The reader has no access to the world."""
        return env.unwrapped.reader  # type: ignore[attr-defined]

    def lane_model(self, venv: gymnasium.vector.VectorEnv[Any, Any, Any], lane: int) -> Any:
        """Return a reader of the observations of one environment of a vector."""
        from rlgpt_minecraft.vector import MinecraftVector

        if not isinstance(venv, MinecraftVector):
            return super().lane_model(venv, lane)
        return venv.readers[lane]

    def low_level_space(self, env: gymnasium.Env[Any, Any]) -> gymnasium.Space[Any]:
        """Return MineDojo's action space: primitives yield its eight numbers."""
        from rlgpt_minecraft.moves import SPACE

        return SPACE

    def primitives(self, task: Task) -> Sequence[Primitive]:
        from rlgpt_minecraft.primitives import primitives_of

        return primitives_of(task)

    def view_keys(self, task: Task) -> Sequence[ViewKey]:
        from rlgpt_minecraft.views import view_keys

        return view_keys(task)

    def view(self, ctx: Context) -> dict[str, Plain]:
        from rlgpt_minecraft.views import view

        return view(ctx)

    def views(self, contexts: Sequence[Context]) -> Sequence[Mapping[str, Plain]]:
        from rlgpt_minecraft.views import views

        return views(contexts)

    def policy_view(self, ctx: Context) -> Mapping[str, Any]:
        from rlgpt_minecraft.views import policy_view

        return policy_view(ctx)

    def policy_views(self, contexts: Sequence[Context]) -> Sequence[Mapping[str, Any]]:
        from rlgpt_minecraft.views import policy_views

        return policy_views(contexts)

    def summarize(self, view: Mapping[str, Plain]) -> str:
        from rlgpt_minecraft.summary import summarize

        return summarize(view)

    def labels(self, task: Task) -> Labels:
        from rlgpt_minecraft.actions import HEADS

        return Labels(actions=HEADS)

    def reward_terms(self, task: Task) -> Sequence[RewardTerm]:
        from rlgpt_minecraft.rewards import reward_terms

        return reward_terms(task)

    def default_setup(self, task: Task) -> RLSetup:
        from rlgpt_minecraft.rewards import default_setup

        return default_setup(task)

    def states(self, task: Task) -> StateCodec | None:
        """Return the codec of the embedded world. MineDojo's game cannot be saved."""
        from rlgpt.plugin.states import OwnStates

        from rlgpt_minecraft.settings import Settings

        return OwnStates() if Settings.of(task).backend == "embedded" else None

    def knowledge(self, task: Task) -> str:
        from rlgpt_minecraft.knowledge_pages import knowledge

        return knowledge(task)

    def transcripts(self, task: Task) -> Sequence[Path]:
        from rlgpt_minecraft.settings import is_blind

        found = recordings("rlgpt_minecraft", task)
        # The prompts of the two tiers differ, so a recording of one tier cannot be replayed in the other one.
        return [path for path in found if (",tier=paper" in path.parent.name) == is_blind(task)]

    def limits(self, task: Task) -> EnvLimits:
        """Return the limits of a task's environments. A task can have 64 environments with the embedded world, 8 with a
        running Malmo server, and 2 with the game itself, which needs gigabytes of memory for each environment.

        :raises ConfigError: a setting of the task has no valid value, or no Malmo server listens on the task's port. A
            run checks this before it begins.
        :raises UnknownNameError: the biome does not exist.
        """
        from rlgpt_minecraft.settings import Settings

        settings = Settings.of(task)
        if settings.backend == "embedded":
            settings.check_ground()
            return EnvLimits(max_envs=64)
        if settings.port == 0:
            return EnvLimits(max_envs=2)
        from rlgpt_minecraft.backend import MAX_SERVED_ENVS, check_server

        check_server(settings.port)
        return EnvLimits(max_envs=MAX_SERVED_ENVS)

    def doctor(self) -> Sequence[Check]:
        from rlgpt_minecraft.doctor import checks

        return checks()
