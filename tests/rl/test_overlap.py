"""The setting ``trainer.overlap``: the next rollout is collected while the learner updates the policy."""

from __future__ import annotations

import functools
import threading
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces
from rlgpt.domain import CurvePoint, RLSetup, Task, TrainingRecord
from rlgpt.errors import TrainerError
from rlgpt.plugin.generic import GenericPlugin
from rlgpt.rl.actor_learner import ActorLearner
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.checkpoint import Checkpoint
from rlgpt.rl.learner import Learner
from rlgpt.rl.ppo import PPO
from rlgpt.rl.rollout import Rollout
from rlgpt.rl.sac import SAC
from rlgpt.testing.counting import TO_ROW, counted, grid_spec
from rlgpt.testing.smdp import SETUP, TASK, WALK, fork_plugin

SMALL = Hyperparameters(num_envs=4, num_steps=16, minibatch_size=32, update_epochs=2, learning_rate=1e-3)
FORK = EnvSpec(TASK, SETUP, (WALK,), factory=fork_plugin)


class Bandit(gymnasium.Env[Any, Any]):
    """An episode is one step. No seed has an effect, so new environments continue exactly as the old ones would."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - gymnasium's own attribute
    render_mode = None
    observation_space = spaces.Box(0, 1, (1,), np.float32)
    action_space = spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        return np.ones(1, np.float32), {"success": False}

    def step(self, action: Any) -> Any:
        return np.ones(1, np.float32), float(action), True, False, {"success": bool(action == 2)}


def bandit_plugin(task: Task) -> GenericPlugin:
    return GenericPlugin.of(Bandit, task)


BANDIT = EnvSpec(
    Task(id="bandit/two", goal="choose 2", horizon=2, success="2 was chosen"),
    RLSetup(reward_weights={"env_reward": 1.0}, observation_keys=("observation",)),
    factory=bandit_plugin,
)


def train(trainer: PPO, recipe: EnvSpec, folder: Path, budget: int, **more: Any) -> TrainingRecord:
    settings = more.pop("settings", SMALL)
    return trainer.train(recipe, budget=budget, seed=0, folder=folder, hyperparameters=settings, **more)


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return Checkpoint.load(folder).weights


def same(one: Path, other: Path) -> bool:
    first, second = weights(one), weights(other)
    return all(torch.equal(first[key], second[key]) for key in first)


def test_overlapping_training_learns(tmp_path: Path) -> None:
    settings = SMALL.model_copy(update={"num_steps": 32, "update_epochs": 8})
    record = train(PPO(segments=3, overlap=True), FORK, tmp_path, 2000, settings=settings)
    assert record.curve[-1].success > 0.9 > record.curve[0].success


def test_overlapping_training_depends_on_its_seed_alone(tmp_path: Path) -> None:
    recipe = grid_spec(tmp_path / "count", TO_ROW)
    for name, overlap in (("a", True), ("b", True), ("in turns", False)):
        before = counted(tmp_path / "count") if name != "a" else 0
        record = train(PPO(segments=2, overlap=overlap), recipe, tmp_path / name, 500)
        assert record.primitive_steps == counted(tmp_path / "count") - before >= 500
    assert same(tmp_path / "a", tmp_path / "b")
    assert not same(tmp_path / "a", tmp_path / "in turns")


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("make", [PPO, functools.partial(SAC, first_update=64)])
def test_interrupted_training_resumes_as_if_it_was_never_interrupted(make: Any, overlap: bool, tmp_path: Path) -> None:
    trainer = make(segments=3, overlap=overlap)
    whole = train(trainer, BANDIT, tmp_path / "whole", 576)
    stopped = train(trainer, BANDIT, tmp_path / "parts", 576, progress=lambda point: True)
    assert len(stopped.curve) == 1
    resumed = train(trainer, BANDIT, tmp_path / "parts", 576)
    assert (resumed.curve, resumed.decisions) == (whole.curve, whole.decisions)
    assert same(tmp_path / "whole", tmp_path / "parts")


def test_next_rollout_is_collected_during_the_update_with_the_weights_from_before(tmp_path: Path) -> None:
    """The update ends only after the test has seen the actor of the next rollout."""
    network = PPO().network(BANDIT, SMALL, 0)
    go_on, threads = threading.Event(), list[str]()

    class Waiting(Learner):
        def update(self, rollout: Rollout, generator: torch.Generator) -> None:
            threads.append(threading.current_thread().name)
            assert go_on.wait(60)
            with torch.no_grad():
                self.network.log_std.add_(1.0)
                self.network.output.bias.add_(1.0)

    learner, rollout = Waiting(network, SMALL, 0.9), Rollout({}, *[torch.zeros(1, 1)] * 5, lasts=None)
    before = network.output.bias.clone()
    with ActorLearner(learner, torch.Generator().manual_seed(0), overlap=True) as actor_learner:
        actor_learner.update(rollout)
        actor: Any = actor_learner.actor
        assert torch.equal(actor.output.bias, before)
        go_on.set()
        actor_learner.wait()
        assert torch.equal(actor.output.bias, before + 1.0)
    assert threads != [threading.current_thread().name]


def test_error_of_an_overlapping_update_ends_the_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: Learner, rollout: Rollout, generator: torch.Generator) -> None:
        raise TrainerError("the policy's weights are no longer finite")

    monkeypatch.setattr(Learner, "update", fails)
    points: list[CurvePoint] = []
    with pytest.raises(TrainerError, match="no longer finite"):
        train(PPO(segments=1, overlap=True), BANDIT, tmp_path, 1000, progress=points.append)
    assert points == []
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("rlgpt-update")]


def test_error_of_the_environment_waits_for_the_update_in_progress(tmp_path: Path) -> None:
    class Fails(Bandit):
        steps = 0

        def step(self, action: Any) -> Any:
            Fails.steps += 1
            if Fails.steps > 100:
                raise ValueError("the simulator failed")
            return super().step(action)

    recipe = EnvSpec(BANDIT.task, BANDIT.setup, factory=lambda task: GenericPlugin.of(Fails, task))
    with pytest.raises(ValueError, match="the simulator failed"):
        train(PPO(segments=1, overlap=True), recipe, tmp_path, 1000)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("rlgpt-update")]
