"""One trainer on the recorded kitchen, until it is ended from outside: ``contestants.py NAME STEPS_FILE FOLDER SEED``.

All have the plugin's hyperparameters: 4 environments in one process, rollouts of 32 steps, minibatches of 64, 8 epochs,
two hidden layers of 64 with tanh for actor and critic each, normalised observations and returns, one thread.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from replayed import ReplayedKitchen, Vector59, spec
from rlgpt.rl.base import Hyperparameters

BUDGET = 1_000_000
"""Steps no contestant reaches."""


def hyperparameters(ledger: Path) -> Hyperparameters:
    return Hyperparameters(**ReplayedKitchen().trainer_defaults(spec(ledger).task))


def ours(trainer: Any, ledger: Path, folder: Path, seed: int) -> None:
    trainer.train(spec(ledger), budget=BUDGET, seed=seed, folder=folder, hyperparameters=hyperparameters(ledger))


def sample_factory(ledger: Path, folder: Path, seed: int) -> None:
    """This project's adapter: a watched child process."""
    from rlgpt.rl.sample_factory import SampleFactory, SampleFactorySettings

    # halted between its turns, it must not be taken for hung
    ours(SampleFactory(SampleFactorySettings(heartbeat_timeout=3600)), ledger, folder, seed)


def ppo(ledger: Path, folder: Path, seed: int) -> None:
    """The built-in trainer."""
    from rlgpt.rl.ppo import PPO

    ours(PPO(), ledger, folder, seed)


def plain_sample_factory(ledger: Path, folder: Path, seed: int) -> None:
    """Sample Factory as its documentation has it, with the adapter's arguments where both have them."""
    from rlgpt.rl.sample_factory.settings import SampleFactorySettings, arguments
    from sample_factory.cfg.arguments import parse_full_cfg, parse_sf_args
    from sample_factory.envs.env_utils import register_env
    from sample_factory.train import run_rl

    h = hyperparameters(ledger)
    register_env("recorded_kitchen", plain_environment)
    argv = arguments(SampleFactorySettings(), h, folder=str(folder), seed=seed, gamma=0.99)
    given = dict(zip(argv[::2], argv[1::2], strict=True)) | {
        "--env": "recorded_kitchen",
        "--batch_size": str(h.minibatch_size),
        "--num_batches_per_epoch": str(h.num_envs * h.num_steps // h.minibatch_size),
        "--normalize_input": "True",
        "--nonlinearity": "tanh",
        "--adaptive_stddev": "False",
        "--initial_stddev": str(h.initial_std),
    }
    command = [word for pair in given.items() for word in pair]
    command += ["--encoder_mlp_layers", *map(str, h.hidden)]
    parser, _ = parse_sf_args(command)
    cfg = parse_full_cfg(parser, command)
    cfg.ledger = str(ledger)
    run_rl(cfg)


def plain_environment(name: str, cfg: Any, env_config: Any, render_mode: str | None = None) -> Any:
    """Sample Factory's environment factory: nothing of rlgpt but the task's environment."""
    return Vector59(ReplayedKitchen().make_env(spec(Path(cfg.ledger)).task, seed=0))


def stable_baselines3(ledger: Path, folder: Path, seed: int) -> None:
    """Stable-Baselines3's PPO on the flat view of the extended environment."""
    import torch
    from rlgpt import extend
    from rlgpt.options import flat_view
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    torch.set_num_threads(1)
    task, h, plugin = spec(ledger).task, hyperparameters(ledger), ReplayedKitchen()

    def make() -> Any:
        return Vector59(flat_view(extend(plugin.make_env(task, seed=0), plugin=plugin, task=task)))

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


def coded(kind: str, *, sandboxed: bool, ledger: Path, folder: Path, seed: int) -> None:
    """The built-in trainer with coded actions, in the sandbox or as plain generators."""
    from sandbox_training import train

    train(kind, sandboxed=sandboxed, ledger=ledger, folder=folder, seed=seed)


CONTESTANTS = {
    "sample_factory": sample_factory,
    "plain_sample_factory": plain_sample_factory,
    "ppo": ppo,
    "stable_baselines3": stable_baselines3,
    **{
        f"{name}_{kind}": lambda ledger, folder, seed, kind=kind, sandboxed=sandboxed: coded(
            kind, sandboxed=sandboxed, ledger=ledger, folder=folder, seed=seed
        )
        for name, sandboxed in (("sandboxed", True), ("generators", False))
        for kind in ("plain", "guarded")
    },
}

if __name__ == "__main__":
    CONTESTANTS[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
