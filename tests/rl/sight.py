"""A task with image observations: find the bright corner. Worker processes of a training can import this module."""

from __future__ import annotations

import functools
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from rlgpt.domain import CodedAction, RLSetup, Task
from rlgpt.plugin.generic import GenericPlugin
from rlgpt.rl.base import EnvSpec

HORIZON = 4
TASK = Task(id="sight/corner", goal="say where the light is", horizon=HORIZON, success="both answers are right")

WAIT = CodedAction(name="wait", doc="Look twice.", source="def run():\n    yield [act(), act()]\n", max_steps=2)


class Corners(gymnasium.Env[Any, Any]):
    """An environment with the observation ``eye``, a uint8 image with one bright corner on a random background, and
    ``step``, a number.

    The action is Tuple(Discrete(2), Discrete(2)): is the corner at the bottom, and is it at the right? The reward is
    0.5 for each correct answer.

    :param first: whether the channels are the first axis of the image. Otherwise they are the last axis.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - gymnasium's own attribute
    render_mode = None

    def __init__(self, side: int, first: bool) -> None:
        self.side, self.first = side, first
        shape = (3, side, side) if first else (side, side, 3)
        self.observation_space = spaces.Dict(
            {"eye": spaces.Box(0, 255, shape, np.uint8), "step": spaces.Box(0, 1, (1,), np.float32)}
        )
        self.action_space = spaces.Tuple([spaces.Discrete(2), spaces.Discrete(2)])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.steps = 0
        return self._show(), {"success": False}

    def step(self, action: Any) -> Any:
        right = (int(action[0]) == self.corner[0]) + (int(action[1]) == self.corner[1])
        self.steps += 1
        return self._show(), right / 2, False, self.steps == HORIZON, {"success": right == 2}

    def _show(self) -> Any:
        self.corner = tuple(int(x) for x in self.np_random.integers(2, size=2))
        half = self.side // 2
        picture = self.np_random.integers(0, 40, (self.side, self.side, 3), dtype=np.uint8)
        down, across = self.corner[0] * half, self.corner[1] * half
        picture[down : down + half, across : across + half] = 255
        eye = np.moveaxis(picture, -1, 0).copy() if self.first else picture
        return {"eye": eye, "step": np.array([self.steps / HORIZON], np.float32)}


def plugin(side: int, first: bool, task: Task) -> GenericPlugin:
    return GenericPlugin.of(functools.partial(Corners, side, first), task)


def spec(side: int, *, first: bool, coded: bool = False) -> EnvSpec:
    """Return the recipe of the environment. With ``coded`` it has a coded action that only waits two steps."""
    actions = (WAIT,) if coded else ()
    setup = RLSetup(
        reward_weights={"env_reward": 1.0},
        observation_keys=("eye", "step"),
        coded_actions=tuple(a.name for a in actions),
        gamma=0.5,
    )
    return EnvSpec(TASK, setup, actions, factory=functools.partial(plugin, side, first))
