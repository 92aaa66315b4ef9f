"""Linear policies, in which each part of the action is a linear function of the observation."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from rlgpt.rl import Policy

Weights = NDArray[np.float64]


class Linear(Policy):
    """A policy whose outputs are linear functions of the observation. In a Discrete space, the action is the number of
    the largest output; in a Box, the action is tanh of the outputs.

    :param weights: a matrix ``[outputs, D + 1]``, whose last column is the bias.
    """

    def __init__(self, space: spaces.Space[Any], weights: Weights) -> None:
        self._space, self.weights = space, weights

    @staticmethod
    def shape(space: spaces.Space[Any], observation: spaces.Space[Any]) -> tuple[int, int]:
        """Return the shape of a linear policy's weights for the spaces of a :class:`~rlgpt.rl.PolicyEnv`."""
        assert isinstance(observation, spaces.Dict)
        size = observation["obs"].shape
        assert size is not None
        return sum(_size(head) for head in _heads(space)), size[0] + 1

    def act(
        self,
        observation: dict[str, np.ndarray],
        *,
        greedy: bool,
        rng: np.random.Generator,
        sharpness: float = 1.0,
    ) -> Any:
        """Choose an action. A linear policy is deterministic, so ``greedy`` and ``sharpness`` have no effect."""
        outputs = self.weights @ np.append(observation["obs"], 1.0)
        action: list[Any] = []
        for i, head in enumerate(_heads(self._space)):
            values, outputs = outputs[: _size(head)], outputs[_size(head) :]
            if isinstance(head, spaces.Discrete):
                masked = values.size == observation["action_mask"].size and i == 0
                action.append(
                    int(np.argmax(np.where(observation["action_mask"] > 0, values, -np.inf) if masked else values))
                )
            else:
                action.append(np.tanh(values).astype(np.float32))
        return tuple(action) if isinstance(self._space, spaces.Tuple) else action[0]


def _heads(space: spaces.Space[Any]) -> tuple[spaces.Space[Any], ...]:
    return tuple(space.spaces) if isinstance(space, spaces.Tuple) else (space,)


def _size(head: spaces.Space[Any]) -> int:
    return int(head.n) if isinstance(head, spaces.Discrete) else int(np.prod(head.shape or (1,)))
