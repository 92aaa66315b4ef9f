"""Digging: number of ticks, reach, drops and tool wear, compared with minecraft.wiki."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from voxeldojo.world.blocks import AIR, ID, TABLE
from voxeldojo.world.dig import harvests, tool_speed
from voxeldojo.world.items import DURABILITY
from voxeldojo.world.items import ID as ITEM

FLOOR, MIDDLE = 64, 256


def ahead(scene: Any, block: str) -> None:
    """Put a block directly in front of the player's eyes and dirt below the block. Look at the block."""
    scene.put(0, 0, 1, "dirt")
    scene.put(0, 1, 1, block)
    scene.look_at(MIDDLE + 0.5, FLOOR + 1.5, MIDDLE + 1.5)


def ticks(scene: Any, limit: int = 10_000, **keys: Any) -> int:
    """Attack until the block ahead breaks. Return the number of ticks."""
    for count in range(1, limit + 1):
        scene.tick(attack=True, **keys)
        if scene.at(0, 1, 1) == AIR:
            return count
    raise AssertionError(f"the block did not break in {limit} ticks")


@pytest.mark.parametrize(
    ("block", "item", "expected"),
    [
        # seconds on minecraft.wiki (page Breaking and the pages of the blocks) times 20, rounded up
        *(("log", "air", 60), ("log", "wooden_axe", 30), ("log", "stone_axe", 15), ("log", "iron_axe", 10)),
        *(("log", "diamond_axe", 8), ("log", "golden_axe", 5), ("log", "wooden_pickaxe", 60)),
        *(("stone", "air", 150), ("stone", "wooden_pickaxe", 23), ("stone", "stone_pickaxe", 12)),
        *(("stone", "iron_pickaxe", 8), ("stone", "diamond_pickaxe", 6), ("stone", "wooden_axe", 150)),
        *(("dirt", "air", 15), ("dirt", "wooden_shovel", 8), ("sand", "air", 15), ("gravel", "air", 18)),
        *(("grass", "air", 18), ("planks", "air", 60), ("crafting_table", "air", 75), ("furnace", "air", 350)),
        *(("iron_ore", "wooden_pickaxe", 150), ("iron_ore", "stone_pickaxe", 23), ("diamond_ore", "iron_pickaxe", 15)),
        *(("diamond_ore", "stone_pickaxe", 75), ("obsidian", "diamond_pickaxe", 188), ("obsidian", "air", 5000)),
        *(("leaves", "air", 6), ("leaves", "iron_sword", 4), ("wool", "air", 24), ("wool", "shears", 5)),
        *(("web", "iron_sword", 8), ("web", "shears", 8), ("coal_ore", "wooden_pickaxe", 45)),
    ],
)
def test_a_block_breaks_after_as_many_ticks_as_in_the_game(scene: Any, block: str, item: str, expected: int) -> None:
    if item != "air":
        scene.hold(item)
    ahead(scene, block)
    assert ticks(scene) == expected


@pytest.mark.parametrize(("block", "item"), [("leaves", "shears"), ("poppy", "air"), ("torch", "air")])
def test_leaves_with_shears_flowers_and_torches_break_in_one_tick(scene: Any, block: str, item: str) -> None:
    if item != "air":
        scene.hold(item)
    ahead(scene, block)
    scene.look_at(MIDDLE + 0.5, FLOOR + 1.3, MIDDLE + 1.5)
    assert ticks(scene) == 1


def test_bedrock_does_not_break(scene: Any) -> None:
    scene.hold("diamond_pickaxe")
    ahead(scene, "bedrock")
    scene.tick(2000, attack=True)
    assert scene.at(0, 1, 1) == ID["bedrock"]


def test_digging_is_five_times_as_slow_under_water(scene: Any) -> None:
    ahead(scene, "dirt")
    scene.put(0, 1, 0, "water")
    scene.player["air"] = 10_000
    for face in ((1, 0), (-1, 0), (0, -1)):
        scene.put(face[0], 1, face[1], "glass")
    scene.world.clock["queue_start"] = scene.world.clock["queue_end"]
    assert ticks(scene) == 75


def test_break_speed_of_ten_divides_the_number_of_ticks_by_ten(scene: Any) -> None:
    scene.world.clock["break_speed"] = 10.0
    ahead(scene, "log")
    assert ticks(scene) == 6


