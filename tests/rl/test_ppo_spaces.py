"""PPO learns in every kind of space: continuous actions, actions of several parts, parameters of coded actions, and
image observations.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from rlgpt.domain import CodedAction, Evaluation, Parameter, RLSetup, Task, TrainingRecord
from rlgpt.plugin.generic import GenericPlugin
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.evaluation import evaluate
from rlgpt.rl.ppo import PPO
from rlgpt.testing.counting import action

HORIZON = 4


class Aim(gymnasium.Env[Any, Any]):
    """An environment in which each observation is a target. The reward decreases with the distance between action and
    target. An episode has four steps.

    ``close`` gives the nearness of an action to a target in [0, 1]. Its best value is 1.
    """

    def __init__(self, action_space: spaces.Space[Any], close: Callable[[Any, float], float], *, image: bool) -> None:
        self.action_space, self.close_to, self.image = action_space, close, image
        self.observation_space = (
            spaces.Box(0, 255, (16, 16, 1), np.uint8) if image else spaces.Box(0, 1, (1,), np.float32)
        )
        self.target, self.steps = 0.0, 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.steps = 0
        return self._show(), {}

    def step(self, action: Any) -> Any:
        reward = self.close_to(action, self.target)
        self.steps += 1
        return self._show(), reward, False, self.steps == HORIZON, {"success": reward > 0.8}

    def _show(self) -> Any:
        self.target = float(self.np_random.integers(2)) if self.image else float(self.np_random.random())
        if self.image:
            return np.full((16, 16, 1), 255 * self.target, np.uint8)
        return np.array([self.target], np.float32)


def learn(
    make: Callable[[], Aim], folder: Path, *actions: CodedAction, budget: int = 3500
) -> tuple[float, float, TrainingRecord]:
    """Return the mean reward of a step before and after training (greedy), and the record of the training."""
    task = Task(id="aim/it", goal="answer the target", horizon=HORIZON, success="near")
    names = tuple(a.name for a in actions)
    setup = RLSetup(
        reward_weights={"env_reward": 1.0}, observation_keys=("observation",), coded_actions=names, gamma=0.9
    )
    plugin = GenericPlugin.of(make, task)
    spec = EnvSpec(task, setup, tuple(actions), factory=lambda task: plugin)
    trainer, settings = PPO(), Hyperparameters()

    def mean(found: Evaluation) -> float:
        return found.mean_reward / HORIZON

    fresh = trainer.untrained(spec, seed=0, hyperparameters=settings)
    before = evaluate(fresh, spec, seeds=range(30), greedy=False)
    record = trainer.train(spec, budget=budget, seed=0, folder=folder, hyperparameters=settings)
    after = evaluate(trainer.load(folder, spec), spec, seeds=range(30), greedy=True)
    return mean(before), mean(after), record


def near(answer: float, target: float) -> float:
    return 1.0 - abs(answer - target)


@pytest.mark.slow
def test_ppo_learns_a_continuous_action(tmp_path: Path) -> None:
    """The Box can have any range. In this test the reward depends on the first number divided by 10."""
    box = spaces.Box(np.array([0.0, -1.0], np.float32), np.array([10.0, 1.0], np.float32))
    before, after, _ = learn(lambda: Aim(box, lambda a, t: near(a[0] / 10, t), image=False), tmp_path)
    assert after > max(0.9, before + 0.15)


@pytest.mark.parametrize(
    "space",
    [
        spaces.MultiDiscrete([5, 3]),
        pytest.param(spaces.Tuple([spaces.Discrete(5), spaces.Discrete(3)]), marks=pytest.mark.slow),
    ],
)
def test_ppo_learns_an_action_of_several_parts(space: spaces.Space[Any], tmp_path: Path) -> None:
    before, after, _ = learn(lambda: Aim(space, lambda a, t: near(int(a[0]) / 4, t), image=False), tmp_path)
    assert after > max(0.85, before + 0.1)


def test_ppo_learns_the_parameter_of_a_coded_action(tmp_path: Path) -> None:
    """The parameter of the coded action is a number in [0, 1], from which the code chooses one of 21 base actions."""
    answer = action(
        "answer",
        "def run(x=0.0):\n    yield act(action=('action_%d' % round(x * 20)))\n",
        parameters=(Parameter(name="x", low=0, high=1, default=0),),
    )
    before, after, record = learn(
        lambda: Aim(spaces.Discrete(21), lambda a, t: 1.0 - 2 * abs(int(a) / 20 - t), image=False), tmp_path, answer
    )
    assert record.verdicts == ()
    assert after > max(0.7, before + 0.3)


@pytest.mark.slow
def test_ppo_learns_a_binary_choice_from_images(tmp_path: Path) -> None:
    before, after, _ = learn(
        lambda: Aim(spaces.Discrete(2), lambda a, t: near(float(a), t), image=True), tmp_path, budget=1000
    )
    assert before < 0.7
    assert after > 0.95
