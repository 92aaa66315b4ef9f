"""Tests with the simulator itself. JAX compiles the simulator for a minute, so these tests are slow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rlgpt.errors import StateError
from rlgpt.plugin.state_data import pack, unpack
from rlgpt_craftax import names
from rlgpt_craftax.env import CraftaxEnv
from rlgpt_craftax.observation import MIDDLE, OFFSETS
from rlgpt_craftax.plugin import CraftaxPlugin
from rlgpt_craftax.simulator import CELLS, seen, simulator

from .players import Script
from .scenes import TASK

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def env() -> CraftaxEnv:
    return CraftaxEnv(TASK, seed=0)


def test_names_of_blocks_items_and_actions_equal_those_of_craftax() -> None:
    from craftax.craftax import constants as own

    def given(enum: Any) -> tuple[str, ...]:
        by_code = {member.value: member.name.lower() for member in enum}
        return tuple(by_code[code] for code in range(len(by_code)))

    renamed = {"invalid": "dark", "crafting_table": "table"}
    assert tuple(renamed.get(name, name) for name in given(own.BlockType)) == names.BLOCKS
    assert given(own.ItemType) == names.ITEMS
    assert given(own.Action) == names.ACTIONS
    assert given(own.Achievement) == names.ACHIEVEMENTS
    assert int(own.ACHIEVEMENT_REWARD_MAP.sum()) == names.MOST_RETURN
    solid = np.asarray(own.SOLID_BLOCK_MAPPING)
    liquid = {"water", "lava", "dark", "out_of_bounds"}
    assert {name for name, is_solid in zip(names.BLOCKS, solid, strict=True) if not is_solid} - liquid == names.PASSABLE


def test_craftax_observation_equals_the_visible_part_of_the_simulator_state(env: CraftaxEnv) -> None:
    env.reset(seed=3)
    env.action_space.seed(0)
    for step in range(150):
        observation, _, over, _, _ = env.step(env.action_space.sample())
        if over:
            break
        state = env._state
        if step % 10:
            continue
        level, (row, column) = int(state.player_level), np.asarray(state.player_position)
        assert observation["floor"] == level
        whole = np.pad(np.asarray(state.map[level]), 12, constant_values=1)
        lit = np.pad(np.asarray(state.light_map[level]), 12) > 0.05
        here = (
            slice(row + 12 - MIDDLE[0], row + 13 + MIDDLE[0]),
            slice(column + 12 - MIDDLE[1], column + 13 + MIDDLE[1]),
        )
        np.testing.assert_array_equal(observation["block"], np.where(lit, whole, 0)[here])
        np.testing.assert_array_equal(observation["inventory"][:2], [state.inventory.wood, state.inventory.stone])
        assert observation["body"][0] == pytest.approx(float(state.player_health))
        assert observation["facing"] == int(state.player_direction) - 1


def test_movement_inferred_from_observations_equals_the_movement_in_the_simulator(env: CraftaxEnv) -> None:
    env.reset(seed=5)
    rng, certain = np.random.default_rng(0), 0
    for _ in range(300):
        before = np.asarray(env._state.player_position)
        _, _, over, _, info = env.step(np.int64(rng.integers(1, 6)))
        if over:
            break
        down, right = (np.asarray(env._state.player_position) - before).tolist()
        if info["moved"] is not None:
            certain += 1
            assert info["moved"] == (right, down)
            assert info["moved"] in ((0, 0), *OFFSETS)
    assert certain > 50


def test_craftax_info_contains_the_achievements_only_at_the_end_of_an_episode(env: CraftaxEnv) -> None:
    env.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(TASK.horizon):
        _, _, terminated, truncated, info = env.step(np.int64(rng.integers(43)))
        if terminated or truncated:
            break
        assert set(info["metrics"]) == {"floor", "steps"}
    assert terminated
    assert set(names.ACHIEVEMENTS) < set(info["metrics"])


def test_craftax_refuses_to_load_a_damaged_state(env: CraftaxEnv) -> None:
    env.reset(seed=0)
    saved = env.save()
    with pytest.raises(StateError):
        env.load(saved[: len(saved) // 2])
    parts: Any = unpack(saved)
    parts["leaves"][0] = parts["leaves"][0].astype(np.int64)
    with pytest.raises(StateError, match="arrays"):
        env.load(pack(parts))


def test_script_of_craftax_primitives_makes_tools(plugin: CraftaxPlugin) -> None:
    """The primitives suffice for the first achievements; how they are combined is not part of any prompt."""
    tools = []
    for seed in range(6):
        with Script(plugin, TASK, seed=seed) as script:
            script.play()
            tools.append((script.see()["pickaxe"], script.see()["sword"]))
    assert sum(pickaxe >= 1 for pickaxe, _ in tools) >= 5, tools
    assert sum(pickaxe >= 2 for pickaxe, _ in tools) >= 3, tools


def test_codes_are_those_of_the_benchmarks_own_observation() -> None:
    """The states are changed at random, so that mobs share cells, leave the view and stand in the dark."""
    import jax
    from craftax.craftax.renderer import render_craftax_symbolic

    rng, start = np.random.default_rng(0), simulator()
    begun = jax.tree_util.tree_map(np.asarray, start.reset(start.key_of(0))[1])
    states = jax.tree_util.tree_map(lambda *rows: np.stack(rows), *[_changed(begun, rng) for _ in range(200)])
    own = jax.vmap(render_craftax_symbolic)
    shown, codes = jax.jit(lambda s: (own(s), jax.vmap(seen)(s, own(s))))(states)
    channels = [len(names.BLOCKS), len(names.ITEMS), 24, 8, 8, 1]
    cells = np.asarray(shown)[:, : CELLS * sum(channels)].reshape(len(shown), CELLS, -1)
    block, item, *mobs, _ = np.split(cells, np.cumsum(channels)[:-1], axis=2)
    grids = [block.argmax(2), item.argmax(2), *(np.where(m.any(2), m.argmax(2) + 1, 0) for m in mobs)]
    scalars = np.asarray(shown)[:, CELLS * sum(channels) :]
    np.testing.assert_array_equal(codes, np.concatenate([*grids, scalars], axis=1))
    assert all(np.count_nonzero(grid) > 100 for grid in grids)


def _changed(state: Any, rng: np.random.Generator) -> Any:
    """The state on a floor drawn by chance, with mobs and shots around the player."""
    floor, place = rng.integers(9), rng.integers(0, 48, 2)

    def moved(mobs: Any) -> Any:
        position = mobs.position.copy()
        position[floor] = place + rng.integers(-6, 7, position[floor].shape)
        if rng.random() < 0.5:
            position[floor, 1] = position[floor, 0] - rng.integers(0, 2, 2) * (names.HEIGHT, names.WIDTH)
        kinds = rng.integers(0, 3, mobs.type_id.shape, mobs.type_id.dtype)
        return mobs.replace(position=position, mask=rng.random(mobs.mask.shape) < 0.8, type_id=kinds)

    groups = ("melee_mobs", "passive_mobs", "ranged_mobs", "mob_projectiles", "player_projectiles")
    return state.replace(
        player_level=floor.astype(state.player_level.dtype),
        player_position=place.astype(state.player_position.dtype),
        light_map=rng.random(state.light_map.shape, np.float32) * rng.choice([0.1, 1.0]).astype(np.float32),
        item_map=rng.integers(0, 5, state.item_map.shape, state.item_map.dtype),
        **{name: moved(getattr(state, name)) for name in groups},
    )
