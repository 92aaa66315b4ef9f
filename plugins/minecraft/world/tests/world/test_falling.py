"""Sand and gravel fall without support."""

from __future__ import annotations

from typing import Any

import pytest
from voxeldojo.world.blocks import AIR, ID

FLOOR, MIDDLE = 64, 256


@pytest.mark.parametrize("block", ["sand", "gravel", "red_sand"])
def test_sand_and_gravel_fall_without_support(scene: Any, block: str) -> None:
    scene.put(3, 5, 0, block)
    scene.tick(60)
    assert scene.at(3, 0, 0) == ID[block]
    assert scene.at(3, 5, 0) == AIR


def test_stone_does_not_fall_without_support(scene: Any) -> None:
    scene.put(3, 5, 0, "stone")
    scene.tick(60)
    assert scene.at(3, 5, 0) == ID["stone"]


def test_a_pile_of_sand_falls_when_its_base_is_removed(scene: Any) -> None:
    scene.put(3, 0, 0, "stone")
    for y in range(1, 6):
        scene.put(3, y, 0, "sand")
    scene.tick(30)
    scene.put(3, 0, 0, "air")
    scene.tick(60)
    assert [scene.at(3, y, 0) for y in range(6)] == [ID["sand"]] * 5 + [AIR]


def test_sand_sinks_in_water(scene: Any) -> None:
    scene.put(3, -1, 0, "water")
    scene.put(3, 3, 0, "sand")
    scene.tick(40)
    assert scene.at(3, -1, 0) == ID["sand"]


def test_sand_stops_above_the_player_and_falls_after_the_player_leaves(scene: Any) -> None:
    scene.put(0, 5, 0, "sand")
    scene.tick(60)
    assert scene.at(0, 2, 0) == ID["sand"]
    assert scene.player["life"] == 20
    scene.tick(20, forward=1)
    scene.tick(20)
    assert scene.at(0, 0, 0) == ID["sand"]
