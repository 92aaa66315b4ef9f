"""Configures Sample Factory without rlgpt's adapter, for comparisons with the adapter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlgpt.rl.base import Hyperparameters
    from rlgpt.rl.sample_factory import SampleFactorySettings


def plain_config(
    name: str,
    make_env: Callable[..., Any],
    settings: SampleFactorySettings,
    hyperparameters: Hyperparameters,
    *,
    folder: Path,
    seed: int,
    **more: str,
) -> Any:
    """Register the environment ``name`` as Sample Factory's documentation describes, and return the configuration of
    its training, with the adapter's arguments where possible.

    :param make_env: Sample Factory's factory of the environment.
    :param more: further arguments of Sample Factory.
    """
    from rlgpt.rl.sample_factory.settings import arguments
    from sample_factory.cfg.arguments import parse_full_cfg, parse_sf_args
    from sample_factory.envs.env_utils import register_env

    h = hyperparameters
    register_env(name, make_env)
    argv = arguments(settings, h, folder=str(folder), seed=seed, gamma=0.99)
    options = dict(zip(argv[::2], argv[1::2], strict=True)) | {
        "--env": name,
        "--batch_size": str(h.minibatch_size),
        "--num_batches_per_epoch": str(h.num_envs * h.num_steps // h.minibatch_size),
        "--normalize_input": "True",
        "--nonlinearity": "tanh",
        "--adaptive_stddev": "False",
        "--initial_stddev": str(h.initial_std),
        **{f"--{argument}": value for argument, value in more.items()},
    }
    command = [word for pair in options.items() for word in pair]
    command += ["--encoder_mlp_layers", *map(str, h.hidden)]
    parser, _ = parse_sf_args(command)
    return parse_full_cfg(parser, command)
