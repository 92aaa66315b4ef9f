"""The flat view: an extended environment whose action space any trainer takes."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from rlgpt.errors import ConfigError
from rlgpt.options.env import ExtendedEnv
from rlgpt.options.layout import Head


def flat_view(env: ExtendedEnv) -> gym.Env[Any, Any]:
    """``env`` with a flat action space.

    ========================  =========================================================================
    extended                  flat
    ========================  =========================================================================
    ``Discrete(n + K)``       itself; parameters at their defaults
    base ``Box(d)``           ``Box(1 + K + d + P)``: the largest of the first 1 + K numbers chooses; the
                              base action follows in its own bounds, then the parameters in [-1, 1]
    base ``MultiDiscrete``    ``MultiDiscrete([1 + K, *n])``; parameters at their defaults
    ========================  =========================================================================

    :raises ConfigError: a Tuple of Discrete and Box has no flat view.
    """
    space = env.action_space
    if isinstance(space, (spaces.Discrete, spaces.Box, spaces.MultiDiscrete)):
        return env
    assert isinstance(space, spaces.Tuple)
    heads = env.layout.heads
    base = [h for h in heads if h.kind == "base"]
    if all(isinstance(h.space, spaces.Discrete) for h in base):
        return _FlatDiscrete(env, heads)
    if len(base) == 1 and env.layout.has_selector:
        return _FlatBox(env, heads)
    raise ConfigError(f"action space {space} has no flat view; use a trainer that takes Tuple spaces.")


class _Flat(gym.ActionWrapper[Any, Any, Any], gym.utils.RecordConstructorArgs):
    def __init__(self, env: ExtendedEnv, heads: tuple[Head, ...]) -> None:
        gym.utils.RecordConstructorArgs.__init__(self, heads=heads, _disable_deepcopy=True)
        gym.Wrapper.__init__(self, env)
        self._heads = heads
        boxes = [h.space for h in heads if h.kind == "parameters"]
        self._box = boxes[0] if boxes and isinstance(boxes[0], spaces.Box) else None
        self._defaults = env.extension.defaults()


class _FlatDiscrete(_Flat):
    """Selector and Discrete heads as one MultiDiscrete (or one Discrete)."""

    def __init__(self, env: ExtendedEnv, heads: tuple[Head, ...]) -> None:
        super().__init__(env, heads)
        sizes = [h.space.n for h in heads if isinstance(h.space, spaces.Discrete)]
        self.action_space = spaces.Discrete(int(sizes[0])) if len(sizes) == 1 else spaces.MultiDiscrete(sizes)

    def action(self, action: Any) -> Any:
        parts: list[Any] = list(np.asarray(action).reshape(-1))
        if self._box is not None:
            parts.append(self._defaults)
        return tuple(parts)


class _FlatBox(_Flat):
    """Scores of the branches, the base action and the parameters as one Box."""

    def __init__(self, env: ExtendedEnv, heads: tuple[Head, ...]) -> None:
        super().__init__(env, heads)
        self._branches = len(env.layout.branches)
        base = next(h.space for h in heads if h.kind == "base")
        assert isinstance(base, spaces.Box)
        self._base = base
        p = len(self._defaults)
        low = np.concatenate([-np.ones(self._branches), base.low.reshape(-1), -np.ones(p)])
        high = np.concatenate([np.ones(self._branches), base.high.reshape(-1), np.ones(p)])
        self.action_space = spaces.Box(low.astype(np.float32), high.astype(np.float32), dtype=np.float32)

    def action(self, action: Any) -> Any:
        scores, rest = np.split(np.asarray(action), [self._branches])
        size = int(np.prod(self._base.shape))
        branch = int(np.argmax(scores))
        parts: list[Any] = [branch, rest[:size].reshape(self._base.shape).astype(self._base.dtype)]
        if self._box is not None:
            low, high = self._box.low, self._box.high
            parts.append((low + (np.clip(rest[size:], -1, 1) + 1) / 2 * (high - low)).astype(np.float32))
        return tuple(parts)
