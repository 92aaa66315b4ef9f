"""Reinforcement learning with options. This package has three trainers, the environment of a training, and the
evaluation of policies and code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlgpt.lazy import lazy_exports

__all__ = [
    "PPO",
    "SAC",
    "STEPS_FILE",
    "EnvSpec",
    "Hyperparameters",
    "Policy",
    "PolicyEnv",
    "Progress",
    "SampleFactory",
    "StepCounter",
    "Trainer",
    "build",
    "evaluate",
    "evaluate_code",
]

if TYPE_CHECKING:
    from rlgpt.rl.base import EnvSpec, Hyperparameters, Policy, Progress, Trainer
    from rlgpt.rl.evaluation import evaluate, evaluate_code
    from rlgpt.rl.policy_env import PolicyEnv, build
    from rlgpt.rl.ppo import PPO
    from rlgpt.rl.sac import SAC
    from rlgpt.rl.sample_factory import SampleFactory
    from rlgpt.rl.step_counter import STEPS_FILE, StepCounter
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "rlgpt.rl.base": ("EnvSpec", "Hyperparameters", "Policy", "Progress", "Trainer"),
            "rlgpt.rl.evaluation": ("evaluate", "evaluate_code"),
            "rlgpt.rl.policy_env": ("PolicyEnv", "build"),
            "rlgpt.rl.ppo": ("PPO",),
            "rlgpt.rl.sac": ("SAC",),
            "rlgpt.rl.sample_factory": ("SampleFactory",),
            "rlgpt.rl.step_counter": ("STEPS_FILE", "StepCounter"),
        },
    )
