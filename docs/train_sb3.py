"""Stable-Baselines3's PPO with a bundle's coded actions. Of rlgpt, the script uses only ``extend``, ``flat_view`` and
the errors.

    make guest && pip install ./core stable-baselines3                    # in rlgpt's repository; make setup has both
    python docs/train_sb3.py examples/design/bundles/lunar_lander LunarLander-v3
    python docs/train_sb3.py none LunarLander-v3                          # without coded actions, to compare
    python docs/train_sb3.py examples/design/bundles/doorkey --make examples/design/worlds.py:doorkey

The script counts primitive steps, so that runs with and without coded actions can be compared at equal numbers of
steps. Stable-Baselines3's PPO ignores the durations of decisions and the action masks. The value after a decision of k
steps (``info["duration"]``) should be discounted by gamma^k, but Stable-Baselines3's PPO discounts this value by gamma.
If the policy chooses a masked action (``info["action_mask"]``), the environment takes one idle step. The script
train_cleanrl.py has a PPO that uses durations and masks.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import rlgpt
from gymnasium import spaces
from rlgpt.errors import RlgptError
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv

Make = Callable[[], gymnasium.Env[Any, Any]]


def maker(env_id: str | None, function: str | None) -> Make:
    """Return the function that makes the environment, which is gymnasium.make or the named MODULE:FUNCTION or
    FILE.py:FUNCTION.
    """
    if function is None:
        return functools.partial(gymnasium.make, env_id or "")
    module, _, name = function.rpartition(":")
    if module.endswith(".py"):
        sys.path.insert(0, str(Path(module).parent))
        module = Path(module).stem
    make: Make = getattr(importlib.import_module(module), name)
    return make


def extended(make: Make, bundle: str, gamma: float) -> gymnasium.Env[Any, Any]:
    """Return the environment with the bundle's actions and with spaces that Stable-Baselines3 accepts.

    Coded actions need the original observation, so the wrapper that flattens the observation is outside the extension.
    """
    env = rlgpt.flat_view(rlgpt.extend(make(), actions=() if bundle == "none" else bundle, gamma=gamma))
    return env if picture(env.observation_space) else Flat(env)


class Flat(gymnasium.wrappers.FlattenObservation):
    """A wrapper that returns all parts of the observation as one vector. Pixels are scaled to 0 to 1, because values up
    to 255 would dominate the other values.

    :ivar pixels: the number of pixels in the vector.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self.scale = scale(env.observation_space)
        self.pixels = int((self.scale != 1).sum())
        if self.pixels:
            low, high = (
                bound.reshape(-1) * self.scale for bound in (self.observation_space.low, self.observation_space.high)
            )
            self.observation_space = spaces.Box(low.astype(np.float32), high.astype(np.float32))

    def observation(self, observation: Any) -> Any:
        flat = super().observation(observation)
        return (flat * self.scale).astype(np.float32) if self.pixels else flat


def scale(space: spaces.Space[Any]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return the factor by which each number of the flattened observation is multiplied."""
    if isinstance(space, spaces.Dict | spaces.Tuple):
        parts = space.spaces.values() if isinstance(space, spaces.Dict) else space.spaces
        return np.concatenate([scale(part) for part in parts])
    return np.full(spaces.flatdim(space), 1 / 255 if picture(space) else 1, np.float32)


def begins(env: gymnasium.Env[Any, Any], bundle: str, steps: int) -> str:
    """Return the text about the environment, the actions and the observation that is printed before the first
    update.
    """
    seen = env.observation_space.shape
    pixels = env.pixels if isinstance(env, Flat) else 0
    note = f" ({pixels} of them pixels, scaled to 0..1: only a picture alone is convolved)" if pixels else ""
    return f"{bundle}: actions {env.action_space}, observation {seen}{note}, {steps} primitive steps"


def picture(space: spaces.Space[Any]) -> bool:
    """Return whether the observation is an image for a convolutional policy."""
    return space.dtype == np.uint8 and len(space.shape or ()) == 3 and sorted(space.shape or ())[1] >= 36


class Steps(BaseCallback):
    """Counts primitive steps and undiscounted returns, and ends the training when the budget is spent."""

    def __init__(self, budget: int) -> None:
        super().__init__()
        self.budget, self.spent = budget, 0
        self.running: dict[int, float] = {}
        self.returns: list[float] = []

    def _on_step(self) -> bool:
        for i, (info, done) in enumerate(zip(self.locals["infos"], self.locals["dones"], strict=True)):
            self.spent += info["duration"]
            self.running[i] = self.running.get(i, 0.0) + info["total_reward"]
            if done:
                self.returns.append(self.running.pop(i))
        return self.spent < self.budget


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("bundle", help="a bundle's folder, or none")
    parser.add_argument("env_id", nargs="?", help="as gymnasium knows it")
    parser.add_argument("--make", metavar="MODULE:FUNCTION", help="makes the environment instead; or FILE.py:FUNCTION")
    parser.add_argument("--total-steps", type=int, default=100_000, help="primitive steps")
    parser.add_argument("--num-envs", type=int, default=4)
    parser.add_argument("--num-steps", type=int, default=128, help="decisions of each environment between updates")
    parser.add_argument("--gamma", type=float, default=0.99, help="discount of a primitive step")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if (given.env_id is None) == (given.make is None):
        parser.error("name the environment: either ENV_ID or --make MODULE:FUNCTION.")
    make = functools.partial(extended, maker(given.env_id, given.make), given.bundle, given.gamma)
    try:
        envs, steps = DummyVecEnv([make] * given.num_envs), Steps(given.total_steps)
    except (RlgptError, gymnasium.error.Error) as fault:
        parser.error(str(fault))
    print(begins(envs.envs[0], given.bundle, given.total_steps), flush=True)
    policy = "CnnPolicy" if picture(envs.envs[0].observation_space) else "MlpPolicy"
    settings = {
        "n_steps": given.num_steps,
        "batch_size": 128,
        "gamma": given.gamma,
        "seed": given.seed,
        "device": "cpu",
    }
    PPO(policy, envs, **settings).learn(given.total_steps, callback=steps)
    last = steps.returns[-20:]
    mean = f"{np.mean(last):.2f}" if last else "unknown"
    print(f"{steps.spent} primitive steps, mean reward of the last {len(last)} episodes {mean}")


if __name__ == "__main__":
    main()
