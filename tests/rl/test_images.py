"""Image observations in both trainers: policies learn from images, and images are bytes everywhere before the
network.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import torch
from rlgpt.errors import ConfigError
from rlgpt.rl.base import EnvSpec, Hyperparameters, Trainer
from rlgpt.rl.checkpoint import Checkpoint
from rlgpt.rl.evaluation import evaluate
from rlgpt.rl.learner import Learner
from rlgpt.rl.network import ActorCritic
from rlgpt.rl.policy_env import build
from rlgpt.rl.ppo import PPO
from rlgpt.rl.rollout import Collector, Rollout
from rlgpt.rl.sample_factory import SampleFactory, SampleFactorySettings
from rlgpt.rl.training_stats import TrainingStats, TrainingStatsState
from rlgpt.rl.vector import LocalVector
from sample_factory_parts import alloc_trajectory_tensors, get_rnn_size, job_of, made
from sight import HORIZON, spec

SMALL = Hyperparameters(num_envs=4, num_steps=16, minibatch_size=32, update_epochs=4, imitation_coef=0.1)
CHANCE = 0.5


def learns(trainer: Trainer, recipe: EnvSpec, folder: Path, *, budget: int, **changes: Any) -> Path:
    """Check that the mean reward of a step is about 0.5 for an untrained policy and above 0.9 after ``budget`` steps of
    training.
    """
    settings = SMALL.model_copy(update=changes)
    trainer.train(recipe, budget=budget, seed=0, folder=folder, hyperparameters=settings)
    found = evaluate(trainer.load(folder, recipe), recipe, seeds=range(20), greedy=True)
    assert found.mean_reward / HORIZON > 0.9
    fresh = trainer.untrained(recipe, seed=0, hyperparameters=settings)
    assert evaluate(fresh, recipe, seeds=range(20), greedy=False).mean_reward / HORIZON < CHANCE + 0.15
    return folder


@pytest.mark.parametrize(
    ("first", "coded"),
    [
        pytest.param(False, False, marks=pytest.mark.slow, id="H,W,3"),
        pytest.param(True, True, id="3,H,W with a selector"),
    ],
)
def test_ppo_learns_from_image_observations(first: bool, coded: bool, tmp_path: Path) -> None:
    learns(PPO(segments=3), spec(16, first=first, coded=coded), tmp_path, budget=900)
    kept = Checkpoint.load(tmp_path).imitation
    assert kept is not None
    assert kept["entry image_eye"].dtype == torch.uint8
    assert kept["entry image_eye"].shape[1:] == ((3, 16, 16) if first else (16, 16, 3))


@pytest.mark.slow
@pytest.mark.parametrize("encoder", ["nature", "impala"])
def test_ppo_learns_from_images_with_each_encoder(encoder: str, tmp_path: Path) -> None:
    learns(PPO(segments=3), spec(36, first=True), tmp_path, budget=900, encoder=encoder, learning_rate=5e-4)


@pytest.mark.slow
def test_sample_factory_learns_from_image_observations(tmp_path: Path) -> None:
    learns(SampleFactory(), spec(16, first=True, coded=True), tmp_path, budget=900)
    kept = Checkpoint.load(tmp_path).imitation
    assert kept is not None
    assert kept["entry image_eye"].dtype == torch.uint8


@pytest.mark.slow
@pytest.mark.parametrize(("first", "coded"), [(True, True), (False, False)])
def test_sample_factory_in_parallel_mode_learns_from_image_observations(
    first: bool, coded: bool, tmp_path: Path
) -> None:
    settings = SampleFactorySettings(mode="parallel", workers=2)
    learns(SampleFactory(settings), spec(16, first=first, coded=coded), tmp_path, budget=900)


def rollout(recipe: EnvSpec, network: ActorCritic, folder: Path) -> Rollout:
    generator = torch.Generator().manual_seed(0)
    with LocalVector(recipe, [0, 1], folder / "steps") as vector:
        return Collector(vector, network, generator, TrainingStats(TrainingStatsState())).collect(8, lambda: False)


@pytest.mark.parametrize("encoder", ["small", "impala"])
def test_images_stay_bytes_until_the_network_reads_a_minibatch(encoder: str, tmp_path: Path) -> None:
    recipe = spec(16, first=False)
    settings = SMALL.model_copy(update={"minibatch_size": 5, "num_steps": 8, "num_envs": 2, "encoder": encoder})
    env = build(recipe, seed=0)
    network = ActorCritic.of(env, settings, seed=0)
    env.close()
    seen: list[torch.Tensor] = []
    for torso in (network.actor, network.critic):
        torso.image_encoders["image_eye"].register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    played = rollout(recipe, network, tmp_path)
    assert played.observations["image_eye"].dtype == torch.uint8
    seen.clear()
    Learner(network, settings, 0.9).update(played, torch.Generator())
    assert seen
    assert {image.dtype for image in seen} == {torch.uint8}
    assert max(len(image) for image in seen) <= 5


def test_advantages_do_not_depend_on_the_minibatch_size(tmp_path: Path) -> None:
    recipe = spec(16, first=False)
    env = build(recipe, seed=0)
    network = ActorCritic.of(env, SMALL, seed=0)
    env.close()
    played = rollout(recipe, network, tmp_path)
    whole, parts = (Learner(network, SMALL.model_copy(update={"minibatch_size": n}), 0.9) for n in (1000, 3))
    with torch.no_grad():
        for one, other in zip(whole._advantages(played), parts._advantages(played), strict=True):
            torch.testing.assert_close(one, other)


@pytest.mark.parametrize("keys", [("eye", "step"), ("eye",)])
def test_sample_factory_passes_images_to_the_network_as_bytes(keys: tuple[str, ...], tmp_path: Path) -> None:
    recipe = spec(16, first=True)
    recipe = dataclasses.replace(recipe, setup=recipe.setup.model_copy(update={"observation_keys": keys}))
    learner, info, cfg = made(job_of(tmp_path, recipe))
    batch = alloc_trajectory_tensors(info, 2, cfg.rollout, get_rnn_size(cfg), torch.device("cpu"), False)
    pictures = {key: values for key, values in batch["obs"].items() if "image_eye" in key}
    assert set(pictures) == {"image_eye", "last_image_eye"}
    assert {values.dtype for values in pictures.values()} == {torch.uint8}
    seen: list[torch.Tensor] = []
    network = learner.actor_critic.network
    for torso in (network.actor, network.critic):
        torso.image_encoders["image_eye"].layers.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    for key, values in batch["obs"].items():
        values.fill_(255 if key in pictures else 0)
    for key in ("rnn_states", "policy_version", "policy_id", "values", "actions", "log_prob_actions", "rewards"):
        batch[key].zero_()
    batch["action_logits"].zero_()
    batch["dones"].fill_(False)
    batch["dones"][0, 1] = batch["time_outs"][0, 1] = True
    buffer, _, _ = learner._prepare_batch(batch)
    assert buffer["normalized_obs"]["image_eye"].dtype == torch.uint8
    assert {float(pixels.max()) for pixels in seen} == {1.0}


def test_trainers_refuse_an_image_that_is_too_small_for_the_encoder(tmp_path: Path) -> None:
    settings, recipe = SMALL.model_copy(update={"encoder": "nature"}), spec(16, first=True)
    for trainer in (PPO(), SampleFactory()):
        folder = tmp_path / trainer.name
        with pytest.raises(ConfigError, match=r"^encoder=nature needs images of at least 36"):
            trainer.check(recipe, settings)
        with pytest.raises(ConfigError, match=r"^encoder=nature needs images of at least 36"):
            trainer.train(recipe, budget=50, seed=0, folder=folder, hyperparameters=settings)
