"""The plugin contract for Crafter, with its fixed order of objects and its view of only the visible cells."""

from __future__ import annotations

import numpy as np
import pytest
from rlgpt.testing import Effort, PluginContract
from rlgpt_crafter import env as game
from rlgpt_crafter.env import CrafterEnv
from rlgpt_crafter.plugin import ACHIEVEMENTS, crafter_score


class TestCrafter(PluginContract):
    module = "rlgpt_crafter"
    full = Effort(steps=40, seeds=(0, 1), horizon_limit=1_000, argument_sets=4, screening=1)


def test_achievements_are_those_of_crafter() -> None:
    assert ACHIEVEMENTS == game.ACHIEVEMENTS


def test_names_of_cells_follow_the_order_of_the_semantic_map() -> None:
    view = CrafterEnv()._game._sem_view
    ids = {None: 0, **view._mat_ids} | {kind.__name__.lower(): code for kind, code in view._obj_ids.items()}
    assert all(ids[name] == code for code, name in enumerate(game.CELLS) if code)


def test_a_seed_decides_an_episode_over_hundreds_of_steps() -> None:
    def play() -> list[bytes]:
        env = CrafterEnv(300)
        env.reset(seed=5)
        rng = np.random.default_rng(0)
        return [env.step(np.int64(rng.integers(1, 6)))[0]["cells"].tobytes() for _ in range(300)]

    assert play() == play()


def test_pictures_do_not_change_an_episode() -> None:
    env, watched = CrafterEnv(400), CrafterEnv(400, render_mode="rgb_array")
    for one in (env, watched):
        one.reset(seed=1)
        one._game._step = 250  # at night, Crafter draws noise for its pictures
    for _ in range(30):
        watched.render()
        assert env.step(np.int64(0))[0]["cells"].tolist() == watched.step(np.int64(0))[0]["cells"].tolist()


def test_info_has_neither_the_map_nor_the_position() -> None:
    env = CrafterEnv()
    env.reset(seed=0)
    assert set(env.step(np.int64(0))[4]) == {"achievements"}


def test_the_score_is_the_geometric_mean_of_the_benchmark() -> None:
    assert crafter_score(dict.fromkeys(ACHIEVEMENTS, 1.0)) == pytest.approx(100)
    assert crafter_score({**dict.fromkeys(ACHIEVEMENTS, 0.0), "wake_up": 1.0}) == pytest.approx(101 ** (1 / 22) - 1)
