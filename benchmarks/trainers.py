"""Runs one trainer on the recorded kitchen until another process ends it (``trainers.py NAME STEPS_FILE FOLDER SEED``).

All trainers have the same hyperparameters, which are those of a run on the kitchen: 8 environments in one process,
rollouts of 64 steps, minibatches of 64 steps, 8 epochs, two hidden layers of 64 units with tanh for actor and critic
each, and normalised observations and returns. All trainers use one thread.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from plain_sample_factory import plain_config
from recorded_kitchen import BUDGET, FlatObservation, RecordedKitchen, hyperparameters, recorded_spec


def sample_factory(steps_file: Path, folder: Path, seed: int) -> None:
    """Run rlgpt's adapter of Sample Factory, which trains in a supervised child process."""
    from rlgpt.rl.sample_factory import SampleFactory, SampleFactorySettings

    # A suspended trainer must not count as hung.
    _train(SampleFactory(SampleFactorySettings(heartbeat_timeout=3600)), steps_file, folder, seed)


def ppo(steps_file: Path, folder: Path, seed: int) -> None:
    """Run the built-in PPO."""
    from rlgpt.rl.ppo import PPO

    _train(PPO(), steps_file, folder, seed)


def _train(trainer: Any, steps_file: Path, folder: Path, seed: int) -> None:
    spec = recorded_spec(steps_file)
    trainer.train(spec, budget=BUDGET, seed=seed, folder=folder, hyperparameters=hyperparameters(steps_file))


def plain_sample_factory(steps_file: Path, folder: Path, seed: int) -> None:
    """Run Sample Factory without rlgpt's adapter."""
    from rlgpt.rl.sample_factory import SampleFactorySettings
    from sample_factory.train import run_rl

    settings, h = SampleFactorySettings(), hyperparameters(steps_file)
    cfg = plain_config("recorded_kitchen", plain_environment, settings, h, folder=folder, seed=seed)
    cfg.steps_file = str(steps_file)
    run_rl(cfg)


def plain_environment(name: str, cfg: Any, env_config: Any, render_mode: str | None = None) -> Any:
    """Make the environment for Sample Factory. The environment factory uses no part of rlgpt except the task's
    environment.
    """
    return FlatObservation(RecordedKitchen().make_env(recorded_spec(Path(cfg.steps_file)).task, seed=0))


def stable_baselines3(steps_file: Path, folder: Path, seed: int) -> None:
    """Run Stable-Baselines3's PPO on the flat view of the extended environment."""
    import torch
    from rlgpt import extend
    from rlgpt.options import flat_view
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    torch.set_num_threads(1)
    task, h, plugin = recorded_spec(steps_file).task, hyperparameters(steps_file), RecordedKitchen()

    def make() -> Any:
        return FlatObservation(flat_view(extend(plugin.make_env(task, seed=0), plugin=plugin, task=task)))

    model = PPO(
        "MlpPolicy",
        VecNormalize(DummyVecEnv([make] * h.num_envs)),
        n_steps=h.num_steps,
        batch_size=h.minibatch_size,
        n_epochs=h.update_epochs,
        learning_rate=h.learning_rate,
        policy_kwargs={"net_arch": {"pi": list(h.hidden), "vf": list(h.hidden)}, "log_std_init": -0.5},
        device="cpu",
        seed=seed,
    )
    model.learn(BUDGET)


TRAINERS = {
    "sample_factory": sample_factory,
    "plain_sample_factory": plain_sample_factory,
    "ppo": ppo,
    "stable_baselines3": stable_baselines3,
}

if __name__ == "__main__":
    TRAINERS[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
