"""Start states of training episodes, which are the plugin's own start states, or states in which a coded action
returned.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from rlgpt.domain import RLSetup, Task, Value
from rlgpt.errors import UnknownNameError
from rlgpt.plugin.states import EpisodeState

if TYPE_CHECKING:
    from rlgpt.plugin.base import EnvironmentPlugin

MAX_STARTS_BYTES = 32 << 20
"""Maximal size of all start states of a training together, in bytes. Every process of the training gets a copy of the
states.
"""


MAX_REACHED = 16
"""Maximal number of start states that each environment of a training adds to those before the training."""

MAX_REACHED_BYTES = 1 << 20
"""Maximal size of a state that an environment adds, in bytes."""


class Reached(Value):
    """States in which coded actions returned.

    :ivar steps: number of primitive steps that were taken to reach the states.
    """

    steps: int = Field(default=0, ge=0)
    states: tuple[EpisodeState, ...] = ()


@dataclass(frozen=True)
class LateStarts:
    """The start states of some training episodes.

    :ivar starts: saved states, or values for the ``options`` argument of a reset.
    :ivar share: share of the training episodes that begin in the states ``starts``, in (0, 1].
    :ivar after: the coded action after which the states ``starts`` were saved; None for the plugin's own start states.
    :ivar reached: the newest states after the coded action ``after`` that the training itself reached, at most
        :data:`MAX_REACHED`. A resumed training begins without reached states.
    """

    starts: Sequence[EpisodeState | Mapping[str, Any]]
    share: float
    after: str | None = None
    reached: deque[EpisodeState] = field(default_factory=lambda: deque(maxlen=MAX_REACHED))

    def draw(self, seed: int) -> EpisodeState | Mapping[str, Any] | None:
        """The start of the episode with the seed ``seed``; None if the episode begins at the task's own start."""
        rng, pool = np.random.default_rng([seed, 0x57A27]), (*self.starts, *self.reached)
        return pool[int(rng.integers(len(pool)))] if rng.random() < self.share and pool else None

    def begins_after(self, info: Mapping[str, Any]) -> bool:
        """Whether the state after a decision with the info dict ``info`` is a start state, because the coded action
        ``after`` has returned.
        """
        return self.after is not None and info["action"] == self.after and info["ended"] == "returned"

    def add(self, state: EpisodeState) -> None:
        """Add a state that the training reached to the start states, unless the state is large."""
        if len(state.data) + len(state.seen) <= MAX_REACHED_BYTES:
            self.reached.append(state)


@dataclass(frozen=True)
class SavedStarts:
    """The start states of some episodes, as a mapping from the seed of an episode to its start state. All episodes
    whose seed is not in the mapping begin at the task's own start.
    """

    states: Mapping[int, EpisodeState]

    def draw(self, seed: int) -> EpisodeState | None:
        return self.states.get(seed)


def late_starts(
    plugin: EnvironmentPlugin, task: Task, setup: RLSetup, states: Sequence[EpisodeState]
) -> LateStarts | None:
    """Make the start states for the setup's ``reset_option``; None if every episode begins at the task's own start.

    :param states: the start states for ``after:ACTION``; empty if the coded action never returned. The training adds
        start states that it reaches itself.
    :raises UnknownNameError: the plugin has no reset option with the name in the setup.
    """
    name = setup.reset_option
    if name is None:
        return None
    if setup.start_after is not None:
        return LateStarts(states, setup.reset_share, setup.start_after)
    options = {o.name: o for o in plugin.reset_options(task)}
    if name not in options:
        raise UnknownNameError(
            "reset option", name, options, "None: the task's own reset. after:ACTION: the states after a coded action."
        )
    return LateStarts((dict(options[name].options),), setup.reset_share)
