"""The Craftax plugin of rlgpt. JAX and the simulator are imported when the first environment is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlgpt.domain import Plain, RLSetup, Task
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.shipped import page, recordings
from rlgpt.plugin.types import Check, Context, EnvLimits, Labels, Primitive, RewardTerm, StateCodec, ViewKey

from rlgpt_craftax.names import ACTIONS
from rlgpt_craftax.tasks import make_tasks

if TYPE_CHECKING:
    import gymnasium


class CraftaxPlugin(EnvironmentPlugin):
    """The benchmark Craftax-Symbolic-v1."""

    name = "craftax"
    vectors = "none"

    def tasks(self) -> Mapping[str, Task]:
        return make_tasks()

    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
        from rlgpt_craftax.env import CraftaxEnv

        return CraftaxEnv(task, seed=seed, render_mode=render_mode)

    def make_vector(self, task: Task, *, count: int, seed: int) -> gymnasium.vector.VectorEnv[Any, Any, Any]:
        from rlgpt_craftax.vector import CraftaxVector

        return CraftaxVector(task, count=count, seed=seed)

    def model(self, env: gymnasium.Env[Any, Any]) -> None:
        """Return None, because primitives, views and reward terms read only observations."""

    def lane_model(self, venv: gymnasium.vector.VectorEnv[Any, Any, Any], lane: int) -> None:
        """Return None, as :meth:`model` does, because primitives, views and reward terms read only observations."""

    def primitives(self, task: Task) -> Sequence[Primitive]:
        from rlgpt_craftax.primitives import PRIMITIVES

        return PRIMITIVES

    def view_keys(self, task: Task) -> Sequence[ViewKey]:
        from rlgpt_craftax.views import VIEW_KEYS

        return VIEW_KEYS

    def view(self, ctx: Context) -> dict[str, Plain]:
        return dict(self.views([ctx])[0])

    def views(self, contexts: Sequence[Context]) -> Sequence[Mapping[str, Plain]]:
        from rlgpt_craftax.views import views

        return views(contexts)

    def policy_view(self, ctx: Context) -> Mapping[str, Any]:
        return self.policy_views([ctx])[0]

    def policy_views(self, contexts: Sequence[Context]) -> Sequence[Mapping[str, Any]]:
        from rlgpt_craftax.views import policy_views

        return policy_views(contexts)

    def summarize(self, view: Mapping[str, Plain]) -> str:
        from rlgpt_craftax.views import summarize

        return summarize(view)

    def labels(self, task: Task) -> Labels:
        return Labels(actions=ACTIONS)

    def reward_terms(self, task: Task) -> Sequence[RewardTerm]:
        from rlgpt_craftax.rewards import REWARD_TERMS

        return REWARD_TERMS

    def default_setup(self, task: Task) -> RLSetup:
        from rlgpt_craftax.rewards import default_setup

        return default_setup()

    def states(self, task: Task) -> StateCodec:
        from rlgpt.plugin.states import OwnStates

        return OwnStates()

    def knowledge(self, task: Task) -> str:
        return page("rlgpt_craftax", "craftax")

    def transcripts(self, task: Task) -> Sequence[Path]:
        return recordings("rlgpt_craftax", task)

    def limits(self, task: Task) -> EnvLimits:
        return EnvLimits(max_envs=256, option_steps=2_000)

    def doctor(self) -> Sequence[Check]:
        from rlgpt_craftax.doctor import checks

        return checks()
