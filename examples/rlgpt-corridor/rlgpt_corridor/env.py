"""The environment. This module does not depend on rlgpt."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

LENGTH, DOOR, EXIT = 10.0, 6.0, 9.0
"""Length of the corridor, and positions of door and exit, in m from its start."""

STRIDE = 0.25
"""Length of one step, m."""

REACH = 0.2
"""Distance within which the switch can be pressed, m."""


class CorridorEnv(gymnasium.Env[np.ndarray, np.ndarray]):
    """A corridor with a switch, a door and an exit.

    The observation of the corridor has the positions of the agent and of the switch (0 to 1, as a fraction of the
    corridor's length), and whether the door is open (0 or 1). An action has the heads ``walk`` (0 back, 1 stay, 2
    forward) and ``hand`` (0 rest, 1 press). An episode ends at the exit, with reward 1.

    :param slip: the probability that a step does not move the agent.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012 - gymnasium's own

    def __init__(self, *, slip: float = 0.0, render_mode: str | None = None) -> None:
        self.slip, self.render_mode = slip, render_mode
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (3,), np.float32)
        self.action_space = gymnasium.spaces.MultiDiscrete([3, 2])
        self.x, self.switch, self.open = 0.0, 1.0, False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.x = float(self.np_random.uniform(0.0, DOOR - 1))
        self.switch = float(self.np_random.uniform(1.0, 4.0))
        self.open = bool(options and options.get("door") == "open")
        return self._observation(), {"success": False}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        walk, hand = int(action[0]), int(action[1])
        if hand == 1 and abs(self.x - self.switch) <= REACH:
            self.open = True
        if self.np_random.random() >= self.slip:
            limit = LENGTH if self.open or self.x > DOOR else DOOR
            self.x = min(max(self.x + (walk - 1) * STRIDE, 0.0), limit)
        success = self.x >= EXIT
        return self._observation(), float(success), success, False, {"success": success}

    def render(self) -> np.ndarray | None:
        """Return a picture of the corridor from above, 20 pixels per metre. The agent is red, the switch is yellow, and
        the door is black if it is shut and green if it is open.
        """
        if self.render_mode is None:
            return None
        image = np.full((40, int(LENGTH * 20), 3), 235, np.uint8)
        for x, colour in (
            (self.switch, (230, 190, 40)),
            (DOOR, (60, 160, 60) if self.open else (20, 20, 20)),
            (self.x, (200, 50, 50)),
        ):
            centre = min(max(int(x * 20), 3), image.shape[1] - 4)
            image[8:32, centre - 3 : centre + 4] = colour
        return image

    def _observation(self) -> np.ndarray:
        return np.array([self.x / LENGTH, self.switch / LENGTH, self.open], np.float32)
