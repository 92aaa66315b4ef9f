"""The tables of blocks and items agree with the data of the game in the minedojo package."""

from __future__ import annotations

from typing import Any

from voxeldojo.world import blocks, items

SAME = {
    "hardness": "hardness",
    "tool_free": "needsNoTool",
    "blocks_movement": "blocksMovement",
    "burns": "canBurn",
    "liquid": "isLiquid",
    "replaceable": "isReplaceable",
    "slipperiness": "slipperiness",
    "full": "causesSuffocation",
}
DIFFERENT = {
    ("ice", "full"): "a player inside suffocates, but the block is transparent",
    ("soul_sand", "full"): "a player inside suffocates, but the height is 7/8 of a block",
}
"""Block and column -> reason for a difference."""


def test_properties_of_blocks_equal_those_of_minedojo_except_listed_ones(answers: dict[str, Any]) -> None:
    facts_of_minedojo, checked, different = answers["names"]["items_in_full"], 0, set()
    for block in blocks.TABLE:
        facts = facts_of_minedojo.get(block.item, {})
        if "hardness" not in facts:
            continue
        for ours, theirs in SAME.items():
            checked += 1
            if getattr(block, ours) != facts[theirs]:
                different.add((block.key, ours))
        if block.blocks_light != (not facts["translucent"]):
            different.add((block.key, "blocks_light"))
    assert different == set(DIFFERENT)
    assert checked > 1500


def test_collidable_blocks_are_the_same_as_in_minedojo(answers: dict[str, Any]) -> None:
    facts_of_minedojo = answers["names"]["blocks_in_full"]
    for block in blocks.TABLE:
        for name in {block.key, block.item} & set(facts_of_minedojo):
            assert block.collidable == facts_of_minedojo[name]["isCollidable"]


def test_properties_of_items_equal_those_of_minedojo(answers: dict[str, Any]) -> None:
    for name, facts in answers["names"]["items_in_full"].items():
        item = items.ID[name]
        assert items.STACK[item] == facts["stackSize"]
        assert items.DURABILITY[item] == facts["maxDamage"]
        if items.FOOD[item] > 0:
            assert facts["useAction"] == "EAT"
        if facts["useAction"] == "EAT":
            assert items.FOOD[item] > 0
        assert (items.DRINK[item] == 1) == (facts["useAction"] == "DRINK")
