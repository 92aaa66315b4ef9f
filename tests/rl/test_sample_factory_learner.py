"""The learner for Sample Factory: distribution, advantages, batches, and the best checkpoint."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from rlgpt.rl.checkpoint import BEST, Checkpoint
from rlgpt.rl.distribution import BranchedDistribution
from rlgpt.rl.policy_env import build
from rlgpt.rl.sample_factory.entries import LAST
from sample_factory_parts import (
    FORK,
    OptionActorCritic,
    alloc_trajectory_tensors,
    gae_advantages,
    get_rnn_size,
    job_of,
    made,
)


def test_action_logits_stored_by_sample_factory_give_the_masked_distribution(tmp_path: Path) -> None:
    learner, _, _ = made(job_of(tmp_path))
    model = learner.actor_critic.double()
    model.network.output.weight.data.normal_()
    seen = {"obs": torch.randn(64, 3, dtype=torch.float64), "action_mask": (torch.rand(64, 3) < 0.6).double()}
    seen["action_mask"][:, 0] = 1
    head = model.forward_head(seen)
    result = model.forward_tail(head, values_only=False, sample_actions=True)
    direct: BranchedDistribution = model.network.distribution(seen)
    stored = model.distribution(result["action_logits"])
    for got, want in (
        (result["log_prob_actions"], direct.log_prob(result["actions"])),
        (stored.entropy(), direct.entropy()),
        (stored.kl(direct), torch.zeros(64)),
        (result["values"], model.network.scaled_value(seen)),
    ):
        assert float((got - want).detach().abs().max()) < 1e-6
    assert seen["action_mask"].gather(1, result["actions"][:, :1].long()).min() == 1


def random_rollouts(seed: int) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    rewards, values, last = draw(3, 9), draw(3, 10), draw(3, 9)
    dones = torch.rand(3, 9, generator=generator) < 0.3
    cut = dones & (torch.rand(3, 9, generator=generator) < 0.5)
    durations = torch.randint(1, 20, (3, 9), generator=generator).double()
    return rewards, values, last, durations, dones, cut


@pytest.mark.parametrize("seed", range(5))
def test_sample_factory_advantages_equal_the_direct_sum(seed: int, tmp_path: Path) -> None:
    learner, _, cfg = made(job_of(tmp_path))
    rewards, values, last, durations, dones, cut = random_rollouts(seed)
    following = torch.where(cut, last, values[:, 1:])
    got, targets = learner.advantages(rewards, values[:, :-1], following, durations, dones, cut)
    want = torch.zeros_like(rewards)
    for env in range(3):
        for t in range(9):
            weight = 1.0
            for i in range(t, 9):
                discount = cfg.gamma ** float(durations[env, i])
                bootstrap = 0.0 if dones[env, i] and not cut[env, i] else discount * float(following[env, i])
                want[env, t] += weight * (float(rewards[env, i]) + bootstrap - float(values[env, i]))
                if dones[env, i]:
                    break
                weight *= discount * cfg.gae_lambda
    assert float((got - want).abs().max()) < 1e-6
    assert float((targets - want - values[:, :-1]).abs().max()) < 1e-6


@pytest.mark.parametrize("semi_markov", [True, False])
def test_advantages_of_decisions_of_one_step_equal_sample_factorys_own_advantages(
    semi_markov: bool, tmp_path: Path
) -> None:
    learner, _, cfg = made(job_of(tmp_path, semi_markov=semi_markov))
    rewards, values, _, durations, dones, _ = random_rollouts(0)
    durations = torch.ones_like(durations) if semi_markov else durations
    got, _ = learner.advantages(rewards, values[:, :-1], values[:, 1:], durations, dones, torch.zeros_like(dones))
    own = gae_advantages(rewards, dones, values, torch.ones(3, 10), cfg.gamma, cfg.gae_lambda)
    assert float((got - own).abs().max()) < 1e-6


def test_advantage_of_a_truncated_episode_uses_the_value_of_its_last_observation(tmp_path: Path) -> None:
    learner, info, cfg = made(job_of(tmp_path, normalize_returns=False, normalize_observations=False))
    batch = alloc_trajectory_tensors(info, 2, cfg.rollout, get_rnn_size(cfg), torch.device("cpu"), False)
    for key, shape in (("obs", (2, 5, 3)), (LAST + "obs", (2, 5, 3))):
        batch["obs"][key].copy_(torch.randn(shape))
    batch["obs"]["action_mask"].fill_(1)
    batch["obs"]["duration"].copy_(torch.randint(1, 9, (2, 5, 1)))
    for key in ("rnn_states", "actions", "log_prob_actions", "policy_version", "policy_id"):
        batch[key].zero_()
    batch["action_logits"].normal_()
    batch["rewards"].normal_()
    for key in ("dones", "time_outs", "valids"):
        batch[key].fill_(False)
    batch["dones"][0, 1] = batch["time_outs"][0, 1] = batch["dones"][1, 2] = True
    values = learner.actor_critic.values({"obs": batch["obs"]["obs"].reshape(10, 3)}).detach().view(2, 5)
    batch["values"].copy_(values)
    rewards, lasts = batch["rewards"].clone(), batch["obs"][LAST + "obs"].clone()
    durations = batch["obs"]["duration"][:, 1:, 0].clone()
    buffer, size, invalid = learner._prepare_batch(batch)
    assert (size, invalid) == (8, 0)
    cut_value = learner.actor_critic.values({"obs": lasts[0, 2:3]}).item()
    want = rewards[0, 1] + cfg.gamma ** durations[0, 1] * cut_value - values[0, 1]
    assert float(buffer["advantages"][1]) == pytest.approx(float(want), abs=1e-5)
    assert float(buffer["advantages"][4 + 2]) == pytest.approx(float(rewards[1, 2] - values[1, 2]), abs=1e-5)


def test_minibatches_of_the_sample_factory_learner_cover_a_rollout_once(tmp_path: Path) -> None:
    learner, _, _ = made(job_of(tmp_path))
    learner.cfg.num_batches_per_epoch = 3
    parts = learner._get_minibatches(3, 8)
    assert sorted(np.concatenate(parts)) == list(range(8))
    assert max(map(len, parts)) <= 3


def test_sample_factory_learner_saves_the_weights_with_the_best_performance(tmp_path: Path) -> None:
    job = job_of(tmp_path)
    learner, _, _ = made(job)
    assert not learner.save_best(0, "", None)
    assert not (tmp_path / BEST).exists()
    bias = learner.actor_critic.network.output.bias.data
    for value, score, kept in ((1.0, (0.5, 1.0), 1.0), (2.0, (0.5, 1.0), 2.0), (3.0, (0.4, 9.0), 2.0)):
        bias.fill_(value)
        assert learner.save_best(0, "", score) == (kept == value)
        assert float(Checkpoint.load(tmp_path, BEST).weights["output.bias"][0]) == kept
    learner.save()

    resumed, _, _ = made(job)
    assert float(resumed.actor_critic.network.output.bias.data[0]) == 3.0
    assert not resumed.save_best(0, "", (0.4, 9.0))
    assert resumed.save_best(0, "", (0.5, 1.0))

    resumed.actor_critic.network.output.bias.data.fill_(4.0)
    resumed.save()
    (tmp_path / "warm").mkdir()
    warm, _, _ = made(dataclasses.replace(job, folder=tmp_path / "warm", warm_start=tmp_path))
    assert float(warm.actor_critic.network.output.bias.data[0]) == 3.0
    assert warm.save_best(0, "", (0.0, 0.0)), "a warm start does not copy the performance of the earlier training"


@pytest.mark.parametrize("gamma", [FORK.setup.gamma, 0.5])
def test_sample_factory_warm_start_keeps_value_weights_only_if_gamma_is_equal(gamma: float, tmp_path: Path) -> None:
    job = job_of(tmp_path)
    cold, _, _ = made(job)
    cold.actor_critic.network.returns.update(torch.randn(100, 1))
    cold.actor_critic.network.value.weight.data.fill_(7.0)
    cold.actor_critic.network.output.bias.data.fill_(7.0)
    cold.save()
    spec = dataclasses.replace(FORK, setup=FORK.setup.model_copy(update={"gamma": gamma}))
    (tmp_path / "warm").mkdir()
    warm, _, _ = made(dataclasses.replace(job, spec=spec, folder=tmp_path / "warm", warm_start=tmp_path))
    network, kept = warm.actor_critic.network, gamma == FORK.setup.gamma
    assert float(network.returns.count) == (100 if kept else 0)
    assert bool((network.value.weight == 7).all()) == kept
    assert bool((network.output.bias == 7).all())


def test_sample_factory_model_accepts_images(tmp_path: Path) -> None:
    from gymnasium import spaces
    from sample_factory.utils.attr_dict import AttrDict

    job = job_of(tmp_path)
    box = spaces.Box(0, 255, (16, 16, 3), np.uint8)
    space = spaces.Dict({"image_eye": box, "action_mask": spaces.Box(0, 1, (3,))})
    env = build(FORK, seed=0)
    cfg = AttrDict(job=job, layout=env.layout, observation_names=())
    model = OptionActorCritic(cfg, space, None)
    seen = {"image_eye": torch.randint(0, 255, (5, 16, 16, 3), dtype=torch.uint8), "action_mask": torch.ones(5, 3)}
    result = model(model.normalize_obs(seen), torch.zeros(5, 2))
    assert result["values"].shape == (5,)
    assert result["action_logits"].shape == (5, 3)
