"""Passes the results of episodes from the environments to the learner, which receives rollouts in any order. An
*episode tag* is an observation entry with the result of an episode.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray

from rlgpt.errors import TrainerError
from rlgpt.rl.imitation import End, SelfImitation
from rlgpt.rl.network import Batch

EPISODE_TAG = "course"
"""Name of the observation entry with the episode tag. A tag contains the index of the environment and the number of its
decisions. If an episode has just ended, the tag also contains the success and the return of this episode. Tags exist
only with self-imitation.
"""

SPACE = spaces.Box(-np.inf, np.inf, (4,), np.float64)

_MOST_WAITING = 64

_Piece = tuple[Batch, torch.Tensor, tuple[End, ...]]


class EpisodeTag:
    """Makes the episode tag of each observation, in the environment's process."""

    def __init__(self, slot: int) -> None:
        self._slot, self._decisions = slot, 0

    def begin(self) -> NDArray[np.float64]:
        return self._say(None)

    def after(self, episode: dict[str, Any] | None) -> NDArray[np.float64]:
        """The tag after a decision.

        :param episode: the environment's info about the episode if the decision ended the episode, else None.
        """
        self._decisions += 1
        return self._say(episode)

    def _say(self, episode: dict[str, Any] | None) -> NDArray[np.float64]:
        success, reward = (episode["success"], episode["total_reward"]) if episode else (False, 0.0)
        return np.array([self._slot, self._decisions, success, reward], np.float64)


class TrajectoryReorderer:
    """Passes the rollouts of each environment to self-imitation in the order in which the rollouts were played. The
    ``TrajectoryReorderer`` is in the learner's process.

    A later batch of rollouts may arrive before an earlier batch. A batch that arrives too early is stored until the
    earlier batches have arrived.
    """

    def __init__(self, imitation: SelfImitation) -> None:
        self._imitation = imitation
        self._due: defaultdict[int, int] = defaultdict(int)
        self._waiting: defaultdict[int, dict[int, _Piece]] = defaultdict(dict)

    def see(self, observations: Batch, actions: torch.Tensor, dones: torch.Tensor, lengths: torch.Tensor) -> None:
        """Get a batch of rollouts.

        :param observations: the network's inputs, the mask and the episode tag, as entries ``[rollouts, T + 1, ...]``.
        :param actions: flat actions, ``[rollouts, T, action_size]``.
        :param dones: whether an episode ended with the decision, ``[rollouts, T]``.
        :param lengths: number of decisions in each rollout, ``[rollouts]``. The decisions are in the first rows.
        :raises TrainerError: rollouts are missing.
        """
        tags = observations[EPISODE_TAG].cpu()
        for row, (tag, length) in enumerate(zip(tags.tolist(), lengths.tolist(), strict=True)):
            if not length:
                continue
            slot, first = int(tag[1][0]), int(tag[1][1]) - 1
            ended = dones[row, :length].nonzero().flatten().tolist()
            ends = tuple(End(t, bool(tag[t + 1][2]), tag[t + 1][3]) for t in ended)
            entries = {k: v[row, :length].to("cpu", copy=True) for k, v in observations.items() if k != EPISODE_TAG}
            self._waiting[slot][first] = entries, actions[row, :length].to("cpu", copy=True), ends
            self._show(slot)

    def _show(self, slot: int) -> None:
        waiting = self._waiting[slot]
        while (piece := waiting.pop(self._due[slot], None)) is not None:
            self._due[slot] += len(piece[1])
            self._imitation.see(slot, *piece)
        if len(waiting) > _MOST_WAITING:
            raise TrainerError(
                f"rollouts of environment {slot} from decision {self._due[slot]} on never reached the learner, so "
                "its episodes cannot be assembled for self-imitation; set imitation_coef=0."
            )
