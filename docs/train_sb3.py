"""Stable-Baselines3's PPO with a bundle's coded actions: nothing of rlgpt but ``extend`` and ``flat_view``.

python docs/train_sb3.py examples/anywhere/bundles/lunar_lander LunarLander-v3
python docs/train_sb3.py none LunarLander-v3                          # without them, to compare
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium
import rlgpt
from stable_baselines3 import PPO
from stable_baselines3.common.monitor import Monitor


def make(bundle: str, env_id: str) -> gymnasium.Env[Any, Any]:
    """The environment with the bundle's actions, with spaces that Stable-Baselines3 takes."""
    env = gymnasium.wrappers.FlattenObservation(gymnasium.make(env_id))
    return rlgpt.flat_view(rlgpt.extend(env, actions=() if bundle == "none" else bundle))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("bundle", help="a bundle's folder, or none")
    parser.add_argument("env_id")
    parser.add_argument("--decisions", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    env = Monitor(make(given.bundle, given.env_id), info_keywords=("primitive_steps",))
    PPO("MlpPolicy", env, n_steps=512, batch_size=64, gamma=0.99, seed=given.seed, device="cpu").learn(given.decisions)
    rewards, steps = env.get_episode_rewards()[-20:], env.get_total_steps()
    print(
        f"{steps} decisions, mean reward of the last {len(rewards)} episodes {sum(rewards) / max(1, len(rewards)):.2f}"
    )


if __name__ == "__main__":
    main()
