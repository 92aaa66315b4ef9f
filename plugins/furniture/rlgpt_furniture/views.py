"""Defines the view that coded actions see; policies can use its keys, too. The view has the state of the arm and the
poses of the parts of the furniture.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgpt.domain import Plain, Task
from rlgpt.plugin.types import Context, ViewKey

from rlgpt_furniture.furniture import FURNITURE, Furniture
from rlgpt_furniture.settings import read_settings


def view_keys(task: Task) -> tuple[ViewKey, ...]:
    """The keys of the view."""
    settings = read_settings(task)
    furniture = FURNITURE[settings.furniture]
    keys = [
        ViewKey("hand_position", "the point between the finger tips: x, y, z", "m", size=3),
        ViewKey("hand_points", "direction the hand points to", size=3),
        ViewKey("hand_opens", "direction along which the fingers open", size=3),
        ViewKey("opening", "distance between the fingers", "m", size=1),
        ViewKey(
            "holding", "number of the part that both finger pads touch, from 0 in the order below; -1: none", size=1
        ),
    ]
    for part in furniture.parts:
        keys += [
            ViewKey(f"{part.name}_position", f"origin of {part.name}: x, y, z", "m", size=3),
            ViewKey(f"{part.name}_z", f"direction of its z, along which {part.name} is put together", size=3),
            ViewKey(f"{part.name}_x", f"direction of the x of {part.name}", size=3),
        ]
    made = "1: assembled; below: the share of its twist" if settings.connectors else "1: assembled, 0: not"
    for joint in furniture.joints:
        places = [list(p) for p in joint.places]
        belongs = f"it belongs at {'one of ' if len(places) > 1 else ''}{places if len(places) > 1 else places[0]}"
        keys += [
            ViewKey(
                f"{joint.part}_seen_from_{joint.base}",
                f"origin of {joint.part} in the frame of {joint.base}; {belongs}",
                "m",
                size=3,
            ),
            ViewKey(f"{joint.part}_made", made, size=1),
        ]
    return (*keys, ViewKey("time", "share of the episode that has passed", size=1))


def view(ctx: Context) -> dict[str, Plain]:
    """The view at the current step."""
    # These modules import the simulator. A list of the keys must be possible without this import.
    from rlgpt_furniture.motion import hand_pose, held_part, part_pose

    furniture: Furniture = ctx.model.furniture
    place, facing = hand_pose(ctx)
    values: dict[str, Plain] = {
        "hand_position": _list(place),
        "hand_points": _list(facing[:, 2]),
        "hand_opens": _list(facing[:, 1]),
        "opening": round(float(ctx.observation["robot"][13]), 4),
        "holding": held_part(ctx),
    }
    poses = {one.name: part_pose(ctx, i) for i, one in enumerate(furniture.parts)}
    for name, (at, turn) in poses.items():
        values |= {f"{name}_position": _list(at), f"{name}_z": _list(turn[:, 2]), f"{name}_x": _list(turn[:, 0])}
    for number, joint in enumerate(furniture.joints):
        root, frame = poses[joint.base]
        values[f"{joint.part}_seen_from_{joint.base}"] = _list(frame.T @ (poses[joint.part][0] - root))
        values[f"{joint.part}_made"] = round(float(ctx.observation["made"][number]), 3)
    values["time"] = round(ctx.step / ctx.task.horizon, 4)
    return values


def _list(values: Any) -> list[Plain]:
    return [round(float(v), 4) + 0.0 for v in values]


def summarize(view: Mapping[str, Plain]) -> str:
    """The view as text."""
    parts = [key.removesuffix("_z") for key in view if key.endswith("_z")]
    held = int(view["holding"])  # type: ignore[arg-type]
    lines = [
        f"hand at {view['hand_position']} m, points to {view['hand_points']}, fingers {view['opening']} m apart along "
        f"{view['hand_opens']}, {f'holding {parts[held]}' if held >= 0 else 'holding nothing'}; "
        f"{100 * float(view['time']):.0f} % of the episode has passed",  # type: ignore[arg-type]
    ]
    for name in parts:
        where = f"{name} at {view[f'{name}_position']} m, z to {view[f'{name}_z']}"
        for key in view:
            if key.startswith(f"{name}_seen_from_"):
                where += f", from {key.split('_seen_from_')[1]} at {view[key]} m, made {view[f'{name}_made']}"
        lines.append(where)
    return "\n".join(lines)[:1500]
