"""An environment in which base actions are easy to learn."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

STEPS = 20


class Aim(gymnasium.Env[Any, Any]):
    """Each of the :data:`STEPS` steps has the reward -|action - aim|^2. The observation is the aim."""

    observation_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
    action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.steps, self.aim = 0, self.np_random.uniform(-0.9, 0.9, 2).astype(np.float32)
        return self.aim, {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        miss = float(np.sum(np.square(np.asarray(action) - self.aim)))
        return self.aim, -miss, False, self.steps == STEPS, {}
