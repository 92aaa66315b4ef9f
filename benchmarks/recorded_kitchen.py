"""The kitchen with recorded actions, which the environment plays instead of the trainer's actions.

All recorded environments play the same episodes, because the number of an episode seeds its start and its actions. All
measured trainers therefore simulate the same states, and measured differences come from the trainers alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from rlgpt.domain import RLSetup, Task
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.step_counter import StepCounter
from rlgpt_kitchen.plugin import KitchenPlugin

TASK = "kitchen/kettle"
KEYS = ("robot", "objects")
BUDGET = 1_000_000
"""A budget that no trainer reaches; each trainer is ended from outside."""


class RecordedEnv(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A wrapper that uses its own seeds and actions instead of the trainer's seeds and actions. The wrapper counts
    primitive steps in a file that other processes can read.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], steps_file: Path) -> None:
        super().__init__(env)
        self._counter = StepCounter(steps_file, 1)
        self._episode = -1

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self._episode += 1
        self._actions = iter(recorded_actions(self.env.action_space, self._episode))
        return self.env.reset(seed=self._episode, options=options)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self._counter.add(0)
        return self.env.step(next(self._actions))


def recorded_actions(space: gymnasium.Space[Any], episode: int, steps: int = 600) -> Any:
    """Return the actions of an episode, shape ``[steps, d]``, drawn uniformly within the bounds of the action space."""
    assert isinstance(space, spaces.Box)
    shape = (steps, *space.shape)
    return np.random.default_rng([episode, 17]).uniform(space.low, space.high, shape).astype(space.dtype)


class RecordedKitchen(KitchenPlugin):
    """The kitchen's plugin with :class:`RecordedEnv`; the task's setting ``steps_file`` names the file that counts
    primitive steps.
    """

    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
        env = super().make_env(task, seed=seed, render_mode=render_mode)
        return RecordedEnv(env, Path(str(task.settings["steps_file"])))


def recorded_plugin(task: Task) -> RecordedKitchen:
    """A picklable factory of the plugin."""
    return RecordedKitchen()


def recorded_spec(steps_file: Path) -> EnvSpec:
    """Return the recipe of an environment without coded actions (K = 0), with the kitchen's own observation as one
    vector and its own reward.
    """
    task = KitchenPlugin().tasks()[TASK]
    task = task.model_copy(update={"settings": {**task.settings, "steps_file": str(steps_file)}})
    return EnvSpec(task, RLSetup(reward_weights={"success": 1.0}, observation_keys=KEYS), (), recorded_plugin)


def hyperparameters(steps_file: Path) -> Hyperparameters:
    """Return the hyperparameters of a run on the kitchen: those of the plugin, and rlgpt's defaults for all others."""
    return Hyperparameters(**RecordedKitchen().trainer_defaults(recorded_spec(steps_file).task))


class FlatObservation(gymnasium.ObservationWrapper[Any, Any, Any]):
    """A wrapper that returns the kitchen's observation as one vector, float32, shape (59,). This wrapper does not use
    rlgpt.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self.observation_space = spaces.Box(-np.inf, np.inf, (59,), np.float32)

    def observation(self, observation: Any) -> Any:
        return np.concatenate([observation[key] for key in KEYS]).astype(np.float32)
