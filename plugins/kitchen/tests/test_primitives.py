"""Kitchen primitives have accurate motions and correct outcomes, and change the simulation only by actions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rlgpt.testing.stage import arguments
from rlgpt_kitchen.ik import rotation_of
from rlgpt_kitchen.primitives import PRIMITIVES

Make = Callable[..., Any]


def test_kitchen_move_to_reaches_its_target_in_most_cases(make_player: Make) -> None:
    player = make_player("slide_cabinet")
    rng = np.random.default_rng(0)
    reached = {True: 0, False: 0}
    for i in range(20):
        player.reset(i)
        keep = bool(i % 2)
        x, y, z = np.array(player.see()["hand_position"]) + rng.uniform([-0.25, -0.15, -0.2], [0.1, 0.2, 0.25])
        outcome = player("move_to", x=x, y=y, z=z, keep_rotation=keep)
        away = float(np.linalg.norm(np.array(player.see()["hand_position"]) - (x, y, z)))
        assert outcome["distance"] == pytest.approx(away, abs=5e-4)
        if outcome["reached"]:
            reached[keep] += 1
            assert away < 0.016
    assert reached[False] >= 9
    assert reached[True] >= 8


def test_kitchen_hold_keeps_the_hand_in_place_against_gravity(make_player: Make) -> None:
    player = make_player("kettle")
    before = np.array(player.see()["hand_position"])
    player("hold", steps=40)
    assert np.linalg.norm(np.array(player.see()["hand_position"]) - before) < 0.005


@pytest.mark.parametrize("angles", [(1.5, 0, 0), (-1.5, 0, 0), (0, -1.4, 0), (0, 0.5, 0), (0, 0, -0.8), (0, 0, 0.4)])
def test_kitchen_point_turns_the_hand_without_moving_it(make_player: Make, angles: tuple[float, float, float]) -> None:
    player = make_player("kettle")
    player("move_to", x=-0.45, y=0.25, z=2.15)
    before = np.array(player.see()["hand_position"])
    roll, pitch, yaw = angles
    outcome = player("point", roll=roll, pitch=pitch, yaw=yaw)
    assert outcome["reached"], outcome
    view = player.see()
    assert np.linalg.norm(np.array(view["hand_position"]) - before) < 0.05
    cosine = float(np.dot(view["hand_direction"], rotation_of(np.array(angles))[:, 2]))
    assert np.arccos(min(1.0, cosine)) < 0.12


def test_kitchen_move_to_a_target_out_of_reach_ends_early_as_blocked(make_player: Make) -> None:
    player = make_player("kettle")
    outcome = player("move_to", x=-1.2, y=0.3, z=2.0)
    assert outcome["blocked"]
    assert not outcome["reached"]
    assert player.ctx.step < 60


def test_kitchen_follow_arc_keeps_its_radius(make_player: Make) -> None:
    player = make_player("slide_cabinet")
    player("move_to", x=-0.45, y=0.2, z=2.2)
    centre = np.array([-0.45, 0.45])
    start = np.array(player.see()["hand_position"])
    outcome = player("follow_arc", x=centre[0], y=centre[1], z=2.2, axis="z", angle=-0.6, wrist="free")
    end = np.array(player.see()["hand_position"])
    a, b = start[:2] - centre, end[:2] - centre
    assert outcome["radius"] == pytest.approx(np.linalg.norm(a), abs=1e-3)
    assert np.linalg.norm(b) == pytest.approx(np.linalg.norm(a), abs=0.03)
    turned = np.arctan2(a[0] * b[1] - a[1] * b[0], a @ b)
    assert turned == pytest.approx(-0.6, abs=0.12)
    assert end[2] == pytest.approx(start[2], abs=0.03)


def test_kitchen_fingers_stay_closed_until_release(make_player: Make) -> None:
    player = make_player("slide_cabinet")
    open_width = player.see()["gripper_opening"]
    assert not player("grasp")["holding"]
    player("move_by", dz=0.1)
    assert player.see()["gripper_closed"] == 1
    assert player.see()["gripper_opening"] < 0.02 < open_width
    player("release", steps=8)
    assert player.see()["gripper_opening"] > 0.07
    player("grasp")
    player.reset(1)
    assert player.see()["gripper_closed"] == 0, "an episode begins with open fingers"


def test_kitchen_angled_grasp_detects_holding_by_touch(make_player: Make) -> None:
    player = make_player("microwave")
    x, y, z = player.see()["microwave_handle"]
    player("move_to", x=x, y=y - 0.2, z=z)
    outcome = player("angled_grasp", x=x, y=y, z=z)
    assert outcome["holding"], outcome
    assert player.see()["microwave_touched"] == 1


def test_computing_the_first_action_of_a_kitchen_primitive_does_not_change_the_simulation(make_player: Make) -> None:
    player = make_player("kettle")
    data = player.env.unwrapped.base.data
    for primitive in PRIMITIVES:
        for args in arguments(primitive.parameters, 4):
            player.reset(0)
            before = data.qpos.copy(), data.qvel.copy(), data.ctrl.copy()
            run = primitive.run(player.ctx, **args)
            next(run, None)
            player.see()
            assert all(np.array_equal(a, b) for a, b in zip(before, (data.qpos, data.qvel, data.ctrl), strict=True))


def test_every_parameter_of_a_kitchen_primitive_has_a_documentation_and_a_unit() -> None:
    for primitive in PRIMITIVES:
        for p in primitive.parameters:
            assert p.doc, (primitive.name, p.name)
            assert p.unit or p.kind in ("bool", "choice"), (primitive.name, p.name)
