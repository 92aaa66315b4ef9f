"""The tasks can be done with primitives, and not by chance."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from rlgpt.testing.player import Player
from rlgpt_furniture.plugin import FurniturePlugin

_spec = importlib.util.spec_from_file_location("furniture_players", Path(__file__).with_name("players.py"))
assert _spec is not None
assert _spec.loader is not None
players = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(players)


def share(plugin: FurniturePlugin, name: str, seeds: range) -> float:
    play = Player(plugin, plugin.tasks()[f"furniture/{name}"])
    wins = 0
    for seed in seeds:
        play.reset(seed)
        players.PLAYERS[name.removesuffix("_medium")](play)
        wins += play.success
    play.env.close()
    return wins / len(seeds)


@pytest.mark.parametrize("name", ["one_leg", "one_leg_medium"])
def test_a_script_of_primitives_succeeds_mostly(plugin: FurniturePlugin, name: str) -> None:
    assert share(plugin, name, range(4)) >= 0.75


@pytest.mark.slow
def test_a_script_of_primitives_succeeds_in_four_of_five_episodes(plugin: FurniturePlugin) -> None:
    assert share(plugin, "one_leg", range(50)) >= 0.8


@pytest.mark.slow
@pytest.mark.parametrize("name", ["one_leg", "lamp"])
@pytest.mark.parametrize("kind", ["random", "forward", "down", "still"])
def test_chance_and_constant_actions_do_not(plugin: FurniturePlugin, name: str, kind: str) -> None:
    constant = {"forward": (1, 0, 0), "down": (0, 0, -1), "still": (0, 0, 0)}
    env = plugin.make_env(plugin.tasks()[f"furniture/{name}"], seed=0)
    rng = np.random.default_rng(0)
    wins = 0
    for seed in range(3):
        env.reset(seed=seed)
        over = False
        while not over:
            action = rng.uniform(-1, 1, 8) if kind == "random" else np.array((*constant[kind], 0, 0, 0, 0, 1), float)
            _, _, terminated, truncated, info = env.step(action)
            over = terminated or truncated
        wins += info["success"]
    env.close()
    assert wins == 0
