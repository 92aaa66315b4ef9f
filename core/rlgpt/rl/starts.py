"""Start states of training episodes: the plugin's own start states, or states in which a coded action returned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from rlgpt.domain import CodedAction, RLSetup, Task, Value
from rlgpt.errors import UnknownNameError
from rlgpt.options import OnStep
from rlgpt.plugin.states import EpisodeState

if TYPE_CHECKING:
    from rlgpt.plugin.base import EnvironmentPlugin
    from rlgpt.rl.base import EnvSpec

MAX_STARTS_BYTES = 32 << 20
"""Maximal size of all start states of a training, in bytes. Every process of the training gets a copy of them."""


class Reached(Value):
    """States in which coded actions returned.

    :ivar steps: number of primitive steps that were needed to reach them.
    """

    steps: int = Field(default=0, ge=0)
    states: tuple[EpisodeState, ...] = ()


@dataclass(frozen=True)
class LateStarts:
    """The start states of some training episodes.

    :ivar starts: saved states, or values for the ``options`` argument of a reset; at least one.
    :ivar share: share of the episodes that begin in these states, in (0, 1].
    """

    starts: Sequence[EpisodeState | Mapping[str, Any]]
    share: float

    def draw(self, seed: int) -> EpisodeState | Mapping[str, Any] | None:
        """The start of the episode with this seed; None: the task's own start."""
        rng = np.random.default_rng([seed, 0x57A27])
        return self.starts[int(rng.integers(len(self.starts)))] if rng.random() < self.share else None


@dataclass(frozen=True)
class SavedStarts:
    """The start states of certain episodes, by their seeds. All other episodes begin at the task's own start."""

    states: Mapping[int, EpisodeState]

    def draw(self, seed: int) -> EpisodeState | None:
        return self.states.get(seed)


def late_starts(
    plugin: EnvironmentPlugin, task: Task, setup: RLSetup, states: Sequence[EpisodeState]
) -> LateStarts | None:
    """The start states that the setup's ``reset_option`` names. None: every episode begins at the task's own start.

    :param states: start states for ``after:ACTION``; empty if the action never returned.
    :raises UnknownNameError: the plugin has no such reset option.
    """
    name = setup.reset_option
    if name is None:
        return None
    if setup.start_after is not None:
        return LateStarts(states, setup.reset_share) if states else None
    options = {o.name: o for o in plugin.reset_options(task)}
    if name not in options:
        raise UnknownNameError(
            "reset option", name, options, "None: the task's own reset. after:ACTION: the states after a coded action."
        )
    return LateStarts((dict(options[name].options),), setup.reset_share)


def reach(
    spec: EnvSpec,
    actions: Sequence[CodedAction],
    *,
    seeds: Sequence[int],
    most_steps: int,
    on_step: OnStep | None = None,
) -> Reached:
    """Play each of ``actions`` once, in order, with default parameters, and save the state in which the last one
    returned.

    An episode gives no state if it ends or succeeds earlier, or if its last action does not return.

    :param seeds: seeds of the episodes. Each episode gives at most one state.
    :param most_steps: primitive steps after which no further episode begins.
    :returns: the states. No further episode begins once their total size is :data:`MAX_STARTS_BYTES`.
    :raises StateError: the plugin cannot save this task.
    """
    from rlgpt.rl.evaluation import code_spec
    from rlgpt.rl.policy_env import build

    names = tuple(action.name for action in actions)
    env = build(code_spec(spec, actions), seed=0, evaluation=True, on_step=on_step)
    states: list[EpisodeState] = []
    steps = size = 0
    try:
        for seed in seeds:
            env.reset(seed=seed)
            success = False
            for name in names:
                _, _, terminated, truncated, info = env.step(env.form.coded(name))
                success = success or bool(info.get("success", False))
                if terminated or truncated or success:
                    break
            steps += int(info["primitive_steps"])
            if not (terminated or truncated or success) and info["ended"] == "returned":
                states.append(env.extended.save_episode())
                size += len(states[-1].data) + len(states[-1].seen)
            if steps >= most_steps or size >= MAX_STARTS_BYTES:
                break
    finally:
        env.close()
    return Reached(steps=steps, states=tuple(states))
