"""The facts in the furniture plugin's texts for the language model are true in the simulation."""

from __future__ import annotations

import math
import re

import mujoco
import numpy as np
import pytest
from rlgpt_furniture import panda
from rlgpt_furniture.assembly import CONNECTOR_TOLERANCE, FULL_TWIST, MIN_COSINE, PEG_TOLERANCE
from rlgpt_furniture.env import HAND_STEP, JOINT_RATE, MAX_JOINT_LEAD, PERIOD, TURN_SCALE, FurnitureTask
from rlgpt_furniture.furniture import CHAMFER, FURNITURE, HOLE_BLOCK, HOLE_FLOOR, PEG_LENGTH, PEG_RADIUS, PLUG_RADIUS
from rlgpt_furniture.plugin import FurniturePlugin
from rlgpt_furniture.scene import FENCE, FENCE_HEIGHT
from rlgpt_furniture.tasks import DEFAULTS, make_tasks

TASKS = make_tasks()
CLEARANCE = float(DEFAULTS["clearance"])


def knowledge(plugin: FurniturePlugin, name: str, joints: str = "peg", control: str = "hand") -> str:
    task = TASKS[f"furniture/{name}"]
    settings = {**task.settings, "joints": joints, "control": control}
    return " ".join(plugin.knowledge(task.model_copy(update={"settings": settings})).split())


def heights(name: str, part: str) -> tuple[float, float]:
    """Return the lowest and the highest z (m) of a part's geoms, in the frame of the part."""
    model = FurnitureTask(TASKS[f"furniture/{name}"], seed=0).model
    data = mujoco.MjData(model)
    body = model.body(part)
    data.qpos[model.jnt_qposadr[body.jntadr[0]] :][:7] = (0, 0, 0, 1, 0, 0, 0)
    mujoco.mj_kinematics(model, data)
    ends = []
    for geom in range(int(body.geomadr[0]), int(body.geomadr[0] + body.geomnum[0])):
        if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_SPHERE:
            reach = float(model.geom_size[geom, 0])
        else:
            turn = data.geom_xmat[geom].reshape(3, 3)
            reach = float(np.abs(turn[2]) @ model.geom_aabb[geom, 3:])
            middle = float(data.geom_xpos[geom, 2] + turn[2] @ model.geom_aabb[geom, :3])
            ends += [middle - reach, middle + reach]
            continue
        ends += [float(data.geom_xpos[geom, 2]) - reach, float(data.geom_xpos[geom, 2]) + reach]
    return min(ends), max(ends)


def test_furniture_hand_has_the_size_stated_in_the_knowledge(plugin: FurniturePlugin) -> None:
    text = knowledge(plugin, "one_leg")
    model = mujoco.MjModel.from_xml_string(panda.arm_only())
    palm = model.geom("palm")
    tip = 0.0584 + model.geom("left_pad").pos[2] + model.geom("left_pad").size[2] - panda.TCP
    assert f"reach {tip:.2f} m beyond" in text
    assert f"{panda.TCP - palm.pos[2] - palm.size[2]:.3f} m behind it the palm" in text
    assert f"{2 * palm.size[1]:.3f} m wide" in text
    assert f"{2 * palm.size[0]:.3f} m thick" in text
    assert f"reaches {palm.size[0]:.3f} m below" in text
    assert f"up to {2 * panda.FINGER_TRAVEL:.2f} m" in text


def test_furniture_actions_have_the_scale_stated_in_the_knowledge(plugin: FurniturePlugin) -> None:
    assert f"by {HAND_STEP} m along an axis" in knowledge(plugin, "one_leg")
    assert f"about {2 * math.atan(TURN_SCALE):.1f} rad" in knowledge(plugin, "one_leg")
    assert f"One primitive step is {PERIOD:.1f} s" in knowledge(plugin, "one_leg")
    by_joints = knowledge(plugin, "one_leg", control="joints")
    assert f"by {JOINT_RATE * PERIOD:.2f} rad a step, at most {MAX_JOINT_LEAD} rad ahead" in by_joints