def test_digging_the_next_block_begins_six_ticks_after_a_block_broke(scene: Any) -> None:
    """After 5 ticks of pause, 1 tick starts on the next block. minecraft.wiki, page Breaking, has 6 ticks."""
    scene.hold("stick")  # picking up dirt with an empty hand would discard the progress on the next block
    scene.put(0, 1, 2, "dirt")
    ahead(scene, "dirt")
    assert ticks(scene) == 15
    scene.tick(5 + 1 + 14, attack=True)
    assert scene.at(0, 1, 2) == ID["dirt"]
    scene.tick(1, attack=True)
    assert scene.at(0, 1, 2) == AIR


def test_no_pause_follows_a_block_that_breaks_in_one_tick(scene: Any) -> None:
    scene.world.clock["break_speed"] = 1000.0
    scene.put(0, 1, 2, "dirt")
    scene.put(0, 1, 3, "dirt")
    ahead(scene, "dirt")
    scene.tick(3, attack=True)
    assert scene.at(0, 1, 3) == AIR


def test_interrupted_digging_loses_its_progress(scene: Any) -> None:
    ahead(scene, "dirt")
    scene.tick(14, attack=True)
    scene.tick(1)
    assert scene.player["dig_progress"] == 0
    scene.tick(14, attack=True)
    scene.hold("stick")
    assert ticks(scene) == 1 + 15
    ahead(scene, "dirt")
    scene.tick(5)
    scene.tick(14 + 5, attack=True)
    scene.tick(1, attack=True, yaw=90)
    assert scene.player["dig_progress"] == 0
    assert scene.at(0, 1, 1) == ID["dirt"]


def test_digging_reaches_four_and_a_half_blocks(scene: Any) -> None:
    for z, reached in ((4, True), (5, False)):
        scene.put(0, 1, z, "leaves")
        scene.stand(MIDDLE + 0.5, FLOOR, MIDDLE + 0.45)
        scene.look_at(MIDDLE + 0.5, FLOOR + 1.62, MIDDLE + z)
        scene.tick(20, attack=True)
        assert (scene.at(0, 1, z) == AIR) == reached


@pytest.mark.parametrize(
    ("block", "item", "falls"),
    [
        *(("stone", "air", None), ("stone", "wooden_pickaxe", "cobblestone"), ("iron_ore", "wooden_pickaxe", None)),
        *(("iron_ore", "stone_pickaxe", "iron_ore"), ("diamond_ore", "stone_pickaxe", None)),
        *(("diamond_ore", "iron_pickaxe", "diamond"), ("log", "air", "log"), ("birch_log", "air", "log")),
        *(("grass", "air", "dirt"), ("leaves", "shears", "leaves"), ("glass", "air", None), ("web", "shears", "web")),
        *(
            ("coal_ore", "wooden_pickaxe", "coal"),
            ("clay", "air", "clay_ball"),
            ("crafting_table", "air", "crafting_table"),
        ),
        *(
            ("furnace", "air", None),
            ("furnace", "wooden_pickaxe", "furnace"),
            ("snow_layer", "wooden_shovel", "snowball"),
        ),
    ],
)
def test_a_broken_block_drops_its_item(scene: Any, block: str, item: str, falls: str | None) -> None:
    scene.world.clock["break_speed"] = 1000.0
    if item != "air":
        scene.hold(item)
    ahead(scene, block)
    if block == "snow_layer":
        scene.look_at(MIDDLE + 0.5, FLOOR + 1.05, MIDDLE + 1.4)
    scene.tick(1, attack=True)
    assert scene.events["broke"] == ID[block]
    drops = scene.drops()
    assert list(drops) == ([] if falls is None else [ITEM[falls]])
    assert drops.get(ITEM["clay_ball"], 4) == 4


def test_a_broken_block_drops_the_item_variant_of_the_block(scene: Any) -> None:
    scene.world.clock["break_speed"] = 1000.0
    ahead(scene, "birch_log")
    scene.tick(1, attack=True)
    lying = scene.world.drops[scene.world.drops["alive"]]
    assert lying["variant"].tolist() == [2]


