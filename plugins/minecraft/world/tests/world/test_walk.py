"""The player's speeds and heights follow the game's formulas."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from voxeldojo.world.blocks import ID, STONE

FLOOR, MIDDLE = 64, 256


def speed(scene: Any, ticks: int = 60, **keys: Any) -> float:
    """Return the speed after a number of ticks with the same keys, in m/s."""
    scene.tick(ticks, **keys)
    x, _, z = scene.place
    scene.tick(1, **keys)
    return 20 * math.hypot(scene.place[0] - x, scene.place[2] - z)


def steady(push: float) -> float:
    """Return the limit of ``v = 0.546 v + push`` before the drag, in m/s."""
    return 20 * push / (1 - 0.91 * 0.6)


@pytest.mark.parametrize(
    ("keys", "push", "rounded"),
    [
        ({"forward": 1}, 0.098, 4.317),
        ({"forward": -1}, 0.098, 4.317),
        ({"strafe": 1}, 0.098, 4.317),
        ({"forward": 1, "strafe": -1}, 0.1, 4.405),
        ({"forward": 1, "sprint": True}, 0.1274, 5.612),
        ({"forward": 1, "sneak": True}, 0.0294, 1.295),
        ({"strafe": 1, "sprint": True}, 0.098, 4.317),
        ({"forward": 1, "sneak": True, "sprint": True}, 0.0294, 1.295),
    ],
)
def test_walking_sprinting_and_sneaking_reach_the_speeds_of_the_game(
    scene: Any, keys: dict[str, Any], push: float, rounded: float
) -> None:
    got = speed(scene, **keys)
    assert got == pytest.approx(steady(push), abs=1e-4)
    assert got == pytest.approx(rounded, abs=6e-4)


@pytest.mark.parametrize(
    ("keys", "way"),
    [({"forward": 1}, (0, 1)), ({"forward": -1}, (0, -1)), ({"strafe": 1}, (1, 0)), ({"strafe": -1}, (-1, 0))],
)
def test_walking_direction_depends_on_the_keys_and_the_yaw(
    scene: Any, keys: dict[str, Any], way: tuple[int, int]
) -> None:
    for yaw, expected in ((0, way), (90, (-way[1], way[0]))):
        scene.stand(MIDDLE + 0.5, FLOOR, MIDDLE + 0.5, yaw=yaw)
        scene.tick(6, **keys)
        x, _, z = scene.place
        assert (x - MIDDLE - 0.5, z - MIDDLE - 0.5) == pytest.approx(
            (expected[0] * 1.0426, expected[1] * 1.0426), abs=0.1
        )


def test_a_player_slides_on_ice_after_the_key_is_released(scene: Any) -> None:
    scene.world.blocks[:, FLOOR - 1, :] = ID["ice"]
    scene.tick(40, forward=1)
    start = scene.place[2]
    scene.tick(20)
    assert scene.place[2] - start > 1.4


def test_a_jump_takes_12_ticks_and_reaches_1_2522_blocks(scene: Any) -> None:
    heights = []
    for _ in range(12):
        scene.tick(1, jump=True)
        heights.append(scene.place[1] - FLOOR)
    speed_, height, form = 0.42, 0.0, []
    while height + speed_ > 0:
        height += speed_
        form.append(height)
        speed_ = (speed_ - 0.08) * 0.98
    assert heights[: len(form)] == pytest.approx(form)
    assert max(heights) == pytest.approx(1.2522, abs=1e-4)
    assert heights[10] > 0
    assert heights[11] == 0
    assert scene.player["on_ground"]


def test_a_held_jump_key_jumps_again_at_landing(scene: Any) -> None:
    scene.tick(12, jump=True)
    scene.tick(1, jump=True)
    assert scene.place[1] == pytest.approx(FLOOR + 0.42)


def test_jumping_while_sprinting_reaches_the_speed_of_the_game(scene: Any) -> None:
    """The speed on level ground is 7.127 m/s: minecraft.wiki, page Sprinting."""
    scene.tick(48, forward=1, sprint=True, jump=True)
    start = scene.place[2]
    scene.tick(48, forward=1, sprint=True, jump=True)
    assert (scene.place[2] - start) * 20 / 48 == pytest.approx(7.127, abs=0.03)


def test_a_falling_player_accelerates_as_in_the_game_and_lands_on_the_floor(scene: Any) -> None:
    scene.stand(MIDDLE + 0.5, FLOOR + 40, MIDDLE + 0.5)
    scene.player["on_ground"], scene.player["vy"] = False, 0.0
    scene.player["life"] = 1000
    drops = []
    for _ in range(20):
        before = scene.place[1]
        scene.tick()
        drops.append(before - scene.place[1])
    assert drops == pytest.approx([3.92 * (1 - 0.98**n) for n in range(20)])
    scene.tick(60)
    assert scene.place[1] == FLOOR


@pytest.mark.parametrize(
    ("block", "height"),
    [("stone", 0), ("stone_slab", 0.5), ("farmland", 0), ("bed_foot_south", 0.5625), ("fence", 0), ("carpet", 0.0625)],
)
def test_a_player_walks_onto_blocks_up_to_a_height_of_0_6(scene: Any, block: str, height: float) -> None:
    for x in range(-2, 3):
        for z in range(2, 12):
            scene.put(x, 0, z, block)
    scene.tick(30, forward=1)
    assert scene.place[1] == FLOOR + height
    assert (scene.place[2] > MIDDLE + 2.1) == (height > 0)


def test_a_player_can_jump_onto_a_block_but_not_over_a_fence(scene: Any) -> None:
    for x in range(-2, 3):
        for z in range(2, 12):
            scene.put(x, 0, z, "stone")
    scene.tick(40, forward=1, jump=True)
    scene.tick(20)
    assert scene.place[1] == FLOOR + 1
    scene.stand(MIDDLE + 0.5, FLOOR, MIDDLE + 0.5)
    for x in range(-2, 3):
        scene.put(x, 0, 2, "fence")
    scene.tick(60, forward=1, jump=True)
    assert scene.place[2] < MIDDLE + 2.5


def test_running_into_a_wall_ends_sprinting(scene: Any) -> None:
    for y in range(3):
        for x in range(-2, 3):
            scene.put(x, y, 4, "stone")
    scene.tick(10, forward=1, sprint=True)
    assert scene.player["sprinting"]
    scene.tick(20, forward=1)
    assert not scene.player["sprinting"]
    assert scene.place[2] == pytest.approx(MIDDLE + 4 - 0.3, abs=1e-6)
    assert scene.place[2] + 0.3 < MIDDLE + 4


def test_sprinting_continues_without_the_key_and_ends_when_food_is_low(scene: Any) -> None:
    scene.tick(5, forward=1, sprint=True)
    scene.tick(5, forward=1)
    assert scene.player["sprinting"]
    scene.player["food"] = 6
    scene.tick(1, forward=1, sprint=True)
    assert not scene.player["sprinting"]


@given(st.lists(st.tuples(st.floats(-180, 180), st.integers(-1, 1), st.integers(-1, 1)), min_size=1, max_size=12))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_sneaking_prevents_falling_off_an_edge(scene: Any, walks: list[tuple[float, int, int]]) -> None:
    scene.stand(MIDDLE + 0.5, FLOOR + 1, MIDDLE + 0.5)
    scene.put(0, 0, 0, "stone")
    scene.put(1, 0, 0, "stone")
    for yaw, forward, strafe in walks:
        scene.player["yaw"] = yaw
        scene.tick(15, forward=forward, strafe=strafe, sneak=True)
    assert scene.place[1] == FLOOR + 1


def pool(scene: Any, fluid: str, depth: int = 4) -> None:
    """Build a basin of still fluid, three blocks wide, with its surface one block below the floor."""
    for x in range(-3, 4):
        for z in range(-3, 4):
            for y in range(-depth, 0):
                scene.put(x, y, z, fluid if abs(x) < 2 and abs(z) < 2 else "stone")
            scene.put(x, -depth - 1, z, "stone")
    scene.world.clock["queue_start"] = scene.world.clock["queue_end"]
    scene.stand(MIDDLE + 0.5, FLOOR - 2, MIDDLE + 0.5)
    scene.player["on_ground"] = False


def test_a_player_in_water_sinks_slowly_and_swims_up(scene: Any) -> None:
    """The sinking speed follows ``v = 0.8 v - 0.02``, the swimming speed ``v = 0.8 (v + 0.04) - 0.02``. Both limits are
    0.1 blocks per tick."""
    pool(scene, "water", 40)
    scene.tick(25)
    y = scene.place[1]
    scene.tick()
    assert y - scene.place[1] == pytest.approx(0.1, abs=1e-3)
    scene.tick(40, jump=True)
    y = scene.place[1]
    scene.tick(jump=True)
    assert scene.place[1] - y == pytest.approx(0.1, abs=1e-2)


def test_a_player_swims_out_of_water_onto_the_edge(scene: Any) -> None:
    pool(scene, "water")
    scene.tick(120, jump=True, forward=1)
    assert scene.place[1] == pytest.approx(FLOOR, abs=1.3)
    assert scene.place[2] > MIDDLE + 2.3


def test_a_player_moves_slower_in_lava_than_in_water(scene: Any) -> None:
    moved = []
    for fluid in ("water", "lava"):
        pool(scene, fluid)
        scene.player["life"] = 20
        scene.tick(4, forward=1)
        moved.append(scene.place[2] - MIDDLE - 0.5)
    assert 0 < moved[1] < 0.8 * moved[0]


def test_flowing_water_carries_the_player(scene: Any) -> None:
    for z in range(8):
        for x in (-1, 1):
            scene.put(x, 0, z, "stone")
    scene.put(0, 0, -1, "stone")
    scene.put(0, 0, 0, "water")
    scene.tick(60)
    assert scene.level(0, 0, 6) == 6
    scene.stand(MIDDLE + 0.5, FLOOR, MIDDLE + 0.5)
    scene.tick(40)
    assert scene.place[2] > MIDDLE + 2


def test_a_player_climbs_a_ladder_and_stays_on_the_ladder_while_sneaking(scene: Any) -> None:
    for y in range(6):
        scene.put(0, y, 2, "stone")
        scene.put(0, y, 1, "ladder")
    scene.tick(30, forward=1)
    assert scene.place[1] > FLOOR + 2
    scene.player["fall"] = 0
    scene.tick(5, sneak=True)
    y = scene.place[1]
    scene.tick(5, sneak=True)
    assert scene.place[1] == y


def test_a_player_cannot_cross_the_world_border(scene: Any) -> None:
    scene.world.blocks[500:, FLOOR - 1, 250:262] = STONE
    scene.stand(508.5, FLOOR, MIDDLE + 0.5, yaw=-90)
    scene.tick(60, forward=1, jump=True)
    assert scene.place[0] == pytest.approx(512 - 0.3, abs=1e-6)
