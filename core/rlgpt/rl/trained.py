"""Loads the policy of a training by any of the built-in trainers."""

from __future__ import annotations

from pathlib import Path

from rlgpt.rl.base import EnvSpec, Policy
from rlgpt.rl.checkpoint import Checkpoint
from rlgpt.rl.ppo import PPO
from rlgpt.rl.sac import SAC

_ONLY_SAC = "_prior_mean"
"""Name of a weight that only the network of soft actor-critic has. Sample Factory writes checkpoints of PPO."""


def trained_policy(folder: Path, spec: EnvSpec) -> Policy:
    """Load the best policy of the training in ``folder``.

    :param spec: the recipe with which the policy was trained.
    :raises TrainerError: ``folder`` contains no policy, or the policy does not fit ``spec``.
    """
    is_sac = _ONLY_SAC in Checkpoint.load_best(folder).weights
    return (SAC() if is_sac else PPO()).load(folder, spec)
