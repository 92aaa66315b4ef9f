"""An environment with image observations and two choices per action. The scripts of docs/ import this environment
as ``odd:pictures``.
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class Pictures(gymnasium.Env[Any, Any]):
    """An observation is four grey frames of noise. An episode has 20 steps. The reward of a step is the first choice of
    its action.
    """

    def __init__(self) -> None:
        self.observation_space = spaces.Box(0, 255, (4, 40, 40), np.uint8)
        self.action_space = spaces.MultiDiscrete([2, 3])

    def _look(self) -> Any:
        return self.np_random.integers(0, 256, (4, 40, 40)).astype(np.uint8)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.steps = 0
        return self._look(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        return self._look(), float(action[0]), False, self.steps == 20, {}


def pictures(render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
    return Pictures()
