"""The trainer SAC: the tests for every trainer, and tests of SAC alone."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from aim import STEPS, Aim
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st
from rlgpt.config.prepare import ConstantPluginFactory, prepare
from rlgpt.domain import Score, TrainingRecord
from rlgpt.errors import ConfigError
from rlgpt.options import ActionLayout
from rlgpt.options.layout import Head
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.evaluation import evaluate
from rlgpt.rl.network import AFTER_SEARCH
from rlgpt.rl.policy_env import build
from rlgpt.rl.resume import take_over
from rlgpt.rl.rollout import Rollout
from rlgpt.rl.sac import SAC
from rlgpt.rl.sac.encoding import encode, flatten
from rlgpt.rl.sac.network import SoftActorCritic
from rlgpt.rl.sac.replay import Experience, Replay
from rlgpt.testing.counting import TO_ROW, WANDER, grid_spec
from rlgpt.testing.trainer_suite import TrainerSuite


class TestSAC(TrainerSuite):
    make = SAC
    budget, fork_budget = 6000, 4000

    def checkpoints(self, folder: Path) -> list[Path]:
        return sorted(folder.glob("*.pt"))

    @pytest.mark.slow
    def test_killed_training_resumes_and_counts_all_steps(self, tmp_path: Path) -> None:
        super().test_killed_training_resumes_and_counts_all_steps(tmp_path)

    @pytest.mark.slow
    @pytest.mark.parametrize("semi_markov", [True, False])
    def test_options_are_discounted_by_their_duration(self, semi_markov: bool, tmp_path: Path) -> None:
        # Without the semi-Markov discount, the policy learns the worse choice, and base-only episodes are better.
        self.make = functools.partial(SAC, base_only=0.0)
        super().test_options_are_discounted_by_their_duration(semi_markov, tmp_path)


def guided(folder: Path) -> Any:
    spec = grid_spec(folder / "count", TO_ROW, WANDER)
    return dataclasses.replace(spec, setup=spec.setup.model_copy(update={"plan_prior": 0.9}))


def test_untrained_sac_policy_follows_the_plan_with_the_prior_probability(tmp_path: Path) -> None:
    spec = guided(tmp_path)
    env = build(spec, seed=0)
    observation, info = env.reset(seed=0)
    policy, rng = SAC().untrained(spec, seed=0, hyperparameters=Hyperparameters()), np.random.default_rng(0)
    chosen = [env.form.branch(policy.act(observation, greedy=False, rng=rng)) for _ in range(400)]
    plan = env.layout.branches[info["plan"]]
    assert 0.85 <= chosen.count(plan) / len(chosen) <= 0.95
    assert env.form.branch(policy.act(observation, greedy=True, rng=rng)) == plan


@pytest.mark.parametrize("share", [0.0, 0.25])
def test_resumed_sac_training_restores_its_replay_memories(share: float, tmp_path: Path) -> None:
    spec, folder = guided(tmp_path), tmp_path / "train"
    arguments: dict[str, Any] = {"seed": 3, "folder": folder, "hyperparameters": Hyperparameters(num_envs=2)}
    trainer = SAC(first_update=100, updates_per_decision=0.25, segments=4, base_only=share)

    def trained(**more: Any) -> tuple[TrainingRecord, Mapping[str, torch.Tensor]]:
        record = trainer.train(spec, budget=800, **arguments, **more)
        return record, torch.load(folder / "policy.pt", weights_only=True)["imitation"]

    first, before = trained(progress=lambda point: True)
    second, after = trained()
    assert second.decisions > first.decisions
    memories = ["row "] if share == 0 else ["row ", "base-only row ", "base-only primitive row "]
    for key in (f"{memory}{name}" for memory in memories for name in ("obs", "actions", "rewards")):
        assert len(after[key]) > len(before[key])
        assert torch.equal(after[key][: len(before[key])], before[key])
    if share == 0:
        assert (len(after["row actions"]), float(after["seen"][0])) == (second.decisions, second.primitive_steps)
    else:
        rows = len(after["base-only row actions"]) + len(after["base-only primitive row actions"])
        assert float(after["base-only seen"][0]) == rows, "one row for each step"


@pytest.mark.parametrize("rate", [0.5, 1.0])
def test_gradient_steps_depend_on_the_number_of_decisions_not_of_primitive_steps(rate: float, tmp_path: Path) -> None:
    trainer = SAC(first_update=0, updates_per_decision=rate, base_only=0.0, parameter_search=0.0)
    record = trainer.train(
        guided(tmp_path), budget=800, seed=3, folder=tmp_path / "train", hyperparameters=Hyperparameters(num_envs=2)
    )
    optimizer = torch.load(tmp_path / "train" / "policy.pt", weights_only=True)["optimizer"]
    taken = {int(state["step"]) for state in optimizer["state"].values()}
    assert record.primitive_steps > 1.1 * record.decisions
    assert taken == {int(rate * record.decisions)}


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"final_temperature": 0.0}, "final_temperature 0.0"),
        ({"temperature": 0.01}, "0.01"),
        ({"base_temperature": 0.0}, "base_temperature is 0.0"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0"),
        ({"updates_per_decision": -1.0}, "updates_per_decision is -1.0"),
        ({"batch_size": 0}, "batch_size is 0; it must be a whole number of at least 1"),
        ({"batch_size": 1.5}, "batch_size is 1.5"),
        ({"capacity": 0}, "capacity is 0"),
        ({"width": 0}, "width is 0"),
        ({"first_update": -1}, "first_update is -1; it must be a whole number of at least 0"),
    ],
)
def test_sac_rejects_settings_that_cannot_train_and_temperatures_that_increase(
    settings: dict[str, float], text: str
) -> None:
    with pytest.raises(ConfigError, match=text):
        SAC(**settings)  # type: ignore[arg-type]


def test_sac_learns_base_actions_whose_effects_are_small_beside_the_return(tmp_path: Path) -> None:
    """The divergences of 100 decisions, over which a return extends with gamma 0.99, must not outweigh the reward."""
    plugin, task = prepare(Aim, "hit the aim", docs=None, labels=None, score=Score(), horizon=STEPS)
    spec = EnvSpec(task, plugin.default_setup(task), (), ConstantPluginFactory(plugin))
    trainer, hyperparameters = SAC(width=32, batch_size=64), Hyperparameters()
    trainer.train(spec, budget=3_000, seed=0, folder=tmp_path, hyperparameters=hyperparameters)
    played = evaluate(trainer.load(tmp_path, spec), spec, seeds=range(5), greedy=False)
    assert played.mean_score is not None
    assert played.mean_score / STEPS > -0.1


def test_sac_rejects_self_imitation_and_recommends_ppo(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="trainer=ppo"):
        SAC().untrained(guided(tmp_path), seed=0, hyperparameters=Hyperparameters(imitation_coef=1.0))


def mixed_network() -> SoftActorCritic:
    """Three branches; heads: a base action of two parts, and two parameters of the last branch."""
    heads = (
        Head("base", spaces.Discrete(3)),
        Head("base", spaces.Box(-1, 1, (2,))),
        Head("parameters", spaces.Box(-1, 1, (2,)), ("go.x", "go.y"), (0.5, -1.0)),
    )
    owner = np.array([[1, 1, 1, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 1, 1]], dtype=np.bool_)
    layout = ActionLayout(("base", "wait", "go"), spaces.Discrete(3), heads, owner)
    return SoftActorCritic(layout, ("a", "b"), Hyperparameters(), width=16, temperature=0.3)


@given(own=st.integers(0, 40), others=st.integers(0, 40), count=st.integers(1, 64))
def test_at_least_half_of_the_drawn_rows_are_of_the_policy_itself(own: int, others: int, count: int) -> None:
    experience = Experience(1_000)
    for memory, size, mark in ((experience.own, own, 1.0), (experience.others, others, 0.0)):
        if size:
            memory.add({"mark": torch.full((size,), mark)})
    if not len(experience):
        return
    drawn = experience.sample(count, torch.Generator().manual_seed(0))["mark"]
    assert len(drawn) == count
    ours = int(drawn.sum())
    if own and others:
        assert ours >= max(count // 2, count * own // (own + others))
    else:
        assert ours == (count if own else 0)


def test_sac_decodes_encoded_actions_to_the_same_flat_actions() -> None:
    network = mixed_network()
    batch = {"obs": torch.randn(64, 2), "action_mask": torch.ones(64, 3)}
    flat = network.distribution(batch).sample(torch.Generator().manual_seed(0))
    assert torch.allclose(flatten(network.layout, *encode(network.layout, flat)), flat)
    assert set(flat[:, 0].tolist()) == {0.0, 1.0, 2.0}


@given(default=st.floats(-1.0, 1.0), std=st.floats(0.05, 1.0), searched=st.booleans())
def test_sac_explores_parameters_as_much_at_an_end_of_their_range_as_in_the_middle(
    default: float, std: float, searched: bool
) -> None:
    head = Head("parameters", spaces.Box(-1, 1, (1,)), ("go.x",), (0.0 if searched else default,))
    layout = ActionLayout(("go",), None, (head,), np.ones((1, 1), np.bool_))
    network = SoftActorCritic(layout, ("a",), Hyperparameters(initial_std=std), width=8, temperature=0.3)
    if searched:
        network.start_from(torch.tensor([default]))
        std *= AFTER_SEARCH
    drawn = network.components(torch.zeros(4000, 1), 1.0, torch.Generator().manual_seed(0))[0]
    # A sixth of the numbers of a normal distribution is below the mean minus a standard deviation.
    nearer = torch.quantile((drawn if default > 0 else -drawn).detach(), 1 / 6)
    assert abs(default) - 1.2 * std - 0.05 <= float(nearer) <= abs(default) - 0.6 * std


def test_sharpened_sac_policy_draws_discrete_values_with_sharpened_probabilities() -> None:
    network = mixed_network()
    p = torch.tensor([0.5, 0.3, 0.2])
    with torch.no_grad():
        assert network.actor is not None
        network.actor.output.bias[-3:] = p.log()
    batch = {"obs": torch.zeros(4000, 2), "action_mask": torch.tensor([[1.0, 0.0, 0.0]]).expand(4000, -1)}
    for sharpness in (1.0, 4.0):
        flat = network.distribution(batch).sharpened(sharpness).sample(torch.Generator().manual_seed(0))
        shares = torch.bincount(flat[:, 1].long(), minlength=3) / 4000
        assert torch.allclose(shares, p**sharpness / (p**sharpness).sum(), atol=0.03)


@pytest.mark.parametrize("semi_markov", [True, False])
def test_empty_entries_of_a_rollout_change_no_return(semi_markov: bool) -> None:
    """Where environments decide at different times, a rollout has empty entries before the others, of duration 0."""
    moments = []
    for empty in (0, 3):
        network = mixed_network()
        learner = SAC().learner(network, Hyperparameters(semi_markov=semi_markov), 0.5, 100)
        taken = torch.arange(2 + empty)[:, None] >= empty
        never = torch.zeros_like(taken)
        rollout = Rollout(
            {"obs": torch.zeros(3 + empty, 1, 2), "action_mask": torch.ones(3 + empty, 1, 3)},
            torch.zeros(2 + empty, 1, network.layout.action_size),
            taken.float(),
            2.0 * taken,
            never,
            never,
            None,
            taken=taken,
        )
        for _ in range(3):
            learner.remember(rollout)
        moments.append((float(network.returns.mean), float(network.returns.var)))
    assert moments[0] == pytest.approx(moments[1])


def test_sac_value_of_a_branch_depends_only_on_the_components_of_this_branch() -> None:
    network = mixed_network()
    with torch.no_grad():
        network.value.weight.normal_()
        features, encoded = torch.randn(5, 2), torch.randn(5, 7)
        values = network.values(features, encoded)
        encoded[:, -2:] += 1.0
        changed = network.values(features, encoded)
        assert torch.allclose(values[..., :2], changed[..., :2])
        assert not torch.allclose(values[..., 2], changed[..., 2])
        for branch in range(3):
            chosen = network.value_of(features, encoded, torch.full((5,), branch))
            assert torch.allclose(chosen, changed[..., branch], atol=1e-6)


def test_new_observations_do_not_change_the_values_of_sac_after_a_warm_start(tmp_path: Path) -> None:
    def network(*keys: str) -> SoftActorCritic:
        env = build(grid_spec(tmp_path / "count", observation_keys=keys), seed=0)
        return SoftActorCritic.of(env, Hyperparameters(), seed=len(keys), width=8, temperature=0.3)

    old, new = network("agent", "key"), network("holding", "key", "agent")
    with torch.no_grad():
        old.value.weight.normal_()
    take_over(new, old.state_dict(), old.axis_names(), same_returns=True)
    agent, key, holding, none = torch.randn(9, 2), torch.randn(9, 2), torch.randn(9, 1), torch.empty(9, 0)
    was, now = old.values(torch.cat([agent, key], 1), none), new.values(torch.cat([holding, key, agent], 1), none)
    torch.testing.assert_close(now, was)


def test_sac_never_chooses_a_masked_branch_even_with_a_high_value() -> None:
    network = mixed_network()
    with torch.no_grad():
        network.value.bias[..., 1] = 50.0
    batch = {"obs": torch.zeros(200, 2), "action_mask": torch.tensor([[1.0, 0.0, 1.0]]).expand(200, -1)}
    distribution = network.distribution(batch)
    assert 1.0 not in distribution.sample(torch.Generator().manual_seed(0))[:, 0]
    assert 1.0 not in distribution.mode()[:, 0]


@given(
    capacity=st.integers(1, 20),
    pieces=st.lists(st.integers(1, 30), min_size=1, max_size=6),
)
def test_replay_memory_keeps_the_newest_rows_in_order(capacity: int, pieces: list[int]) -> None:
    replay, other = Replay(capacity), Replay(capacity)
    numbers = torch.arange(sum(pieces))
    for piece in torch.split(numbers, pieces):
        replay.add({"number": piece})
    assert replay.tensors()["number"].tolist() == numbers[-capacity:].tolist()
    other.restore(replay.tensors())
    assert other.tensors()["number"].tolist() == numbers[-capacity:].tolist()
    drawn = replay.sample(50, torch.Generator().manual_seed(0))["number"]
    assert set(drawn.tolist()) <= set(numbers[-capacity:].tolist())


@given(most_bytes=st.integers(1, 400), pieces=st.lists(st.integers(1, 30), min_size=1, max_size=6))
def test_replay_memory_keeps_the_newest_rows_that_fit_into_its_bytes(most_bytes: int, pieces: list[int]) -> None:
    replay, count = Replay(1000, most_bytes), 0
    for size in pieces:
        number = torch.arange(count, count + size, dtype=torch.float32)
        replay.add({"number": number, "others": torch.zeros(size, 4)})
        count += size
    rows = replay.tensors()
    kept = min(count, max(1, most_bytes // 20))
    assert rows["number"].tolist() == list(range(count - kept, count))
    again = Replay(1000, most_bytes)
    again.restore(rows)
    assert again.tensors()["number"].tolist() == rows["number"].tolist()
