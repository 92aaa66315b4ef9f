"""What happens at every primitive step below the extension: success is remembered, a shorter horizon cuts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium

OnStep = Callable[[gymnasium.Env[Any, Any], int], None]
"""Called with the base environment and its primitive steps so far: 0 after a reset, then after every step."""


class StepMonitor(gymnasium.Wrapper[Any, Any, Any, Any]):
    """The base environment, watched at primitive steps (a decision may take many).

    :param horizon: primitive steps after which an episode is truncated; None leaves that to ``env``.
    :param options: go to every ``env.reset``, below those given there.
    :param on_step: called with ``env``.
    :ivar success: whether any step of this episode had ``info["success"]``.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        horizon: int | None = None,
        options: dict[str, Any] | None = None,
        on_step: OnStep | None = None,
    ) -> None:
        super().__init__(env)
        self._horizon, self._options, self._on_step = horizon, options, on_step
        self._steps, self.success = 0, False

    def __getattr__(self, name: str) -> Any:
        # a plugin's model() is handed this wrapper and may reach for what its own make_env returned
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.env, name)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        if self._options is not None:
            options = {**self._options, **(options or {})}
        observation, info = self.env.reset(seed=seed, options=options)
        self._steps, self.success = 0, bool(info.get("success", False))
        if self._on_step is not None:
            self._on_step(self.env, self._steps)
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._steps += 1
        self.success = self.success or bool(info.get("success", False))
        if self._horizon is not None and self._steps >= self._horizon and not terminated:
            truncated = True
        if self._on_step is not None:
            self._on_step(self.env, self._steps)
        return observation, reward, terminated, truncated, info
