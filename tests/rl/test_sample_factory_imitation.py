"""Self-imitation with Sample Factory: an episode can span several rollouts, which the learner receives in any order."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rlgpt.errors import TrainerError
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.checkpoint import BEST, Checkpoint
from rlgpt.rl.imitation import End, SelfImitation
from rlgpt.rl.sample_factory import SampleFactory, SampleFactorySettings
from rlgpt.rl.sample_factory.adapter import Adapter
from rlgpt.rl.sample_factory.episode_tag import EPISODE_TAG, TrajectoryReorderer
from rlgpt.rl.sample_factory.job import Job
from rlgpt.testing.counting import TO_ROW, counted, grid_spec
from rlgpt.testing.grid import TASKS, GridPlugin, grid_plugin
from sample_factory_parts import alloc_trajectory_tensors, get_rnn_size, job_of, made, opened

ROLLOUT = 4
ON = Hyperparameters(imitation_coef=0.5, imitation_capacity=300)

Rollout = tuple[dict[str, torch.Tensor], torch.Tensor, torch.Tensor]


def played(job: Job, index: int, rollouts: int) -> tuple[list[Rollout], SelfImitation]:
    """Return rollouts in the form of the library, and the self-imitation of the same decisions in sequence."""
    env, rng, direct = Adapter.build(job, index), np.random.default_rng(index), SelfImitation(ON)
    made: list[Rollout] = []
    (seen,), _ = env.reset()
    for _ in range(rollouts):
        observations, actions, dones = [seen], [], []
        for _ in range(ROLLOUT):
            action = int(rng.choice(6, p=[0.02, 0.02, 0.28, 0.28, 0.2, 0.2]))  # up, down, left, right, use, to_row
            entries = {key: torch.from_numpy(seen[key]).clone()[None] for key in ("obs", "action_mask")}
            (seen,), _, (terminated,), (truncated,), (info,) = env.step([action])
            done = bool(terminated or truncated)
            episode = info["episode_extra_stats"]["episode"] if done else None
            ends = [End(0, bool(episode["success"]), episode["total_reward"])] if episode else []
            direct.see(index, entries, torch.tensor([[float(action)]]), ends)
            observations.append(seen)
            actions.append([float(action)])
            dones.append(done)
        batch = {
            k: torch.from_numpy(np.stack([o[k] for o in observations])) for k in ("obs", "action_mask", EPISODE_TAG)
        }
        made.append((batch, torch.tensor(actions), torch.tensor(dones)))
    env.close()
    return made, direct


def batches(rollouts: list[Rollout], size: int) -> Iterator[tuple[Any, torch.Tensor, torch.Tensor, torch.Tensor]]:
    for at in range(0, len(rollouts), size):
        some = rollouts[at : at + size]
        observations = {key: torch.stack([r[0][key] for r in some]) for key in some[0][0]}
        lengths = torch.tensor([len(r[1]) for r in some])
        yield observations, torch.stack([r[1] for r in some]), torch.stack([r[2] for r in some]), lengths


def job(tmp_path: Path, **changes: Any) -> Job:
    folder = tmp_path / "train"
    folder.mkdir(exist_ok=True, parents=True)
    made = job_of(folder, grid_spec(tmp_path / "count", TO_ROW), **{"imitation_coef": 0.5, **changes})
    opened(made).close()
    return made


@pytest.mark.parametrize("shuffled", [False, True])
def test_trajectory_reorderer_restores_episodes_from_rollouts_in_any_order(shuffled: bool, tmp_path: Path) -> None:
    rollouts, direct = played(job(tmp_path), 1, 120)
    order = list(rollouts)
    # Rollouts change places within groups of 12, as with several batches in transit.
    if shuffled:
        rng = random.Random(0)
        order = [rollout for at in range(0, 120, 12) for rollout in rng.sample(rollouts[at : at + 12], 12)]
    imitation = SelfImitation(ON)
    follower = TrajectoryReorderer(imitation)
    for batch in batches(order, 3):
        follower.see(*batch)
    got, want = imitation.tensors(), direct.tensors()
    assert len(direct.memory) > 50
    assert got.keys() == want.keys()
    assert all(torch.equal(got[key], want[key]) for key in got)


def test_trajectory_reorderer_does_not_mix_rollouts_of_different_environments(tmp_path: Path) -> None:
    one, direct_one = played(job(tmp_path), 0, 60)
    two, direct_two = played(job(tmp_path), 1, 60)
    imitation = SelfImitation(ON)
    follower = TrajectoryReorderer(imitation)
    for batch in batches([r for pair in zip(one, two, strict=True) for r in pair], 2):
        follower.see(*batch)
    lengths = [*direct_one.memory.lengths, *direct_two.memory.lengths]
    assert sorted(imitation.memory.lengths) == sorted(lengths)
    assert len(lengths) > 5


def test_trajectory_reorderer_reads_only_the_decisions_of_a_lanes_rollout(tmp_path: Path) -> None:
    """The rollouts of lanes have different numbers of decisions; a rollout without a decision has no episode tag."""
    rollouts, direct = played(job(tmp_path), 0, 60)
    imitation = SelfImitation(ON)
    follower = TrajectoryReorderer(imitation)
    for observations, actions, dones in rollouts:
        for begin, end in ((0, 1), (1, 1), (1, ROLLOUT)):
            length = end - begin
            padded = {key: torch.full_like(values, -99)[None] for key, values in observations.items()}
            for key, values in observations.items():
                padded[key][0, : length + 1] = values[begin : end + 1]
            chosen, over = torch.full_like(actions, -99)[None], torch.ones_like(dones)[None]
            chosen[0, :length], over[0, :length] = actions[begin:end], dones[begin:end]
            follower.see(padded, chosen, over, torch.tensor([length]))
    got, want = imitation.tensors(), direct.tensors()
    assert len(direct.memory) > 20
    assert all(torch.equal(got[key], want[key]) for key in want)


def test_trajectory_reorderer_raises_an_error_for_a_missing_rollout(tmp_path: Path) -> None:
    rollouts, _ = played(job(tmp_path), 0, 80)
    follower = TrajectoryReorderer(SelfImitation(ON))

    def all_but_the_third() -> None:
        for batch in batches(rollouts[:2] + rollouts[3:], 1):
            follower.see(*batch)

    with pytest.raises(TrainerError, match="environment 0 from decision 8 on"):
        all_but_the_third()


def test_overwriting_a_batch_does_not_change_the_episodes_kept_for_imitation(tmp_path: Path) -> None:
    """The library reuses the same tensors for every batch."""
    rollouts, direct = played(job(tmp_path), 0, 60)
    imitation = SelfImitation(ON)
    follower = TrajectoryReorderer(imitation)
    for batch in batches(rollouts, 1):
        follower.see(*batch)
        for tensor in (*batch[0].values(), batch[1], batch[2]):
            tensor.zero_()
    assert torch.equal(imitation.tensors()["entry obs"], direct.tensors()["entry obs"])


def update(learner: Any, info: Any, cfg: Any, rollouts: list[Rollout], seed: int) -> None:
    """Run one training iteration of the learner on two rollouts."""
    torch.manual_seed(seed)
    np.random.seed(seed)
    batch = alloc_trajectory_tensors(info, 2, ROLLOUT, get_rnn_size(cfg), torch.device("cpu"), False)
    ((observations, actions, dones, _),) = batches(rollouts, 2)
    for key, values in batch["obs"].items():
        values.zero_() if key not in observations else values.copy_(observations[key])
    batch["obs"]["duration"].fill_(1)
    for key in ("rnn_states", "policy_version", "policy_id", "values", "log_prob_actions"):
        batch[key].zero_()
    batch["action_logits"].normal_()
    batch["actions"].copy_(actions.view_as(batch["actions"]))
    batch["dones"].copy_(dones)
    batch["time_outs"].copy_(dones)
    batch["rewards"].normal_()
    learner.train(batch)


@pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad:UserWarning")  # the library's own rule
def test_sample_factory_learner_imitates_kept_episodes_and_restores_them_after_a_resume(tmp_path: Path) -> None:
    rollouts, _ = played(job(tmp_path / "elsewhere"), 0, 80)
    learner, info, cfg = made(job(tmp_path))
    before = learner.train_step
    for at in range(0, 78, 2):
        update(learner, info, cfg, rollouts[at : at + 2], at)
    assert learner.imitation is not None
    assert len(learner.imitation.memory) > 0
    assert learner.train_step > before + 39 * learner.cfg.num_epochs
    learner.save()
    learner._follower._due.clear()  # The session ends, so its unfinished episodes are lost.
    learner.imitation._going_on.clear()

    resumed, _, _ = made(job(tmp_path))
    assert resumed.imitation is not None
    kept, there = learner.imitation.tensors(), resumed.imitation.tensors()
    assert all(torch.equal(kept[key], there[key]) for key in kept)
    for at in (0, 2, 4):
        for one in (learner, resumed):
            update(one, info, cfg, rollouts[at : at + 2], at)
    weights, again = learner.actor_critic.state_dict(), resumed.actor_critic.state_dict()
    assert all(torch.equal(weights[key], again[key]) for key in weights)


def test_sample_factory_without_imitation_has_no_episode_tag_and_no_imitation_memory(tmp_path: Path) -> None:
    off = job(tmp_path, imitation_coef=0.0)
    env = Adapter.build(off, 0)
    assert EPISODE_TAG not in env.observation_space.spaces
    (seen,), _ = env.reset()
    assert EPISODE_TAG not in seen
    env.close()
    learner, _, _ = made(off)
    assert learner.imitation is None
    learner.save()
    assert Checkpoint.load(off.folder).imitation is None


@pytest.mark.slow
def test_resumed_sample_factory_training_keeps_good_episodes(tmp_path: Path) -> None:
    spec, folder = grid_spec(tmp_path / "count", TO_ROW), tmp_path / "train"
    settings = ON.model_copy(update={"num_envs": 2, "num_steps": 16, "minibatch_size": 32})
    seen = 0.0
    for budget in (1500, 2000):
        record = SampleFactory().train(spec, budget=budget, seed=0, folder=folder, hyperparameters=settings)
        there = Checkpoint.load(folder).imitation
        assert there is not None
        assert len(there["lengths"]) > 0
        assert there["returns"][0] > seen, "a resumed training continues the count of returns"
        seen = float(there["returns"][0])
    assert record.primitive_steps == counted(tmp_path / "count")
    assert Checkpoint.load(folder, BEST).imitation is None


@pytest.mark.slow
@pytest.mark.parametrize("asynchronous", [False, True])
def test_parallel_sample_factory_keeps_whole_episodes(asynchronous: bool, tmp_path: Path) -> None:
    """In each kept episode, key and door do not move, and only the last decision can find the key."""
    spec, folder = grid_spec(tmp_path / "count", TO_ROW), tmp_path / "train"
    settings = ON.model_copy(update={"num_envs": 4, "num_steps": 16, "minibatch_size": 32})
    how = SampleFactorySettings(mode="parallel", workers=2, splits=2, asynchronous=asynchronous)
    SampleFactory(how).train(spec, budget=3000, seed=0, folder=folder, hyperparameters=settings)
    kept = Checkpoint.load(folder).imitation
    assert kept is not None
    episodes = torch.split(kept["entry obs"], kept["lengths"].tolist())
    assert len(episodes) > 5
    for seen in episodes:  # agent 0:2, key 2:4, door 4:6, held 6
        assert bool((seen[:, 2:6] == seen[0, 2:6]).all()), "key and door do not move in one episode"
        assert not bool(seen[:, 6].any()), "the key is only held after the last decision"


@pytest.mark.slow
def test_sample_factory_learns_a_sparse_reward_with_imitation(tmp_path: Path) -> None:
    task = TASKS["grid/key"]
    setup = GridPlugin().default_setup(task).model_copy(update={"reward_weights": {"env_reward": 1.0}})
    spec = EnvSpec(task, setup, factory=grid_plugin)

    def late_success(coef: float, seed: int) -> float:
        settings = Hyperparameters(ent_coef=0.01, imitation_coef=coef)
        folder = tmp_path / f"{coef}-{seed}"
        curve = SampleFactory().train(spec, budget=15_000, seed=seed, folder=folder, hyperparameters=settings).curve
        return float(np.mean([p.success for p in curve[-len(curve) // 5 :]]))

    on, off = (np.mean([late_success(coef, seed) for seed in (0, 1)]) for coef in (0.5, 0.0))
    assert on > off + 0.2
