"""The entries of an observation in Sample Factory's buffers."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from rlgpt.errors import TrainerError
from rlgpt.options import ActionLayout
from rlgpt.rl.policy_lane import Observation
from rlgpt.rl.sample_factory.episode_tag import EPISODE_TAG, SPACE

LAST = "last_"
"""Prefix of the names of those observation entries that contain the last observation of a truncated episode. The
entries without the prefix contain the first observation of the next episode.
"""


def policy_entries(space: spaces.Dict) -> tuple[str, ...]:
    """The entries of an observation that are inputs of the networks' layers: the observation vector and the images,
    without empty entries. (Sample Factory's buffers cannot contain empty entries.)
    """
    read = (key for key in space.spaces if key == "obs" or key.startswith("image_"))
    return tuple(key for key in read if 0 not in (space[key].shape or ()))


def image_shapes(space: spaces.Dict) -> dict[str, tuple[int, ...]]:
    """The shape of each image among the entries of an observation that the networks read, by the name of the entry."""
    return {key: space[key].shape or () for key in policy_entries(space) if key != "obs"}


class BufferEntries:
    """The entries of an observation that Sample Factory's buffers contain.

    Sample Factory drops the last observation of an episode, and its buffers have no entry for a decision's duration.
    Each observation in the buffers, even the first observation of an episode, therefore has additional entries about
    the last decision. The entry ``duration`` is the number of primitive steps of the last decision. For each entry that
    the networks read, ``last_ENTRY`` is the last observation of the episode if a time limit truncated it, else zeros.
    With self-imitation, a further entry of the observation is the result of the episode
    (:mod:`rlgpt.rl.sample_factory.episode_tag`).

    If the action space has no selector, an observation has no entry for the mask, because each entry costs time at
    every step.

    :param inner: the space of a policy's observations.
    :param tagged: whether observations have episode tags.
    :ivar space: the space of the observations in the buffers.
    """

    def __init__(self, inner: spaces.Space[Any], layout: ActionLayout, *, tagged: bool) -> None:
        assert isinstance(inner, spaces.Dict)
        self._read = policy_entries(inner)
        self._shown = [key for key, entry in inner.spaces.items() if 0 not in (entry.shape or ())]
        if not layout.choices:
            self._shown.remove("action_mask")
        self._blank: dict[str, NDArray[Any]] = {
            LAST + key: np.zeros(inner[key].shape or (), inner[key].dtype or np.float32) for key in self._read
        }
        tag = {EPISODE_TAG: SPACE} if tagged else {}
        lasts = {LAST + key: inner[key] for key in self._read}
        self.space = spaces.Dict({**{key: inner[key] for key in self._shown}, **tag, **lasts})

    def of(
        self,
        observation: Observation,
        duration: int = 0,
        *,
        truncated: Observation | None = None,
        tag: NDArray[np.float64] | None = None,
    ) -> Observation:
        """The entries of a policy's observation.

        :param duration: number of primitive steps of the decision before the observation; 0 at the first observation.
        :param truncated: the last observation of the episode that a time limit has truncated before ``observation``.
        :raises TrainerError: an observation contains NaN or an infinity.
        """
        entries = {key: observation[key] for key in self._shown}
        entries["duration"] = np.array([duration], np.float32)
        lasts = self._blank if truncated is None else {LAST + key: truncated[key] for key in self._read}
        for seen in (observation,) if truncated is None else (observation, truncated):
            if not np.isfinite(seen["obs"]).all():
                raise TrainerError(
                    "an observation of the environment contains NaN or infinity; correct its observation or view."
                )
        if tag is not None:
            entries[EPISODE_TAG] = tag
        return {**entries, **lasts}
