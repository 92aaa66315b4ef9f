"""Semi-Markov advantages, compared with the direct sum A_t = sum_l (prod_{j<l} gamma^k_j lam) delta_{t+l}."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from rlgpt.rl.advantage import semi_markov_gae


def batch(seed: int, steps: int, envs: int, longest: int) -> dict[str, torch.Tensor]:
    g = torch.Generator().manual_seed(seed)
    draw = {k: torch.randn(steps, envs, dtype=torch.float64, generator=g) for k in ("rewards", "values", "next_values")}
    terminated = torch.rand(steps, envs, generator=g) < 0.15
    truncated = torch.rand(steps, envs, generator=g) < 0.15
    durations = torch.randint(1, longest + 1, (steps, envs), generator=g)
    return draw | {"durations": durations, "terminated": terminated, "ended": terminated | truncated}


def direct_sum(b: dict[str, torch.Tensor], gamma: float, lam: float, semi_markov: bool) -> torch.Tensor:
    steps, envs = b["rewards"].shape
    want = torch.zeros(steps, envs, dtype=torch.float64)
    for n in range(envs):
        for t in range(steps):
            weight = 1.0
            for i in range(t, steps):
                discount = gamma ** int(b["durations"][i, n]) if semi_markov else gamma
                alive = 0.0 if b["terminated"][i, n] else 1.0
                delta = b["rewards"][i, n] + discount * alive * b["next_values"][i, n] - b["values"][i, n]
                want[t, n] += weight * delta
                if b["ended"][i, n]:
                    break
                weight *= discount * lam
    return want


@given(
    seed=st.integers(0, 2**31),
    steps=st.integers(1, 10),
    envs=st.integers(1, 3),
    longest=st.integers(1, 60),
    gamma=st.floats(0.5, 1.0),
    lam=st.floats(0.0, 1.0),
    semi_markov=st.booleans(),
)
@settings(max_examples=40)
def test_semi_markov_gae_equals_the_direct_sum_of_its_definition(
    seed: int, steps: int, envs: int, longest: int, gamma: float, lam: float, semi_markov: bool
) -> None:
    b = batch(seed, steps, envs, longest)
    advantages, returns = semi_markov_gae(**b, gamma=gamma, lam=lam, semi_markov=semi_markov)
    assert float((advantages - direct_sum(b, gamma, lam, semi_markov)).abs().max()) < 1e-6
    torch.testing.assert_close(returns, advantages + b["values"])


def test_gae_of_single_step_decisions_is_ordinary_gae() -> None:
    b = batch(0, 12, 4, 1)
    ours, _ = semi_markov_gae(**b, gamma=0.97, lam=0.9)
    ordinary, _ = semi_markov_gae(**b, gamma=0.97, lam=0.9, semi_markov=False)
    assert torch.equal(ours, ordinary)


@given(seed=st.integers(0, 2**31), gamma=st.floats(0.8, 1.0))
@settings(max_examples=30)
def test_value_target_at_lambda_one_is_the_discounted_return(seed: int, gamma: float) -> None:
    """Coded actions of any duration do not change the discounted return of the primitive steps."""
    g = torch.Generator().manual_seed(seed)
    durations = torch.randint(1, 9, (6, 1), generator=g)
    primitive = torch.randn(int(durations.sum()), dtype=torch.float64, generator=g)
    whole = sum(gamma**i * float(r) for i, r in enumerate(primitive))
    rewards, at = torch.zeros(6, 1, dtype=torch.float64), 0
    for t in range(6):
        k = int(durations[t])
        rewards[t] = sum(gamma**i * float(primitive[at + i]) for i in range(k))
        at += k
    values = torch.randn(7, 1, dtype=torch.float64, generator=g)
    ended = torch.zeros(6, 1, dtype=torch.bool)
    ended[-1] = True
    _, returns = semi_markov_gae(rewards, values[:-1], values[1:], durations, ended, ended, gamma=gamma, lam=1.0)
    assert float(returns[0]) == pytest.approx(whole, abs=1e-6)


def test_advantage_of_a_truncated_step_includes_the_value_of_the_last_observation() -> None:
    one = torch.ones(1, 1, dtype=torch.float64)
    yes, no = torch.ones(1, 1, dtype=torch.bool), torch.zeros(1, 1, dtype=torch.bool)
    truncated, _ = semi_markov_gae(one, 2 * one, 10 * one, 3 * one, no, yes, gamma=0.9, lam=0.95)
    terminated, _ = semi_markov_gae(one, 2 * one, 10 * one, 3 * one, yes, yes, gamma=0.9, lam=0.95)
    assert float(truncated) == pytest.approx(1 + 0.9**3 * 10 - 2)
    assert float(terminated) == pytest.approx(1 - 2)
