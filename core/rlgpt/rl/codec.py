"""Converts actions between the policy's action space and the action space of the extended environment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from rlgpt.errors import ConfigError
from rlgpt.options import ActionLayout


class ActionCodec:
    """Converts the policy's normalised actions to actions of an extended environment, and back.

    The policy's action space is made from the extended action space. In the policy's action space, every Box is
    one-dimensional with the bounds -1 and 1, and a MultiDiscrete is a Tuple of Discrete spaces.

    :param target: the extended action space.
    :param layout: the layout of ``target``.
    :raises ConfigError: a Box of the extended action space has no finite bounds.
    """

    def __init__(self, target: gymnasium.Space[Any], layout: ActionLayout) -> None:
        self._target = target
        self._parts: list[gymnasium.Space[Any]] = [head.space for head in layout.heads]
        if layout.selector is not None:
            self._parts.insert(0, layout.selector)
        for part in self._parts:
            if isinstance(part, spaces.Box) and not (np.isfinite(part.low).all() and np.isfinite(part.high).all()):
                raise ConfigError(
                    f"a policy needs finite action bounds, got {part}. Wrap the environment with "
                    "gymnasium.wrappers.TransformAction so that its Box is bounded."
                )
        self._stretches = [_stretch(part) for part in self._parts]
        normalised = [_normalised(part) for part in self._parts]
        self.space: gymnasium.Space[Any] = normalised[0] if len(normalised) == 1 else spaces.Tuple(normalised)

    def decode(self, action: Any) -> Any:
        """Convert an action of :attr:`space` to an action of the extended action space. Numbers of the action outside
        [-1, 1] are clipped.
        """
        values = action if isinstance(self.space, spaces.Tuple) else (action,)
        parts = [stretch(value) for stretch, value in zip(self._stretches, values, strict=True)]
        if isinstance(self._target, spaces.MultiDiscrete):
            return np.array(parts, dtype=self._target.dtype)
        return tuple(parts) if isinstance(self._target, spaces.Tuple) else parts[0]

    def encode(self, action: Any) -> Any:
        """The inverse of :meth:`decode`. ``encode`` is used for coded actions that are chosen by name."""
        many = isinstance(self._target, (spaces.Tuple, spaces.MultiDiscrete))
        values = action if many else (action,)
        parts = [_squeezed(part, value) for part, value in zip(self._parts, values, strict=True)]
        return tuple(parts) if isinstance(self.space, spaces.Tuple) else parts[0]


def _normalised(part: gymnasium.Space[Any]) -> gymnasium.Space[Any]:
    if isinstance(part, spaces.Discrete):
        return spaces.Discrete(int(part.n))
    assert isinstance(part, spaces.Box)
    return spaces.Box(-1.0, 1.0, (int(np.prod(part.shape)),), np.float32)


def _stretch(part: gymnasium.Space[Any]) -> Callable[[Any], Any]:
    """Make a function that converts a normalised value to the units of ``part``. The constants of the conversion are
    computed only once.
    """
    if isinstance(part, spaces.Discrete):
        start = part.start
        return lambda value: np.int64(value) + start
    assert isinstance(part, spaces.Box)
    shape, dtype, low, high = part.shape, part.dtype, part.low.astype(np.float64), part.high.astype(np.float64)
    span = high - low

    def stretch(value: Any) -> Any:
        share = (np.minimum(np.maximum(np.asarray(value, np.float64), -1.0), 1.0).reshape(shape) + 1.0) / 2.0
        return np.minimum(np.maximum(low + share * span, low), high).astype(dtype)

    return stretch


def _squeezed(part: gymnasium.Space[Any], value: Any) -> Any:
    if isinstance(part, spaces.Discrete):
        return np.int64(value) - part.start
    assert isinstance(part, spaces.Box)
    span = part.high.astype(np.float64) - part.low
    share = np.full(part.shape, 0.5)  # the share of a number whose range is a single value
    np.divide(np.asarray(value, np.float64) - part.low, span, out=share, where=span > 0)
    return (2.0 * share - 1.0).reshape(-1).astype(np.float32)