def test_furniture_joints_are_made_by_the_rule_stated_in_the_knowledge(plugin: FurniturePlugin) -> None:
    assert f"within {PEG_TOLERANCE} m along each axis of the base's frame" in knowledge(plugin, "one_leg")
    assert f"cosines are at least {MIN_COSINE}" in knowledge(plugin, "one_leg")
    held = knowledge(plugin, "one_leg", joints="connector")
    assert f"within {CONNECTOR_TOLERANCE:.2f} m along each axis" in held
    assert f"{FULL_TWIST:.3f} rad about its z" in held
    assert f"cosines are at least {MIN_COSINE}" in held


def test_furniture_fence_has_the_size_stated_in_the_knowledge(plugin: FurniturePlugin) -> None:
    text = knowledge(plugin, "desk")
    (_, front, half), (_, left, thin), (_, right, _) = FENCE
    assert f"x = {front[0] - half[0]:.2f} and y = {right[1] + thin[1]:.3f} and {left[1] - thin[1]:.3f}" in text
    assert f"{2 * FENCE_HEIGHT} m high" in text


@pytest.mark.parametrize(
    ("name", "leg", "half"), [("one_leg", "leg4", 0.03125), ("desk", "desk_leg1", 0.05)], ids=["table", "desk"]
)
def test_furniture_legs_have_the_size_stated_in_the_knowledge(
    plugin: FurniturePlugin, name: str, leg: str, half: float
) -> None:
    text = knowledge(plugin, name)
    low, high = heights(name, leg)
    assert high == pytest.approx(half)
    assert low == pytest.approx(-half - PEG_LENGTH)
    place = FURNITURE[name].joints[0].places[0][2]
    assert f"radius {PEG_RADIUS} m, {PEG_LENGTH} m long" in text
    assert f"chamfered by {1000 * CHAMFER:.0f} mm" in text
    assert f"{1000 * CLEARANCE:.1f} mm wider" in text
    top = FURNITURE[name].parts[0]
    assert f"Holes are {2 * top.height - HOLE_FLOOR:.3f} m deep" in text
    assert HOLE_BLOCK > PEG_RADIUS + CLEARANCE + CHAMFER
    numbers = [float(n) for n in re.findall(r"origin at z = (0\.\d+)|at (0\.\d+) it is", text) for n in n if n]
    level = top.height - low
    assert numbers == pytest.approx([level, place], abs=6e-4)
    ends = re.search(r"ends (0\.\d+) m below its origin", text)
    assert ends is not None
    assert float(ends[1]) == pytest.approx(-low, abs=6e-4)


def test_lamp_has_the_size_stated_in_the_knowledge(plugin: FurniturePlugin) -> None:
    text = knowledge(plugin, "lamp")
    parts = {p.name: p for p in FURNITURE["lamp"].parts}
    bulb, hood = FURNITURE["lamp"].joints
    assert f"origin {parts['lamp_base'].height:.3f} m above the table" in text
    assert f"hole from there down to 0.015, radius {PLUG_RADIUS + CLEARANCE:.4f} m" in text
    assert f"plug of radius {PLUG_RADIUS} m from {heights('lamp', 'lamp_bulb')[0]:.3f}" in text
    assert f"at {bulb.places[0][2]:.3f} it is all the way in" in text
    assert f"at {hood.places[0][2]:.3f} it stands" in text
    low, high = heights("lamp", "lamp_hood")
    assert f"foot at {low:.3f}" in text
    assert "upper edge at 0.051" in text
    assert high == pytest.approx(0.051, abs=1e-3)
    top = bulb.places[0][2] + heights("lamp", "lamp_bulb")[1]
    assert f"bulb ends at {top:.3f} in the base's frame" in text
    assert f"above it from {top - low:.3f} on" in text


def test_furniture_knowledge_texts_have_fewer_than_6000_characters(plugin: FurniturePlugin) -> None:
    for name in ("one_leg", "desk", "lamp"):
        for joints in ("peg", "connector"):
            assert len(knowledge(plugin, name, joints)) < 6000
