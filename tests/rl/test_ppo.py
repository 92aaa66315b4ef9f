"""The built-in trainer PPO: the tests for every trainer, and tests of PPO alone."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from rlgpt.domain import CodedReward, Parameter, Plain, Task, TrainingRecord
from rlgpt.errors import ConfigError, TrainerError
from rlgpt.plugin.types import Context, EnvLimits
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.checkpoint import Checkpoint
from rlgpt.rl.policy_env import build
from rlgpt.rl.ppo import PPO, STEPS_FILE
from rlgpt.testing.counting import TO_ROW, WANDER, CountingGrid, action, counted, grid_spec
from rlgpt.testing.trainer_suite import TrainerSuite


class TestPPO(TrainerSuite):
    make = PPO
    start_method = "fork"

    def checkpoints(self, folder: Path) -> list[Path]:
        return sorted(folder.glob("*.pt"))


def train(folder: Path, spec: EnvSpec, *, budget: int = 600, trainer: PPO | None = None, **more: Any) -> TrainingRecord:
    settings = more.pop("settings", Hyperparameters())
    return (trainer or PPO()).train(spec, budget=budget, seed=7, folder=folder, hyperparameters=settings, **more)


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return Checkpoint.load(folder).weights


def test_very_sharp_policy_plays_its_most_likely_choice(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", WANDER)
    policy, rng = PPO().untrained(spec, seed=0, hyperparameters=Hyperparameters()), np.random.default_rng(0)
    observation, _ = build(spec, seed=0).reset()
    best = policy.act(observation, greedy=True, rng=rng)
    assert {int(policy.act(observation, greedy=False, rng=rng, sharpness=1e6)) for _ in range(20)} == {int(best)}
    assert len({int(policy.act(observation, greedy=False, rng=rng)) for _ in range(40)}) > 1


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"segments": 0}, "trainer.segments is 0; it must be a whole number of at least 1"),
        ({"segments": "30"}, "trainer.segments is '30'"),
        ({"workers": -1}, "trainer.workers is -1; it must be a whole number of at least 0"),
    ],
)
def test_ppo_rejects_settings_that_cannot_train(settings: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        PPO(**settings)


def test_ppo_training_with_the_same_seed_gives_the_same_policy(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", WANDER)
    train(tmp_path / "a", spec)
    train(tmp_path / "b", spec)
    first, second = weights(tmp_path / "a"), weights(tmp_path / "b")
    assert all(torch.equal(first[key], second[key]) for key in first)


def test_ppo_exceeds_its_budget_by_less_than_one_decision_of_each_environment(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", WANDER)
    record = train(tmp_path / "a", spec, budget=501)
    assert 501 <= record.primitive_steps < 501 + 4 * 6


class DiesAt(CountingGrid):
    """An environment that kills its own process after a number of counted steps."""

    def __init__(self, path: str, at: int) -> None:
        super().__init__(path)
        self.at = at

    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> Any:
        env, at = super().make_env(task, seed=seed, render_mode=render_mode), self.at

        class Deadly(gymnasium.Wrapper[Any, Any, Any, Any]):
            def step(self, action: Any) -> Any:
                if counted(Path(self.env.path)) == at:  # type: ignore[attr-defined]
                    os.kill(os.getpid(), signal.SIGKILL)
                return super().step(action)

        return Deadly(env)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_kills_in_the_middle_of_a_decision_lose_no_step_of_a_ppo_training(tmp_path: Path) -> None:
    counter, folder = tmp_path / "count", tmp_path / "train"
    spec = grid_spec(counter, WANDER)
    for at in (3, 251, 252, 777):
        child = os.fork()
        if child == 0:
            deadly = dataclasses.replace(spec, factory=lambda task, at=at: DiesAt(str(counter), at))
            train(folder, deadly, budget=1000)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        assert counted(counter) == at
    record = train(folder, spec, budget=1000)
    assert record.primitive_steps == counted(counter) >= 1000


REWARD = {"env_reward": 1.0, "near_key": 1.0}


@pytest.mark.parametrize(
    ("setup", "switches", "kept"),
    [
        ({}, {}, True),
        ({"reward_weights": dict(reversed(REWARD.items())), "reset_option": "near_key"}, {}, True),
        ({"reward_weights": REWARD | {"near_key": 100.0}}, {}, False),
        ({"reward_weights": REWARD | {"holding": 1.0}}, {}, False),
        ({"gamma": 0.9}, {}, False),
        ({}, {"semi_markov": False}, False),
        ({}, {"normalize_returns": False}, False),
    ],
)
def test_warm_start_keeps_value_weights_only_if_the_returns_have_the_same_definition(
    setup: dict[str, Any], switches: dict[str, bool], kept: bool, tmp_path: Path
) -> None:
    """The budget is smaller than a minibatch, so the saved weights are those of the warm start."""
    first, second = grid_spec(tmp_path / "count"), grid_spec(tmp_path / "count", **setup)
    settings = Hyperparameters(num_steps=8, minibatch_size=32)
    train(tmp_path / "cold", first, budget=100, settings=settings)
    other = settings.model_copy(update=switches)
    train(tmp_path / "warm", second, budget=10, settings=other, warm_start=tmp_path / "cold")
    cold, warm = Checkpoint.load_best(tmp_path / "cold").weights, weights(tmp_path / "warm")
    assert float(cold["returns.count"]) > 0
    assert torch.equal(warm["output.weight"], cold["output.weight"])
    assert torch.equal(warm["returns.count"], cold["returns.count"] if kept else torch.zeros(1).double())
    assert torch.equal(warm["value.weight"], cold["value.weight"]) == kept


def test_warm_start_forgets_the_value_weights_of_a_coded_reward_that_was_rewritten(tmp_path: Path) -> None:
    """The setups are equal: the reward term has the same name, weight and bounds, and only its source changes."""

    def paying(value: float) -> EnvSpec:
        bonus = CodedReward(
            name="bonus", doc="", source=f"def reward(view, memory):\n    return {value}\n", kind="step", low=-1, high=1
        )
        spec = grid_spec(tmp_path / "count", reward_weights={"bonus": 1.0})
        return dataclasses.replace(spec, functions=(bonus,))

    settings = Hyperparameters(num_steps=8, minibatch_size=32)
    train(tmp_path / "cold", paying(1.0), budget=100, settings=settings)
    for value, kept in ((1.0, True), (-1.0, False)):
        folder = tmp_path / f"warm{value}"
        train(folder, paying(value), budget=10, settings=settings, warm_start=tmp_path / "cold")
        assert (float(weights(folder)["returns.count"]) > 0) is kept


def test_loading_refuses_a_policy_of_the_same_actions_in_another_order(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", TO_ROW, WANDER)
    train(tmp_path / "a", spec, budget=10)
    with pytest.raises(TrainerError, match=r"in another order\. Use the order of its training"):
        PPO().load(tmp_path / "a", dataclasses.replace(spec, actions=spec.actions[::-1]))


def test_loading_refuses_a_checkpoint_of_another_schema_version_with_advice(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count")
    train(tmp_path / "old", spec, budget=10)
    path = tmp_path / "old" / "best.pt"
    content = torch.load(path, weights_only=True)
    content["state"] = json.dumps({**json.loads(content["state"]), "schema_version": 1})
    torch.save(content, path)
    with pytest.raises(TrainerError, match=r"schema version 1 .* reads 3. Use the version of rlgpt that wrote it"):
        PPO().load(tmp_path / "old", spec)


def test_training_restores_the_number_of_torch_threads(tmp_path: Path) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    seen: list[int] = []
    try:
        spec = grid_spec(tmp_path / "count")
        train(tmp_path / "a", spec, progress=lambda point: seen.append(torch.get_num_threads()))
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert set(seen) == {1}


@pytest.mark.slow
def test_ppo_with_workers_has_the_same_weights_and_counts_as_in_one_process(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", TO_ROW)
    record = train(tmp_path / "workers", spec, trainer=PPO(workers=2))
    assert record.primitive_steps == counted(tmp_path / "count") >= 600
    train(tmp_path / "here", spec)
    here, there = weights(tmp_path / "here"), weights(tmp_path / "workers")
    assert all(torch.equal(here[key], there[key]) for key in here)


def test_error_in_a_worker_of_ppo_raises_a_trainer_error(tmp_path: Path) -> None:
    with pytest.raises(TrainerError, match="FileNotFoundError"):
        train(tmp_path / "a", grid_spec(tmp_path / "no" / "such" / "folder"), trainer=PPO(workers=1))


class OneOnly(CountingGrid):
    def limits(self, task: Task) -> EnvLimits:
        return EnvLimits(max_envs=1)


def test_ppo_makes_no_more_environments_than_the_plugin_allows(tmp_path: Path) -> None:
    spec = dataclasses.replace(grid_spec(tmp_path / "count"), factory=lambda task: OneOnly(str(tmp_path / "count")))
    train(tmp_path / "a", spec, budget=100)
    assert (tmp_path / "a" / STEPS_FILE).stat().st_size == 8


def test_resumed_ppo_training_refuses_other_hyperparameters(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count")
    train(tmp_path / "a", spec, budget=100)
    with pytest.raises(TrainerError, match="hyperparameters"):
        train(tmp_path / "a", spec, budget=200, settings=Hyperparameters(hidden=(32,)))


def test_resumed_ppo_training_uses_a_changed_learning_rate(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count")
    train(tmp_path / "a", spec, budget=100)
    train(tmp_path / "a", spec, budget=2000, settings=Hyperparameters(learning_rate=0.02))
    (group,) = Checkpoint.load(tmp_path / "a").optimizer["param_groups"]
    assert group["lr"] == 0.02


@pytest.mark.parametrize(
    "switched",
    [
        "branch_masking",
        *(pytest.param(f"normalize_{of}", marks=pytest.mark.slow) for of in ("observations", "returns")),
    ],
)
def test_each_ablation_setting_of_ppo_changes_the_update(switched: str, tmp_path: Path) -> None:
    reach = action(
        "reach", "def run(x=0.5):\n    yield use()\n", parameters=(Parameter(name="x", low=0, high=1, default=0.5),)
    )
    spec = grid_spec(tmp_path / "count", reach)
    train(tmp_path / "on", spec)
    train(tmp_path / "off", spec, settings=Hyperparameters(**{switched: False}))
    on, off = weights(tmp_path / "on"), weights(tmp_path / "off")
    assert not torch.equal(on["output.weight"], off["output.weight"])
    for moments, switch in (("observations.count", "normalize_observations"), ("returns.count", "normalize_returns")):
        assert bool((off[moments] == 0).all()) == (switched == switch)


def test_nan_in_an_observation_raises_an_error_that_names_nan(tmp_path: Path) -> None:
    class Broken(CountingGrid):
        def view(self, ctx: Context) -> dict[str, Plain]:
            return super().view(ctx) | {"agent": [float("nan"), 0.0]}

    spec = dataclasses.replace(grid_spec(tmp_path / "count"), factory=lambda task: Broken(str(tmp_path / "count")))
    with pytest.raises(TrainerError, match="NaN"):
        train(tmp_path / "a", spec)
