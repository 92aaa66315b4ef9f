"""Makes a task of Meta-World. The module ``rlgpt.envs.metaworld.factory`` runs in Meta-World's interpreter and imports
only gymnasium, numpy and metaworld.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import metaworld
import numpy as np


def make(task: str, seed: int = 0, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
    """Make the environment of ``task``.

    :param seed: the seed from which the 50 positions of the task's object are drawn. Each reset chooses one of the 50
        positions of the object.
    """
    benchmark = metaworld.MT1(task, seed=seed)
    return Places(benchmark.train_classes[task](render_mode=render_mode), benchmark.train_tasks)


class Places(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A wrapper in which the seed of each reset chooses one of the positions of the object that the benchmark defines.
    The observation space of the wrapper has no bounds, because Meta-World's observations exceed the declared bounds.
    """

    def __init__(self, env: Any, tasks: list[Any]) -> None:
        super().__init__(env)
        self._sawyer, self._tasks, self._rng = env, tasks, np.random.default_rng()
        env.set_task(tasks[0])
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, env.observation_space.shape, np.float64)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._sawyer.set_task(self._tasks[int(self._rng.integers(len(self._tasks)))])
        return self.env.reset(seed=seed)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        plain = {key: float(value) for key, value in info.items() if key != "success"}
        return observation, float(reward), terminated, truncated, {**plain, "success": bool(info["success"])}
