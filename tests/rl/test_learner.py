"""One update of PPO, compared with closed formulas: advantages, the gradient of the surrogate loss, and parts without
a gradient.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import torch
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from rlgpt.options import ActionLayout, Head
from rlgpt.rl.base import Hyperparameters
from rlgpt.rl.evaluation import evaluate
from rlgpt.rl.learner import Learner
from rlgpt.rl.network import ActorCritic
from rlgpt.rl.ppo import PPO
from rlgpt.rl.rollout import Rollout
from rlgpt.testing.counting import TO_ROW, grid_spec

GAMMA, LAMBDA = 0.9, 0.8
LAYOUT = ActionLayout(
    ("base", "a"),
    spaces.Discrete(2),
    (Head("base", spaces.Box(-1, 1, (2,)), ("x", "y")), Head("base", spaces.Box(-1, 1, (1,)), ("a.p",))),
    torch.tensor([[1, 1, 0], [0, 0, 1]]).bool().numpy(),
)
SIZE = 3


def learner(**changes: Any) -> Learner:
    settings = Hyperparameters(
        **{
            "num_envs": 2,
            "num_steps": 5,
            "minibatch_size": 10,
            "update_epochs": 1,
            "hidden": (8,),
            "gae_lambda": LAMBDA,
            **changes,
        }
    )
    torch.manual_seed(0)
    network = ActorCritic(LAYOUT, tuple(f"o[{i}]" for i in range(SIZE)), {}, settings)
    with torch.no_grad():
        network.output.weight.normal_()
    return Learner(network, settings, GAMMA)


def rollout(steps: int = 5, envs: int = 2, seed: int = 1) -> Rollout:
    g = torch.Generator().manual_seed(seed)
    terminated, ended = torch.zeros(steps, envs).bool(), torch.zeros(steps, envs).bool()
    if steps > 3:
        ended[1, 0] = ended[2, 1] = terminated[2, 1] = True
    count = int(ended.sum())
    actions = torch.randn(steps, envs, LAYOUT.action_size, generator=g)
    actions[..., 0] = torch.randint(0, 2, (steps, envs), generator=g)
    return Rollout(
        {
            "obs": torch.randn(steps + 1, envs, SIZE, generator=g),
            "action_mask": torch.ones(steps + 1, envs, 2),
            "duration": torch.ones(steps + 1, envs, 1),
        },
        actions,
        3 + 5 * torch.randn(steps, envs, generator=g),
        torch.randint(1, 9, (steps, envs), generator=g),
        terminated,
        ended,
        {"obs": torch.randn(count, SIZE, generator=g), "action_mask": torch.ones(count, 2)} if count else None,
    )


def of_seed(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def flat(r: Rollout) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    return {key: value[:-1].flatten(0, 1) for key, value in r.observations.items()}, r.actions.flatten(0, 1)


def weights(trained: Learner) -> dict[str, torch.Tensor]:
    return {key: value.clone() for key, value in trained.network.state_dict().items()}


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(one[key], other[key]) for key in one)


@torch.no_grad()
def direct_advantages(of: Learner, r: Rollout) -> torch.Tensor:
    """Compute the advantages by their definition, decision by decision, with values in units of reward."""
    moments = of.network.returns

    def value(observation: torch.Tensor) -> float:
        scaled = float(of.network.scaled_value({"obs": observation[None]}))
        return scaled * float((moments.var + 1e-8).sqrt()) + float(moments.mean)

    steps, envs = r.rewards.shape
    found, last = torch.zeros(steps, envs), 0
    deltas = torch.zeros(steps, envs)
    for t in range(steps):
        for n in range(envs):
            discount = GAMMA ** int(r.durations[t, n])
            following = value(r.observations["obs"][t + 1, n])
            if r.ended[t, n]:
                assert r.lasts is not None
                following, last = value(r.lasts["obs"][last]), last + 1
            if r.terminated[t, n]:
                following = 0.0
            deltas[t, n] = float(r.rewards[t, n]) + discount * following - value(r.observations["obs"][t, n])
    for n in range(envs):
        for t in range(steps):
            weight = 1.0
            for i in range(t, steps):
                found[t, n] += weight * deltas[i, n]
                if r.ended[i, n]:
                    break
                weight *= GAMMA ** int(r.durations[i, n]) * LAMBDA
    return found


def test_advantages_are_in_units_of_reward_for_any_moments_of_returns() -> None:
    """Values are unscaled before they are added to rewards. A truncated episode is bootstrapped from its own last
    observation."""
    of, r = learner(), rollout()
    of.network.returns.update(40 + 7 * torch.randn(500, 1))
    with torch.no_grad():
        advantages, targets = of._advantages(r)
        values = of._values(flat(r)[0]).view(5, 2)
    torch.testing.assert_close(advantages, direct_advantages(of, r), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(targets, advantages + values)


def test_first_update_follows_the_policy_gradient() -> None:
    """At ratio 1 the gradient is that of -mean(A log p), with normalised A, plus that of the squared error of the
    value.
    """
    of, r = learner(max_grad_norm=1e9, ent_coef=0.0, vf_coef=0.5), rollout()
    batch, actions = flat(r)
    expected = learner(max_grad_norm=1e9)
    expected.network.observations.update(batch["obs"])
    advantages = direct_advantages(expected, r).flatten()
    targets = advantages + expected._values(batch).detach()
    expected.network.returns.update(targets[:, None])
    advantages = (advantages - advantages.mean()) / advantages.std(correction=0)
    policy = -(advantages * expected.network.distribution(batch).log_prob(actions)).mean()
    error = (expected.network.scaled_value(batch) - expected.network.returns.scale(targets)).square().mean()
    (policy + 0.5 * error).backward()  # type: ignore[no-untyped-call]
    of.update(r, of_seed(0))
    for (name, got), want in zip(of.network.named_parameters(), expected.network.parameters(), strict=True):
        assert got.grad is not None
        assert want.grad is not None
        torch.testing.assert_close(got.grad, want.grad, rtol=1e-3, atol=1e-5, msg=name)


@given(error=st.floats(-100, 100), most=st.floats(0.01, 10))
@settings(max_examples=20)
def test_value_error_shortens_the_policy_step_without_changing_its_direction(error: float, most: float) -> None:
    """Actor and critic share no layer, but the norm of the joint gradient of both is clipped."""
    r = rollout()
    batch, actions = flat(r)

    def step(offset: float, most: float) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the flat gradients of the policy and of the value after one step."""
        of = learner(max_grad_norm=most)
        old = of.network.distribution(batch).log_prob(actions).detach()
        torch.nn.init.constant_(of.network.value.bias, offset)
        of._step(batch, actions, old, r.rewards.flatten(), torch.zeros(10))
        parts: tuple[list[torch.Tensor], list[torch.Tensor]] = [], []
        for name, parameter in of.network.named_parameters():
            assert parameter.grad is not None
            parts[name.startswith(("critic", "value"))].append(parameter.grad.flatten())
        return torch.cat(parts[0]), torch.cat(parts[1])

    (right, _), (policy, value) = step(0.0, 1e9), step(error, 1e9)
    torch.testing.assert_close(policy, right)
    shortened = min(1.0, most / float(torch.cat([policy, value]).norm()))
    torch.testing.assert_close(step(error, most)[0], shortened * policy, rtol=1e-3, atol=1e-6)


