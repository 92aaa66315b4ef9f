"""MineDojo's own programmatic tasks as tasks of the plugin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rlgpt.cli import main
from rlgpt.plugin import PluginManager
from rlgpt_minecraft.knowledge_pages import knowledge
from rlgpt_minecraft.moves import move
from rlgpt_minecraft.plugin import MinecraftPlugin
from rlgpt_minecraft.primitives import primitives_of
from rlgpt_minecraft.rewards import default_setup, reward_terms
from rlgpt_minecraft.suite import suite
from rlgpt_minecraft.tasks import SPECS, make_suite
from rlgpt_minecraft.things import THINGS
from rlgpt_minecraft.views import view_keys
from voxeldojo.names import BIOMES, CRAFTS, ITEMS, PLACEABLE, craft_place
from voxeldojo.world.items import NAMES as ITEMS_IN
from voxeldojo.world.mob_kinds import ID as MOBS

COW = "combat_cow_plains_iron_armors_diamond_sword_shield"
HOE = "techtree_from_barehand_to_wooden_hoe"
SEVERAL = (COW, HOE, "harvest_8_bread", "harvest_1_flower_pot", "harvest_8_log_forest")


def test_every_name_of_every_task_of_the_suite_exists() -> None:
    for name, spec in suite().items():
        assert spec.biome in {"", *BIOMES}, name
        assert {*spec.path, *(item for item, _ in spec.inventory), *spec.equips} <= set(ITEMS), name
        assert spec.target in (MOBS if spec.kind == "kill" else ITEMS), name
        assert set(spec.places) <= PLACEABLE, name
        assert {*spec.sights, *spec.seek} <= set(THINGS), name
        assert set(spec.seek) <= set(spec.sights), name
        assert set(spec.mobs) <= set(MOBS), name
        assert all(craft_place(item) == "furnace" for item in spec.smelts), name
        assert all(item in CRAFTS and craft_place(item) != "furnace" for item in spec.crafts), name


def test_way_to_the_target_of_the_suite_ends_with_the_target_and_has_what_it_crafts() -> None:
    for name, spec in suite().items():
        assert spec.kind == "kill" or spec.path[-1] == spec.target, name
        assert {*spec.makeable, *dict(spec.needs)} <= set(spec.path), name


def test_suite_has_no_task_of_the_list() -> None:
    assert not suite().keys() & SPECS.keys()
    assert len(suite()) > 1_000


@pytest.mark.parametrize("name", SEVERAL)
def test_prompts_and_rewards_of_a_task_of_the_suite_can_be_made(name: str) -> None:
    task, spec = make_suite()[f"minecraft/{name}"], suite()[name]
    assert len(knowledge(task)) < 10_000
    assert set(default_setup(task).reward_weights) <= {term.name for term in reward_terms(task)}
    keys = {key.name for key in view_keys(task)}
    assert {f"{item}_count" for item in spec.path} <= keys
    assert {primitive.name for primitive in primitives_of(task)} >= {"approach", "attack", "mine"}


def test_knowledge_of_the_suite_states_sources_recipes_and_mobs() -> None:
    pot = knowledge(make_suite()["minecraft/harvest_1_flower_pot"])
    assert "A block of clay drops 4 clay_ball." in pot
    assert "In a furnace: 1 clay_ball = 1 brick. At a crafting table: 3 brick = 1 flower_pot." in pot
    assert "A block of stone drops 1 cobblestone if it is broken with a pickaxe." in pot
    cow = knowledge(make_suite()[f"minecraft/{COW}"])
    assert "cow: 10 of life" in cow
    assert "diamond_sword 7 (1.6 times a second)" in cow


def test_manager_finds_tasks_of_the_suite_but_does_not_list_them() -> None:
    manager = PluginManager()
    plugin, task = manager.task(f"minecraft/{COW}")
    assert plugin.name == "minecraft"
    assert task.goal.startswith("Hunt a cow in plains")
    assert task.id not in manager.tasks()
    assert task.id in manager.unlisted_tasks()


def _env(name: str) -> Any:
    return MinecraftPlugin().make_env(make_suite()[f"minecraft/{name}"], seed=0)


def test_player_of_a_combat_task_begins_with_armour_and_a_shield() -> None:
    env = _env(COW)
    env.reset(seed=3)
    slots = env.base.unwrapped.sim.world.slots["item"]
    assert [ITEMS_IN[int(slots[slot])] for slot in (0, 36, 37, 38, 39, 40)] == [
        *("diamond_sword", "iron_boots", "iron_leggings", "iron_chestplate", "iron_helmet", "shield"),
    ]
    assert suite()[COW].carried == ("diamond_sword",)
    env.close()


def test_killing_the_target_is_a_success_and_killing_another_mob_is_not() -> None:
    env = _env(COW)
    env.reset(seed=3)
    sim = env.base.unwrapped.sim
    sim.world.kills[MOBS["sheep"]] += 1
    assert env.step(move())[1:4] == (0.0, False, False)
    sim.world.kills[MOBS["cow"]] += 1
    _, reward, terminated, _, info = env.step(move())
    assert (reward, terminated, info["success"]) == (1.0, True, True)
    env.close()


def test_a_task_for_eight_items_needs_all_of_them() -> None:
    env = _env("harvest_8_log_forest")
    env.reset(seed=3)
    sim = env.base.unwrapped.sim
    sim.chat("/give @p log 7")
    _, reward, terminated, _, info = env.step(move())
    assert (reward, terminated, info["success"]) == (7.0, False, False)
    sim.chat("/give @p log 1")
    assert env.step(move())[1:3] == (1.0, True)
    env.close()


def test_crafting_a_tool_is_not_yet_its_use() -> None:
    env = _env(HOE)
    env.reset(seed=3)
    env.base.unwrapped.sim.chat("/give @p wooden_hoe 1")
    assert env.step(move())[1:3] == (0.0, False)
    env.base.unwrapped.sim.statistics.used[ITEMS_IN.index("wooden_hoe")] += 1
    assert env.step(move())[1:3] == (1.0, True)
    env.close()


@pytest.mark.parametrize("name", SEVERAL)
def test_vector_of_a_task_of_the_suite_equals_single_environments(name: str) -> None:
    plugin, task = MinecraftPlugin(), make_suite()[f"minecraft/{name}"]
    vector = plugin.make_vector(task, count=2, seed=5)
    assert vector is not None
    singles = [plugin.make_env(task, seed=5 + lane) for lane in range(2)]
    _, info = vector.reset()
    assert info["success"].tolist() == [env.reset()[1]["success"] for env in singles]
    draw = np.random.default_rng(0)
    for _ in range(10):
        actions = [tuple(int(draw.integers(n)) for n in vector.single_action_space.nvec) for _ in range(2)]
        _, rewards, terminated, truncated, info = vector.step(actions)
        for lane, env in enumerate(singles):
            _, reward, *ends, own = env.step(np.array(actions[lane]))
            assert (float(rewards[lane]), bool(terminated[lane]), bool(truncated[lane])) == (reward, *ends)
            assert info["most"][lane] == own["most"]
    for env in (vector, *singles):
        env.close()


def test_saved_state_of_a_task_of_the_suite_keeps_its_count() -> None:
    env = _env("harvest_8_log_forest")
    env.reset(seed=3)
    env.base.unwrapped.sim.chat("/give @p log 7")
    env.step(move())
    state = env.save()
    other = _env("harvest_8_log_forest")
    other.load(state)
    other.base.unwrapped.sim.chat("/give @p log 1")
    assert other.step(move())[2]
    for each in (env, other):
        each.close()


def test_tasks_command_states_how_many_tasks_the_suite_has_and_lists_those_of_a_pattern(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["tasks"]) == 0
    said = capsys.readouterr().out
    assert f"The plugin minecraft has {len(suite()):,} further tasks: `rlgpt tasks 'minecraft/*'` lists them." in said
    assert COW not in said
    assert main(["tasks", "minecraft/combat_cow_plains_*_diamond_sword_shield"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
