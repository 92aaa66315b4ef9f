"""The actor-critic network, its running moments, and the weights that a warm start copies."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from rlgpt.domain import Parameter
from rlgpt.errors import TrainerError
from rlgpt.options import ActionLayout
from rlgpt.rl.base import Hyperparameters
from rlgpt.rl.network import ActorCritic, PolicyNetwork
from rlgpt.rl.normalizer import RunningMoments
from rlgpt.rl.policy_env import build
from rlgpt.rl.resume import take_over
from rlgpt.rl.sac.network import SoftActorCritic
from rlgpt.rl.step_counter import StepCounter
from rlgpt.testing.counting import TO_ROW, WANDER, action, grid_spec

SETTINGS = Hyperparameters()
SMALL = Hyperparameters(hidden=(4,))


@given(sizes=st.lists(st.integers(1, 20), min_size=1, max_size=6), seed=st.integers(0, 2**31))
@settings(max_examples=40)
def test_running_moments_equal_the_moments_of_all_batches(sizes: list[int], seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    batches = [5 + 3 * torch.randn(size, 2, dtype=torch.float64, generator=generator) for size in sizes]
    moments = RunningMoments(2)
    for batch in batches:
        moments.update(batch)
    whole = torch.cat(batches)
    torch.testing.assert_close(moments.mean, whole.mean(0))
    torch.testing.assert_close(moments.var, whole.var(0, correction=0))
    torch.testing.assert_close(moments.unscale(moments.scale(whole)), whole)


def test_normaliser_without_data_keeps_values_and_clips_outliers() -> None:
    moments = RunningMoments(1)
    torch.testing.assert_close(moments.normalize(torch.tensor([[0.5], [99.0]])), torch.tensor([[0.5], [5.0]]))


def network(tmp_path: Path, *actions, seed: int = 0, **setup) -> ActorCritic:  # type: ignore[no-untyped-def]
    env = build(grid_spec(tmp_path / "count", *actions, **setup), seed=0)
    return ActorCritic.of(env, SETTINGS, seed=seed)


@torch.no_grad()
def test_initial_policy_is_nearly_uniform_with_the_given_standard_deviation(tmp_path: Path) -> None:
    reach = action(
        "reach", "def run(x=0.0):\n    yield use()\n", parameters=(Parameter(name="x", low=-1, high=1, default=0),)
    )
    fresh = network(tmp_path, reach)
    batch = {"obs": 6 * torch.rand(50, 7), "action_mask": torch.ones(50, 6)}
    distribution = fresh.distribution(batch)
    assert float((distribution.probabilities - 1 / 6).abs().max()) < 0.01
    assert float(fresh.log_std.detach().exp()[0]) == pytest.approx(SETTINGS.initial_std)
    assert float(distribution.mode()[:, 1].abs().max()) < 0.1


def test_warm_start_with_more_actions_copies_weights_by_action_name(tmp_path: Path) -> None:
    """The odds between actions that both networks have are unchanged, in any order of actions."""
    old, new = network(tmp_path, TO_ROW, seed=1), network(tmp_path, WANDER, TO_ROW, seed=2)
    old.observations.update(torch.randn(100, 7))
    with torch.no_grad():
        old.output.weight.normal_()
    take_over(new, old.state_dict(), old.axis_names(), same_returns=True)
    batch = {"obs": torch.randn(20, 7), "action_mask": torch.ones(20, 6)}
    was = old.distribution(batch).probabilities
    now = new.distribution(batch | {"action_mask": torch.ones(20, 7)}).probabilities
    known = [new.layout.branches.index(name) for name in old.layout.branches]
    torch.testing.assert_close(now[:, known] / now[:, known].sum(-1, keepdim=True), was)
    torch.testing.assert_close(new.scaled_value(batch), old.scaled_value(batch))


@given(old=st.floats(-3, 4), new=st.floats(-3, 4), shift=st.floats(-3, 3), seed=st.integers(0, 2**31))
@settings(max_examples=20)
def test_value_targets_have_unit_scale_after_a_warm_start(old: float, new: float, shift: float, seed: int) -> None:
    """The scales of the old and the new reward differ by a power of ten. If the moments of the old reward were kept,
    they would have the weight of 20,000 returns.
    """
    layout, generator = ActionLayout.of(spaces.Discrete(3)), torch.Generator().manual_seed(seed)
    before, after = (ActorCritic(layout, ("x",), {}, SMALL) for _ in range(2))
    before.returns.update(10**old * (shift + torch.randn(20_000, 1, generator=generator)))
    value, actor = after.value.weight.detach().clone(), before.actor.layers[0].weight
    take_over(after, before.state_dict(), before.axis_names(), same_returns=False)
    assert torch.equal(after.value.weight, value)
    assert torch.equal(after.actor.layers[0].weight, actor)
    returns = 10**new * (shift + torch.randn(128, 1, generator=generator))
    after.returns.update(returns)
    assert float(after.returns.scale(returns).square().mean().sqrt()) == pytest.approx(1, abs=0.01)


def test_new_observations_get_zero_weights_in_a_warm_start(tmp_path: Path) -> None:
    old = network(tmp_path, observation_keys=("agent", "key"), seed=1)
    new = network(tmp_path, observation_keys=("holding", "key", "agent"), seed=2)
    old.observations.update(torch.randn(50, 4))
    take_over(new, old.state_dict(), old.axis_names(), same_returns=True)
    agent, key, holding = torch.randn(9, 2), torch.randn(9, 2), torch.randn(9, 1)
    mask = {"action_mask": torch.ones(9, 5)}
    was = old.distribution({"obs": torch.cat([agent, key], 1)} | mask).probabilities
    now = new.distribution({"obs": torch.cat([holding, key, agent], 1)} | mask).probabilities
    torch.testing.assert_close(now, was)
    assert new.observations.count.tolist() == [0, 50, 50, 50, 50]


def test_warm_start_copies_parameter_weights_by_action_and_parameter_name(tmp_path: Path) -> None:
    def reach(name: str, *parameters: str):  # type: ignore[no-untyped-def]
        declared = tuple(Parameter(name=p, low=-1, high=1, default=0) for p in parameters)
        return action(name, f"def run({', '.join(parameters)}):\n    yield use()\n", parameters=declared)

    old = network(tmp_path, reach("a", "x", "y"), reach("b", "x"), seed=1)
    new = network(tmp_path, reach("b", "x"), reach("a", "y", "z"), seed=2)
    with torch.no_grad():
        old.log_std.copy_(torch.tensor([1.0, 2.0, 3.0]))
    take_over(new, old.state_dict(), old.axis_names(), same_returns=True)
    assert new.log_std.tolist() == pytest.approx([3.0, 2.0, np.log(SETTINGS.initial_std)])


@pytest.mark.parametrize("make", [ActorCritic.of, partial(SoftActorCritic.of, width=8, temperature=0.3)])
def test_warm_start_keeps_the_default_of_a_parameter_whose_range_changed(
    make: Callable[..., PolicyNetwork], tmp_path: Path
) -> None:
    def reach(high: float) -> PolicyNetwork:
        x = Parameter(name="x", low=0, high=high, default=5)
        made = grid_spec(tmp_path / "count", action("reach", "def run(x=5.0):\n    yield use()\n", parameters=(x,)))
        return make(build(made, seed=0), SETTINGS, seed=0)

    old, new = reach(10), reach(100)
    take_over(new, old.state_dict(), old.axis_names(), same_returns=True)
    batch = {"obs": torch.randn(20, 7), "action_mask": torch.ones(20, 6)}
    assert new.distribution(batch).mode()[:, 1].tolist() == pytest.approx([-0.9] * 20, abs=0.1), "5 of [0, 100]"


def test_warm_start_skips_layers_of_other_sizes(tmp_path: Path) -> None:
    old = network(tmp_path, seed=1)
    env = build(grid_spec(tmp_path / "count"), seed=0)
    new = ActorCritic.of(env, SETTINGS.model_copy(update={"hidden": (8,)}), seed=2)
    before = new.actor.layers[0].weight.detach().clone()  # type: ignore[union-attr]
    take_over(new, old.state_dict(), old.axis_names(), same_returns=True)
    assert torch.equal(new.actor.layers[0].weight, before)


@pytest.mark.parametrize("shape", [(36, 50, 3), (3, 36, 50)])
def test_each_image_has_its_own_encoder(shape: tuple[int, ...]) -> None:
    layout = ActionLayout.of(spaces.Discrete(3))
    seeing = ActorCritic(layout, (), {"image_camera": shape}, SETTINGS)
    with torch.no_grad():
        seeing.output.weight.normal_()
    batch = {
        "obs": torch.zeros(4, 0),
        "action_mask": torch.ones(4, 3),
        "image_camera": torch.randint(0, 255, (4, *shape), dtype=torch.uint8),
    }
    probabilities = seeing.distribution(batch).probabilities
    assert probabilities.shape == (4, 3)
    assert bool((probabilities[0] != probabilities[1]).any())
    seeing.scaled_value(batch).sum().backward()  # type: ignore[no-untyped-call]


def test_step_counter_keeps_its_counts_after_its_process_ends(tmp_path: Path) -> None:
    path = tmp_path / "steps"
    with StepCounter(path, 3) as first:
        for cell in (0, 2, 2):
            first.add(cell)
        with StepCounter(path, 1) as second:
            second.add(0)
            assert first.total == second.total == 4
    with StepCounter(path, 5) as grown:
        grown.add(4)
        assert grown.total == 5
    path.write_bytes(b"abc")
    with pytest.raises(TrainerError, match="not a count of steps"):
        StepCounter(path, 1)
