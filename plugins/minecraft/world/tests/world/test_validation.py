"""The validation of a loaded world finds a single number out of range."""

from __future__ import annotations

import numpy as np
import pytest
from voxeldojo.world.blocks import BLOCKS
from voxeldojo.world.chunks import generate
from voxeldojo.world.items import NAMES
from voxeldojo.world.state import HEIGHT, QUEUE, SIZE, World, empty
from voxeldojo.world.validation import fault


@pytest.fixture
def world() -> World:
    return empty(0)


def test_empty_and_generated_worlds_have_no_fault() -> None:
    assert fault(empty(2**64 - 1)) is None
    assert fault(generate(2, "forest")) is None


@pytest.mark.parametrize(
    ("name", "value"), [("blocks", BLOCKS), ("level", 9), ("top", HEIGHT), ("top", -2), ("peak", HEIGHT)]
)
def test_an_array_value_out_of_range_is_reported_as_a_fault(world: World, name: str, value: int) -> None:
    array = getattr(world, name)
    array[(3,) * array.ndim] = value
    assert fault(world) is not None


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        *(("slots", "item", len(NAMES)), ("slots", "item", -1), ("slots", "variant", 16), ("drops", "quantity", -1)),
        *(("mobs", "kind", 100), ("player", "selected", 9), ("player", "selected", -1), ("player", "x", np.nan)),
        *(("player", "yaw", np.inf), ("queue", "x", SIZE), ("queue", "y", -1), ("clock", "queue_end", QUEUE)),
        *(("mobs", "x", -0.5), ("mobs", "z", SIZE + 0.5), ("drops", "x", -9e5), ("player", "z", 9e5)),
        *(("mobs", "y", 1e9), ("clock", "relit", -1), ("player", "dig_item", 30_000)),
    ],
)
def test_the_fault_of_a_field_out_of_range_contains_its_name(world: World, name: str, field: str, value: float) -> None:
    getattr(world, name)[field][-1] = value
    assert fault(world) == f"{name} whose {field} is out of range"


def test_invalid_booleans_are_reported_as_faults(world: World) -> None:
    world.generated.view(np.uint8)[1, 1] = 7
    assert fault(world) == "invalid flags of generated chunks"
    world.generated[...] = False
    world.player.view(np.uint8)[world.player.dtype.fields["dead"][1]] = 2  # type: ignore[index]
    assert fault(world) == "player whose dead is out of range"


def test_a_light_update_outside_the_world_is_reported_as_a_fault(world: World) -> None:
    world.clock["relit"] = 1
    world.relit[0] = SIZE * HEIGHT * SIZE
    assert fault(world) == "light updates outside the world"
