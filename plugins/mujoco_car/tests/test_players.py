"""Scripted players that use primitives solve the tasks. Random and constant actions do not."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from rlgpt.testing.player import Player
from rlgpt_mujoco_car.plugin import CarPlugin

_spec = importlib.util.spec_from_file_location("car_players", Path(__file__).with_name("players.py"))
assert _spec is not None
assert _spec.loader is not None
players = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(players)


def success_rate(plugin: CarPlugin, name: str, episodes: int) -> float:
    play = Player(plugin, plugin.tasks()[f"mujoco_car/{name}"])
    wins = 0
    for seed in range(episodes):
        play.reset(seed)
        players.PLAYERS[name](play)
        wins += play.success
    play.env.close()
    return wins / episodes


@pytest.mark.parametrize("name", ["blocked_start", "parking", "hill", "winding_road"])
def test_a_script_of_primitives_succeeds_in_three_of_five_episodes(plugin: CarPlugin, name: str) -> None:
    assert success_rate(plugin, name, 5) >= 0.6


@pytest.mark.slow
@pytest.mark.parametrize("name", list(players.PLAYERS))
def test_a_script_of_primitives_succeeds_in_four_of_five_episodes(plugin: CarPlugin, name: str) -> None:
    assert success_rate(plugin, name, 50) >= 0.8


CONSTANT_ACTIONS = {"forward": (1, 0), "backward": (-1, 0), "left": (0.5, 0.5), "right": (0.5, -0.5), "still": (0, 0)}


def successes(plugin: CarPlugin, name: str, kind: str, episodes: int) -> int:
    """Return the number of successes of random actions or of one of the :data:`CONSTANT_ACTIONS`."""
    env = plugin.make_env(plugin.tasks()[f"mujoco_car/{name}"], seed=0)
    rng = np.random.default_rng(0)
    wins = 0
    for seed in range(episodes):
        env.reset(seed=seed)
        over = False
        while not over:
            action = rng.uniform(-1, 1, 2) if kind == "random" else np.array(CONSTANT_ACTIONS[kind], float)
            _, _, terminated, truncated, info = env.step(action)
            over = terminated or truncated
        wins += info["success"]
    env.close()
    return wins


@pytest.mark.parametrize(
    "name", [n if i % 2 == 0 else pytest.param(n, marks=pytest.mark.slow) for i, n in enumerate(players.PLAYERS)]
)
@pytest.mark.parametrize("kind", ["random", *(pytest.param(k, marks=pytest.mark.slow) for k in CONSTANT_ACTIONS)])
def test_random_and_constant_actions_never_succeed_in_four_episodes(plugin: CarPlugin, name: str, kind: str) -> None:
    assert successes(plugin, name, kind, 4) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["blocked_start", "parking"])
@pytest.mark.parametrize("kind", ["random", *CONSTANT_ACTIONS])
def test_random_and_constant_actions_never_succeed_in_50_episodes(plugin: CarPlugin, name: str, kind: str) -> None:
    assert successes(plugin, name, kind, 50) == 0
