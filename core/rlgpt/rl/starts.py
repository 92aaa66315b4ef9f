"""Start states of training episodes: the plugin's own start states, or states in which a coded action returned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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


class Reached(Value):
    """States in which coded actions returned.

    :ivar steps: number of primitive steps that were taken to reach the states.
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
        """The start of the episode with the seed ``seed``; None if the episode begins at the task's own start."""
        rng = np.random.default_rng([seed, 0x57A27])
        return self.starts[int(rng.integers(len(self.starts)))] if rng.random() < self.share else None


@dataclass(frozen=True)
class SavedStarts:
    """The start states of some episodes: seed of the episode -> state. All other episodes begin at the task's own
    start.
    """

    states: Mapping[int, EpisodeState]

    def draw(self, seed: int) -> EpisodeState | None:
        return self.states.get(seed)


def late_starts(
    plugin: EnvironmentPlugin, task: Task, setup: RLSetup, states: Sequence[EpisodeState]
) -> LateStarts | None:
    """The start states for the setup's ``reset_option``; None if every episode begins at the task's own start.

    :param states: the start states for ``after:ACTION``; empty if the action never returned.
    :raises UnknownNameError: the plugin has no reset option with the name in the setup.
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