def test_gravel_drops_flint_in_one_of_ten_cases(scene: Any) -> None:
    scene.world.clock["break_speed"] = 1000.0
    flints = 0
    for _ in range(400):
        ahead(scene, "gravel")
        scene.world.clock["queue_start"] = scene.world.clock["queue_end"]
        scene.tick(1, attack=True)
        drops = scene.drops()
        assert sum(drops.values()) == 1
        flints += drops.get(ITEM["flint"], 0)
        scene.world.drops["alive"] = False
    assert 20 <= flints <= 65


def test_redstone_and_lapis_drop_several_items(scene: Any) -> None:
    scene.world.clock["break_speed"] = 1000.0
    scene.hold("iron_pickaxe")
    for block, item, least, most in (("redstone_ore", "redstone", 4, 5), ("lapis_ore", "dye", 4, 8)):
        seen = set()
        for _ in range(60):
            scene.world.slots[0]["damage"] = 0
            ahead(scene, block)
            scene.tick(1, attack=True)
            seen.add(scene.drops()[ITEM[item]])
            scene.world.drops["alive"] = False
        assert seen == set(range(least, most + 1))


def test_diamond_ore_gives_experience_when_broken(scene: Any) -> None:
    scene.world.clock["break_speed"] = 1000.0
    scene.hold("iron_pickaxe")
    ahead(scene, "diamond_ore")
    scene.tick(1, attack=True)
    assert 3 <= scene.player["xp"] <= 7


@pytest.mark.parametrize(
    ("item", "block", "cost"),
    [("wooden_pickaxe", "stone", 1), ("wooden_sword", "dirt", 2), ("wooden_axe", "torch", 0), ("stick", "dirt", 0)],
)
def test_digging_wears_a_tool_by_its_cost_for_the_block(scene: Any, item: str, block: str, cost: int) -> None:
    scene.world.clock["break_speed"] = 1000.0
    scene.hold(item)
    ahead(scene, block)
    scene.look_at(MIDDLE + 0.5, FLOOR + 1.3, MIDDLE + 1.5)
    scene.tick(1, attack=True)
    assert scene.at(0, 1, 1) == AIR
    assert scene.held()[3] == cost


def test_a_wooden_pickaxe_is_used_up_after_sixty_blocks(scene: Any) -> None:
    scene.world.clock["break_speed"] = 1000.0
    scene.hold("wooden_pickaxe")
    for count in range(int(DURABILITY[ITEM["wooden_pickaxe"]]) + 1):
        assert scene.held()[:2] == (ITEM["wooden_pickaxe"], 1)
        assert scene.held()[3] == count
        ahead(scene, "stone")
        scene.tick(1, attack=True)
    assert scene.held() == (0, 0, 0, 0)
    assert count == 59


def test_a_broken_bed_disappears_completely_and_drops_one_item(scene: Any) -> None:
    scene.world.clock["break_speed"] = 1000.0
    scene.put(0, 0, 2, "bed_foot_south")
    scene.put(0, 0, 3, "bed_head_south")
    for z in (2, 3):
        scene.put(0, 0, 2, "bed_foot_south")
        scene.put(0, 0, 3, "bed_head_south")
        scene.look_at(MIDDLE + 0.5, FLOOR + 0.4, MIDDLE + z + 0.5)
        scene.tick(1, attack=True)
        assert scene.at(0, 0, 2) == scene.at(0, 0, 3) == AIR
        assert scene.drops() == {ITEM["bed"]: 1}
        scene.world.drops["alive"] = False


def test_tool_speed_is_between_1_and_15_for_every_block_and_tool() -> None:
    tools = [
        ITEM[f"{stuff}_{kind}"] for stuff in ("wooden", "stone", "golden") for kind in ("pickaxe", "axe", "shovel")
    ]
    for block in range(len(TABLE)):
        hand = tool_speed(block, AIR)
        assert hand == 1
        for item in [*tools, ITEM["shears"], ITEM["iron_sword"]]:
            assert 1 <= tool_speed(block, item) <= 15
            assert harvests(block, item) or not harvests(block, AIR)


def test_higher_pickaxe_tiers_harvest_more_ores() -> None:
    for tier, level in (("wooden", 0), ("golden", 0), ("stone", 1), ("iron", 2), ("diamond", 3)):
        item = ITEM[f"{tier}_pickaxe"]
        got = [harvests(ID[block], item) for block in ("stone", "iron_ore", "gold_ore", "obsidian")]
        assert got == (np.array([0, 1, 2, 3]) <= level).tolist()
