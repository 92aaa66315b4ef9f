"""The kitchen with recorded actions: whatever a trainer asks for, the same physics happens.

Each environment plays the same episodes: the start is seeded by the episode's number, and so are the actions, drawn
once and kept. So every trainer that is measured steps through the same states, and what differs is the trainer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from rlgpt.domain import RLSetup, Task
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.step_counter import StepCounter
from rlgpt_kitchen.plugin import KitchenPlugin

TASK = "kitchen/kettle"
KEYS = ("robot", "objects")


class Replayed(gymnasium.Wrapper[Any, Any, Any, Any]):
    """``env`` with its own seeds and actions; its steps are counted in ``ledger``, which other processes can read."""

    def __init__(self, env: gymnasium.Env[Any, Any], ledger: Path) -> None:
        super().__init__(env)
        self._ledger = StepCounter(ledger, 1)
        self._episode = -1

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self._episode += 1
        self._actions = iter(recorded(self.env.action_space, self._episode))
        return self.env.reset(seed=self._episode, options=options)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self._ledger.add(0)
        return self.env.step(next(self._actions))


def recorded(space: gymnasium.Space[Any], episode: int, steps: int = 600) -> Any:
    """The actions of an episode, ``[steps, d]``: uniform in the space's bounds."""
    assert isinstance(space, spaces.Box)
    shape = (steps, *space.shape)
    return np.random.default_rng([episode, 17]).uniform(space.low, space.high, shape).astype(space.dtype)


class ReplayedKitchen(KitchenPlugin):
    """The kitchen's plugin with :class:`Replayed` environments; the task's setting ``ledger`` names the file."""

    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
        return Replayed(super().make_env(task, seed=seed, render_mode=render_mode), Path(str(task.settings["ledger"])))


def replayed_plugin(task: Task) -> ReplayedKitchen:
    """A picklable factory."""
    return ReplayedKitchen()


def spec(ledger: Path) -> EnvSpec:
    """Pure RL (K = 0): the environment's own observation, as one vector, and its own reward."""
    task = KitchenPlugin().tasks()[TASK]
    task = task.model_copy(update={"settings": {**task.settings, "ledger": str(ledger)}})
    return EnvSpec(task, RLSetup(reward_weights={"success": 1.0}, observation_keys=KEYS), (), replayed_plugin)


class Vector59(gymnasium.ObservationWrapper[Any, Any, Any]):
    """The same observation for trainers that want one vector, without anything of rlgpt: float32, shape (59,)."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self.observation_space = spaces.Box(-np.inf, np.inf, (59,), np.float32)

    def observation(self, observation: Any) -> Any:
        return np.concatenate([observation[key] for key in KEYS]).astype(np.float32)
