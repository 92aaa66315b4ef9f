"""The position of an environment of a training, to which any process can bring a new environment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlgpt.errors import TrainerError
from rlgpt.plugin.states import EpisodeState
from rlgpt.rl.base_only import Masks
from rlgpt.rl.rollout import Rollout

TOLERANCE = 1e-3
"""Relative and absolute tolerance between an observation and the same observation in a repeated episode. Processors of
different types round differently.
"""


class Progress(NamedTuple):
    """The progress of the episode of an environment.

    :ivar steps: number of primitive steps of the episode so far.
    :ivar action: the flat action of the decision in progress; None if the environment waits for its next action.
    """

    steps: int = 0
    action: NDArray[np.float32] | None = None


START = Progress()
"""The start of an episode."""


@dataclass(frozen=True, eq=False)
class Position:
    """A moment in the episodes of an environment.

    :ivar begun: number of episodes that have begun in the environment.
    :ivar actions: flat actions of the decisions of the episode in progress that are over, ``[decisions, action_size]``.
    :ivar progress: the progress of the episode.
    :ivar masks: the masks of the episode in progress; None if they are those of the recipe.
    :ivar reached: the start states that the environment had reached before the episode in progress began.
    :ivar obs: the entry ``obs`` of the newest observation, ``(D,)``; None if no episode has begun.
    """

    begun: int
    actions: NDArray[np.float32]
    progress: Progress = START
    masks: Masks | None = None
    reached: tuple[EpisodeState, ...] = ()
    obs: NDArray[np.float32] | None = None

    @property
    def moment(self) -> tuple[int, int, int]:
        """The number of episodes that have begun, and the numbers of decisions and primitive steps of the last one."""
        return self.begun, len(self.actions), self.progress.steps

    def actions_to_repeat(self) -> Iterator[NDArray[np.float32]]:
        """The flat actions of the episode in progress, with that of the decision in progress."""
        yield from self.actions
        if self.progress.action is not None:
            yield self.progress.action

    def after(
        self,
        rollout: Rollout,
        slot: int,
        progress: Progress,
        masks: Masks | None,
        reached: tuple[EpisodeState, ...],
    ) -> Position:
        """The position after the decisions of the environment ``slot`` in ``rollout``.

        :param progress: the progress of the episode after the rollout.
        :param masks: the masks of the episodes that began in the rollout.
        :param reached: the new value of :attr:`reached`.
        """
        chosen, ends = rollout.actions_of(slot).numpy(), rollout.ends[slot]
        began = max(1 - self.begun, 0) + len(ends)
        chosen = chosen[ends[-1].at + 1 :] if ends else np.concatenate([self.actions, chosen])
        masked = masks if began else self.masks
        obs = rollout.observations["obs"][-1, slot].numpy().copy()
        return Position(self.begun + began, chosen, progress, masked, reached, obs)

    def check(self, obs: NDArray[np.float32] | None) -> None:
        """Check that a repeated episode has led to this position.

        :param obs: the entry ``obs`` of the newest observation of the repeated episode; None if it is already known
            that the repeated episode differs.
        :raises TrainerError: the repeated episode differs.
        """
        if obs is None or self.obs is None or not np.allclose(obs, self.obs, rtol=TOLERANCE, atol=TOLERANCE):
            raise TrainerError(
                "an environment was lost with its process, and the same actions do not lead to the same state in a new "
                "environment. Resume the run: the training continues from its last checkpoint with new episodes. To "
                "train in the process of the run, set executor=in_process."
            )
