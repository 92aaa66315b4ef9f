"""An environment with the protocol of gym 0.21: ``reset`` without a seed, four values a step, ``render(mode)``."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np


class Space:
    shape: tuple[int, ...] | None = None
    dtype: Any = None


class Box(Space):
    def __init__(self, low: float, high: float, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape, self.dtype = shape, np.dtype(dtype)
        self.low, self.high = np.full(shape, low, dtype), np.full(shape, high, dtype)


class Discrete(Space):
    shape, dtype = (), np.dtype(np.int64)

    def __init__(self, n: int) -> None:
        self.n = n


class DiscreteRange(Discrete):
    def __init__(self, begin: int, end: int) -> None:
        super().__init__(end - begin)
        self.begin = begin


class MultiDiscrete(Space):
    dtype = np.dtype(np.int64)

    def __init__(self, nvec: list[int]) -> None:
        self.nvec = np.array(nvec)
        self.shape = self.nvec.shape


class Text(Space):
    dtype = np.str_

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape


class Dict(Space):
    def __init__(self, spaces: dict[str, Space]) -> None:
        self.spaces = OrderedDict(spaces)


class Env:
    metadata: dict[str, Any] = {"render.modes": ["human", "rgb_array"], "video.frames_per_second": 20}  # noqa: RUF012

    @property
    def unwrapped(self) -> Env:
        return self


class Counter(Env):
    """An environment that counts its steps. The key ``z`` is before ``a``, because the order of the keys must not
    change.
    """

    def __init__(self, limit: int = 3, truncated: bool = False) -> None:
        self.limit, self.truncated, self.given = limit, truncated, 0
        self.observation_space = Dict(
            {"z": Box(-1, 9, (), np.float32), "a": Discrete(9), "range": DiscreteRange(2, 9), "name": Text((2,))}
        )
        self.action_space = MultiDiscrete([3, 4])

    def seed(self, seed: int | None = None) -> list[int | None]:
        self.given = seed or 0
        return [seed]

    def reset(self) -> dict[str, Any]:
        self.count = 0
        return self._seen()

    def step(self, action: Any) -> tuple[Any, float, bool, dict[str, Any]]:
        self.count += 1
        done = self.count >= self.limit
        info = {"TimeLimit.truncated": self.truncated} if done else {}
        return self._seen(), int(action.sum()), done, {**info, 3: "no text as a key"}

    def render(self, mode: str = "human") -> Any:
        return np.full((2, 3, 3), self.count, np.uint8) if mode == "rgb_array" else None

    def _seen(self) -> dict[str, Any]:
        return {"z": 0.5, "a": self.count, "range": 2, "name": np.array(["a cow", f"seed {self.given}"])}


class Wrapper(Env):
    """A wrapper like those of old gym, which hides the parameters of the inner ``reset``."""

    def __init__(self, env: Env) -> None:
        self.env = env

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)

    @property
    def unwrapped(self) -> Env:
        return self.env.unwrapped

    def reset(self, **known: Any) -> Any:
        return self.env.reset(**known)  # type: ignore[attr-defined]


def make(**known: Any) -> Wrapper:
    return Wrapper(Counter(**known))
