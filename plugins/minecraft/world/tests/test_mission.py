"""Invalid missions are refused with a reason. MineDojo's actions are translated to commands."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from voxeldojo.command import Command, EmptySlotError, slot_name, translate
from voxeldojo.errors import UnknownNameError
from voxeldojo.mission import Box, Mission, Stack
from voxeldojo.names import CRAFTS, INVENTORY

EMPTY = ["air"] * INVENTORY


def test_shape_of_a_voxel_box_includes_both_ends() -> None:
    assert Box().shape == (3, 3, 3)
    assert Box(xmin=-2, xmax=3, ymin=0, ymax=0, zmin=1, zmax=4).shape == (6, 1, 4)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"voxels": {"xmin": 2}}, "min lies above its max"),
        ({"voxels": {"xmin": -99, "xmax": 99, "ymin": -99, "ymax": 99}}, "at most 65536"),
        ({"rays": [[0, 0, 0]]}, "above 0"),
        ({"rays": [[0, 0, 1000]]}, "at most 256"),
        ({"inventory": [{"slot": 3, "name": "log"}, {"slot": 3, "name": "dirt"}]}, r"more than once: \[3\]"),
        ({"inventory": [{"slot": 41, "name": "log"}]}, "less than 41"),
        ({"health": 0}, "greater than 0"),
        ({"image_size": [0, 3]}, "greater than or equal to 1"),
        ({"weather": "hail"}, "'clear'"),
        ({"start": {"x": 1, "y": 2, "z": 3, "yaw": float("nan")}}, "finite number"),
        ({"gravity": 1}, "Extra inputs"),
    ],
)
def test_mission_refuses_invalid_values(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        Mission.model_validate(fields)


def test_error_about_an_unknown_item_or_biome_suggests_similar_names() -> None:
    with pytest.raises(UnknownNameError, match="'log'"):
        Stack(slot=0, name="logg")
    with pytest.raises(UnknownNameError, match="'plains'"):
        Mission(biome="plain")


def test_mission_is_unchanged_after_conversion_to_json_and_back() -> None:
    mission = Mission(inventory=(Stack(slot=0, name="bucket"),), biome="desert", voxels=Box(), rays=((0.0, 0.1, 9.0),))
    assert Mission.model_validate_json(mission.model_dump_json()) == mission


def test_slot_names_equal_those_of_the_game() -> None:
    assert [slot_name(n) for n in (0, 1, 8, 9, 35, 36, 39, 40)] == [
        "slot.weapon.mainhand",
        "slot.hotbar.1",
        "slot.hotbar.8",
        "slot.inventory.0",
        "slot.inventory.26",
        "slot.armor.feet",
        "slot.armor.head",
        "slot.weapon.offhand",
    ]


def test_action_of_minedojo_is_translated_to_a_command() -> None:
    assert translate([1, 2, 3, 12, 12, 3, 0, 0], EMPTY) == Command(forward=True, right=True, sprint=True, attack=True)
    assert translate([0, 0, 0, 13, 11, 0, 0, 0], EMPTY) == Command(pitch=15.0, yaw=-15.0)
    assert translate([0, 0, 0, 12, 12, 4, 7, 0], EMPTY).craft == CRAFTS[7]
    assert translate([0, 0, 0, 12, 12, 5, 0, 2], ["air", "air", "stone_pickaxe"]).equip == "stone_pickaxe"
    held = [*EMPTY[:-1], "dirt"]
    assert translate([0, 0, 0, 12, 12, 7, 0, 35], held).chat == (
        "/replaceitem entity @p slot.inventory.26 minecraft:air 1 0"
    )


@pytest.mark.parametrize("function", [5, 6, 7])
def test_translate_raises_an_error_or_ignores_an_empty_slot(function: int) -> None:
    held = ["air", "log", *EMPTY[2:]]
    with pytest.raises(EmptySlotError, match=r"slot 4, which is empty; the slots that are not: \[1\]"):
        translate([0, 0, 0, 12, 12, function, 0, 4], held)
    assert translate([0, 0, 0, 12, 12, function, 0, 4], held, strict=False) == Command()