def test_decisions_with_a_clipped_ratio_have_no_gradient() -> None:
    of, r = learner(ent_coef=0.0, vf_coef=0.0), rollout()
    batch, actions = flat(r)
    now = of.network.distribution(batch).log_prob(actions).detach()
    advantages = torch.ones(10)
    for shift, sign, moves in ((1.0, 1.0, False), (-1.0, -1.0, False), (1.0, -1.0, True), (0.0, 1.0, True)):
        before = weights(of)
        of.optimizer.state.clear()
        of._step(batch, actions, now - shift, sign * advantages, torch.zeros(10))
        assert same(before, weights(of)) != moves
        of.network.load_state_dict(before)


def test_scale_of_the_reward_does_not_change_the_update() -> None:
    """With normalised returns and a negligible critic, ten times the reward gives the same update."""
    one, ten, r = learner(), learner(), rollout()
    for each in (one, ten):
        torch.nn.init.zeros_(each.network.value.weight)
    one.update(r, of_seed(0))
    ten.update(dataclasses.replace(r, rewards=10 * r.rewards), of_seed(0))
    for key, value in one.network.state_dict().items():
        if not key.startswith("returns."):
            torch.testing.assert_close(ten.network.state_dict()[key], value, rtol=1e-3, atol=1e-5)


def test_rollout_smaller_than_a_minibatch_is_skipped() -> None:
    """The budget may shorten the last rollout to one decision of each environment."""
    of = learner(minibatch_size=8)
    before = weights(of)
    of.update(rollout(steps=3), of_seed(0))
    assert same(before, weights(of))
    of.update(rollout(steps=4), of_seed(0))
    assert not same(before, weights(of))


def test_full_rollout_smaller_than_a_minibatch_is_used() -> None:
    of = learner(num_steps=3, minibatch_size=64)
    before = weights(of)
    of.update(rollout(steps=3), of_seed(0))
    assert not same(before, weights(of))


def test_minibatch_sizes_differ_by_at_most_one() -> None:
    sizes = []

    class ReportingLLM(Learner):
        def _step(self, batch: Any, actions: torch.Tensor, *rest: torch.Tensor) -> None:
            sizes.append(len(actions))

    given = learner(minibatch_size=9, update_epochs=2)
    ReportingLLM(given.network, given.hyperparameters, GAMMA).update(rollout(), of_seed(0))
    assert sizes == [5, 5, 5, 5]


def test_evaluation_does_not_change_the_normaliser_of_the_policy(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", TO_ROW)
    PPO().train(spec, budget=300, seed=0, folder=tmp_path / "a", hyperparameters=Hyperparameters(num_steps=8))
    policy: Any = PPO().load(tmp_path / "a", spec)
    before = {key: value.clone() for key, value in policy.network.state_dict().items()}
    evaluate(policy, spec, seeds=range(3), greedy=False)
    assert same(before, policy.network.state_dict())
    assert float(before["observations.count"].min()) > 0


@given(
    num_envs=st.integers(1, 64),
    num_steps=st.integers(1, 1024),
    decisions=st.none() | st.integers(0, 1_000_000),
    fixed=st.sampled_from([(), ("num_steps",), ("num_envs",)]),
)
def test_fitted_rollouts_leave_twenty_updates_and_are_shortened_to_at_least_eight_decisions(
    num_envs: int, num_steps: int, decisions: int | None, fixed: tuple[str, ...]
) -> None:
    given_settings = Hyperparameters(num_envs=num_envs, num_steps=num_steps)
    fitted = given_settings.fitted(decisions, fixed)
    assert fitted.model_copy(update={"num_steps": num_steps}) == given_settings
    assert min(num_steps, 8) <= fitted.num_steps <= num_steps
    if decisions is None or "num_steps" in fixed:
        assert fitted.num_steps == num_steps
    elif fitted.num_steps > 8:
        assert decisions // (num_envs * fitted.num_steps) >= 20
    if decisions is not None and decisions >= 20 * num_envs * num_steps:
        assert fitted == given_settings
