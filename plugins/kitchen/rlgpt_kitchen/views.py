"""Defines the view that coded actions see; policies can use its keys, too."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from rlgpt.domain import Plain, Task
from rlgpt.plugin.types import Context, ViewKey

from rlgpt_kitchen.elements import ELEMENTS, Element
from rlgpt_kitchen.ik import Array, angles_of
from rlgpt_kitchen.model import KitchenModel
from rlgpt_kitchen.servo import grip_command, opening
from rlgpt_kitchen.tasks import elements_of

HAND_KEYS = (
    ViewKey("hand_position", "of the point between the fingers, x y z in the world", "m", size=3),
    ViewKey("hand_rotation", "roll, pitch, yaw of the hand, as in the primitive `point`", "rad", size=3),
    ViewKey("hand_direction", "unit vector in which the hand points", "", size=3),
    ViewKey("gripper_opening", "between the fingers", "m", size=1),
    ViewKey("gripper_closed", "1 while the command to the fingers is to close, else 0", "", size=1),
    ViewKey("arm_joints", "positions of the seven joints", "rad", size=7),
    ViewKey("time", "share of the episode that has passed", "", size=1),
    ViewKey("remaining", "names of the elements still to be completed, in the goal's order"),
)


def _element_keys(e: Element) -> list[ViewKey]:
    n, label = e.name, e.label
    keys = [
        ViewKey(f"{n}_handle", f"middle of the handle of the {label}, x y z in the world", "m", size=3),
        ViewKey(f"{n}_offset", f"from the hand to that handle, x y z ({n}_handle - hand_position)", "m", size=3),
        ViewKey(f"{n}_near", "tanh of 5 times the distance from hand to handle in m: 0 is at it", "", size=1),
        ViewKey(f"{n}_progress", "0 at the start, 1 where it counts as completed", "", size=1),
        ViewKey(f"{n}_done", "1 once completed, else 0", "", size=1),
        ViewKey(f"{n}_touched", "1 while the hand or a finger touches it, else 0", "", "privileged", size=1),
    ]
    if e.name == "kettle":
        keys += [
            ViewKey("kettle_position", "of the kettle's base, x y z in the world", "m", size=3),
            ViewKey("kettle_goal", "where the base is to be, x y z in the world", "m", size=3),
        ]
    else:
        keys += [
            ViewKey(f"{n}_joint", f"position of the joint of the {label}", "m" if e.slides else "rad", size=1),
            ViewKey(f"{n}_goal", "where that joint is to be (complete within 0.3 of it)", "", size=1),
            ViewKey(f"{n}_axis_point", "a point on the axis of that joint, x y z", "m", "privileged"),
            ViewKey(f"{n}_axis", "unit vector of that axis, x y z (right-hand rule)", "", "privileged"),
        ]
    return keys


def view_keys(task: Task) -> tuple[ViewKey, ...]:
    """Return the keys of the view, which are keys about the hand and keys about each element of the task."""
    return (*HAND_KEYS, *(key for name in elements_of(task) for key in _element_keys(ELEMENTS[name])))


def view(ctx: Context) -> dict[str, Plain]:
    """Return the view at the current step. The values of the view come from the sensors, except for keys tagged
    *privileged*, which come from the simulator's state.
    """
    model: KitchenModel = ctx.model
    pose = model.pose(ctx.observation)
    done = ctx.info.get("completed", ())
    touched = model.touched()
    values: dict[str, Plain] = {
        "hand_position": _list(pose.position),
        "hand_rotation": _list(angles_of(pose.rotation)),
        "hand_direction": _list(pose.rotation[:, 2]),
        "gripper_opening": round(opening(ctx), 4),
        "gripper_closed": int(grip_command(ctx) < 0),
        "arm_joints": _list(pose.joints),
        "time": round(ctx.step / ctx.task.horizon, 4),
        "remaining": [e.name for e in model.elements if e.name not in done],
    }
    objects = ctx.observation["objects"]
    for e in model.elements:
        handle = model.observed_handle(ctx.observation, e.name)
        offset = handle - pose.position
        joints = tuple(float(objects[i - 9]) for i in e.qpos)
        values |= {
            f"{e.name}_handle": _list(handle),
            f"{e.name}_offset": _list(offset),
            f"{e.name}_near": round(float(np.tanh(5.0 * np.linalg.norm(offset))), 4),
            f"{e.name}_progress": round(e.progress(joints), 4),
            f"{e.name}_done": int(e.name in done),
            f"{e.name}_touched": int(e.name in touched),
        }
        if e.name == "kettle":
            values["kettle_position"] = _list(np.array(joints[:3]))
            values["kettle_goal"] = list(e.goal[:3])
        else:
            point, axis = model.hinge(e.name)
            values[f"{e.name}_joint"] = round(joints[e.main], 4)
            values[f"{e.name}_goal"] = e.goal[e.main]
            values[f"{e.name}_axis_point"] = _list(point)
            values[f"{e.name}_axis"] = _list(axis)
    return values


def _list(values: Array) -> list[Plain]:
    return [round(float(v), 4) for v in values]


def summarize(view: Mapping[str, Plain]) -> str:
    """The view as text."""
    closed = "closed" if view["gripper_closed"] else "open"
    lines = [
        f"hand at {view['hand_position']} m, roll/pitch/yaw {view['hand_rotation']} rad, fingers commanded {closed}, "
        f"{view['gripper_opening']} m apart; {100 * float(view['time']):.0f} % of the episode has passed"  # type: ignore[arg-type]
    ]
    for name in ELEMENTS:
        if f"{name}_handle" not in view:
            continue
        state = "completed" if view[f"{name}_done"] else f"progress {view[f'{name}_progress']}"
        touch = ", touched by the hand" if view[f"{name}_touched"] else ""
        lines.append(
            f"{name}: {state}{touch}; handle at {view[f'{name}_handle']} m, {view[f'{name}_offset']} m from the hand"
        )
    return "\n".join(lines)[:1500]
