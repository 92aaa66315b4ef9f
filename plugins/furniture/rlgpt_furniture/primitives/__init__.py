"""Collects the primitives that coded actions can call. No primitive depends on a task."""

from __future__ import annotations

import math

from rlgpt.domain import Parameter, Task
from rlgpt.plugin.types import Primitive

from rlgpt_furniture.furniture import FURNITURE
from rlgpt_furniture.motion import MAX_SPEED, MIN_SPEED
from rlgpt_furniture.primitives.grasping import grasp, regrasp, release
from rlgpt_furniture.primitives.moving import MAX_STEPS, move_by, plan_to, push_down, rotate_part
from rlgpt_furniture.primitives.servoing import servo
from rlgpt_furniture.settings import read_settings


def _metres(name: str, low: float, high: float, default: float, doc: str) -> Parameter:
    return Parameter(name=name, low=low, high=high, default=default, unit="m", doc=doc)


def _radians(name: str, doc: str) -> Parameter:
    return Parameter(name=name, low=-math.pi, high=math.pi, default=0.0, unit="rad", doc=doc)


_END = {
    "reached": "the target was reached (within 0.002 m and 0.02 rad)",
    "blocked": "ended early: something is in the way, or the arm cannot go on",
    "distance": "m left to the target",
    "angle": "rad left to the wanted rotation",
    "steps": "primitive steps used, 0.1 s each",
}
_PLANNED = {"planned": "a way without collisions was found; where not, the hand has not moved", **_END}
_TURNED = " A part that a connector holds is turned where it is, as far as the arm can; angle is then the rad left."
_HELD = {"holding": "both fingers touch the part", "opening": "m between the fingers"}
_SPEED = _metres("speed", MIN_SPEED, MAX_SPEED, MAX_SPEED, "longest displacement in one step; slow is gentle")


def primitives(task: Task) -> tuple[Primitive, ...]:
    """Return the primitives of a task. Parameters that choose a part have the names of the task's parts as choices."""
    settings = read_settings(task)
    names = tuple(p.name for p in FURNITURE[settings.furniture].parts)
    loose = Parameter(name="part", kind="choice", choices=names, default=names[1], doc="which part")
    grip = (
        loose,
        _metres("along_z", -0.06, 0.06, 0.0, "where on the part: this far from its origin along its z"),
        _metres("sink", -0.06, 0.06, 0.0, "this much lower than that point"),
    )
    return (
        Primitive(
            "plan_to",
            "Move the hand to a pose of the world by a planned way: neither arm nor what is held touches anything on "
            "it. Angles all zero: the hand points down, fingers opening along y; yaw turns it about the vertical "
            "(positive to the left), pitch then about y (-1.57 points it forwards), roll about x.",
            plan_to,
            (
                _metres("x", 0.25, 0.8, 0.5, "forwards"),
                _metres("y", -0.55, 0.55, 0.0, "to the left"),
                _metres("z", 0.004, 0.5, 0.2, "up; the table is 0"),
                *(_radians(n, "see above") for n in ("roll", "pitch", "yaw")),
            ),
            _PLANNED,
            MAX_STEPS + 1,
        ),
        Primitive(
            "move_by",
            "Move the hand straight by a displacement in the world's axes, its rotation kept; no planning.",
            move_by,
            (
                _metres("dx", -0.3, 0.3, 0.0, "forwards"),
                _metres("dy", -0.3, 0.3, 0.0, "to the left"),
                _metres("dz", -0.3, 0.3, 0.0, "up"),
                _SPEED,
            ),
            _END,
            60,
        ),
        Primitive(
            "grasp",
            "Open the fingers, go above a part by a planned way, straight down with the fingers across it (along its x "
            "or y, whichever is more level; a little to one side where a neighbour is near), and close them until "
            "release.",
            grasp,
            grip,
            {**_PLANNED, **_HELD},
            MAX_STEPS,
        ),
        Primitive(
            "release",
            "Open the fingers and draw the hand back against the direction it points to.",
            release,
            (_metres("back", 0.0, 0.1, 0.05, "how far to draw back"),),
            {"opening": _HELD["opening"], "reached": "the hand was drawn back all the way", "steps": _END["steps"]},
            40,
        ),
        Primitive(
            "servo",
            "Bring a held part's origin to a point in the frame of another part, its z along that part's z, by looking "
            "at the two parts all the while. From afar it goes by a planned way; from within 0.06 m straight.",
            servo,
            (
                loose,
                Parameter(name="onto", kind="choice", choices=names, default=names[0], doc="in whose frame"),
                _metres("x", -0.15, 0.15, 0.0, "in that frame"),
                _metres("y", -0.15, 0.15, 0.0, "in that frame"),
                _metres("z", 0.0, 0.3, 0.15, "in that frame"),
                Parameter(
                    name="turn",
                    kind="choice",
                    choices=("any", "0", "90", "180", "270"),
                    default="any",
                    doc="degrees about z against that frame; any: the quarter that is reached best",
                ),
                _metres("speed", MIN_SPEED, MAX_SPEED, 0.01, "longest displacement in one step"),
                _metres("tolerance", 0.0005, 0.01, 0.0015, "how near is reached"),
            ),
            {
                "planned": "a way was found; where not, the hand has not moved",
                "reached": "the part is there (within the tolerance and 0.05 rad)",
                "blocked": _END["blocked"],
                "holding": "both fingers still touch the part",
                "error": "[x, y, z] m left, in the frame of the other part",
                "angle": "rad left",
                "steps": _END["steps"],
            },
            MAX_STEPS * 2,
        ),
        Primitive(
            "rotate_part",
            "Turn the hand, and what it holds, about an axis of the world through the point between the finger tips, "
            "by a planned way." + (_TURNED if settings.connectors else ""),
            rotate_part,
            (
                Parameter(name="axis", kind="choice", choices=("x", "y", "z"), default="z", doc="of the world"),
                _radians("angle", "right-hand rule: about z, positive is anticlockwise seen from above"),
            ),
            _PLANNED,
            MAX_STEPS + 1,
        ),
        Primitive(
            "push_down",
            "Push what is held, or the closed fingers, straight down with growing force, turning to and fro.",
            push_down,
            (
                _metres("distance", 0.0, 0.04, 0.015, "how far below the hand its target goes at last"),
                Parameter(name="wiggle", low=0.0, high=0.3, default=0.03, unit="rad", doc="largest turn, either way"),
            ),
            {"moved": "m that the hand came down", "holding": "both fingers touch a part", "steps": _END["steps"]},
            30,
        ),
        Primitive(
            "regrasp",
            "Release, draw back 0.06 m, and grasp a part again.",
            regrasp,
            grip,
            {**_PLANNED, **_HELD},
            MAX_STEPS,
        ),
    )
