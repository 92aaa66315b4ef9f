"""The average of a network's weights, with which a policy of SAC acts after its training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from rlgpt.rl.base import Hyperparameters
from rlgpt.rl.checkpoint import Checkpoint
from rlgpt.rl.sac import SAC
from rlgpt.rl.sac.average import SHARPNESS, WeightAverage
from rlgpt.testing.counting import TO_ROW, WANDER, grid_spec
from torch import nn

VALUES = st.lists(st.floats(-10, 10, width=32), min_size=1, max_size=40)


def _averaged(values: list[float]) -> tuple[nn.Linear, WeightAverage]:
    network = nn.Linear(2, 1)
    average = WeightAverage(network)
    for value in values:
        nn.init.constant_(network.weight, value)
        average.add()
    return network, average


@given(VALUES)
def test_average_is_a_mean_of_the_added_weights(values: list[float]) -> None:
    _, average = _averaged(values)
    weight = average.weights()["weight"]
    assert bool((weight >= min(values) - 1e-4).all())
    assert bool((weight <= max(values) + 1e-4).all())


def test_the_newest_tenth_of_the_updates_has_most_of_the_average() -> None:
    _, average = _averaged([0.0] * 900 + [1.0] * 100)
    expected = 1 - 0.9 ** (SHARPNESS + 1)
    assert average.weights()["weight"].tolist()[0] == pytest.approx([expected] * 2, abs=0.01)


def test_before_the_first_update_the_average_is_the_present_weights() -> None:
    network, average = _averaged([])
    nn.init.constant_(network.weight, 5.0)
    assert torch.equal(average.weights()["weight"], network.weight)


@given(VALUES, VALUES)
def test_a_restored_average_continues_exactly(before: list[float], after: list[float]) -> None:
    network, average = _averaged(before)
    other = WeightAverage(network)
    other.restore(average.tensors())
    for value in after:
        nn.init.constant_(network.weight, value)
        average.add()
        other.add()
    assert torch.equal(average.weights()["weight"], other.weights()["weight"])


@pytest.mark.parametrize(("share", "budget"), [(0.0, 800), (0.25, 800), (0.0, 200)])
def test_best_policy_of_a_training_with_sac_has_the_average_weights(share: float, budget: int, tmp_path: Path) -> None:
    """A training of 200 steps ends too few episodes for a comparison of its policies."""
    spec, folder = grid_spec(tmp_path / "count", TO_ROW, WANDER), tmp_path / "train"
    trainer = SAC(first_update=100, updates_per_decision=0.25, segments=1, base_only=share)
    trainer.train(spec, budget=budget, seed=3, folder=folder, hyperparameters=Hyperparameters(num_envs=2))
    last = Checkpoint.load(folder)
    stored = last.imitation or {}
    average = {k.removeprefix("average "): v for k, v in stored.items() if k.startswith("average ")}
    policy: Any = trainer.load(folder, spec)
    weights = policy.network.state_dict()
    assert set(average) == {name for name, _ in policy.network.named_parameters()}
    assert all(torch.equal(weights[name], values) for name, values in average.items())
    assert any(not torch.equal(weights[name], last.weights[name]) for name in average)
