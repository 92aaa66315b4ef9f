"""Describes the seven elements of the kitchen that have a goal. This module does not import the simulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import dist

THRESHOLD = 0.3
"""An element is complete when its joints are within this norm of their goal (``BONUS_THRESH`` of FrankaKitchen-v1)."""


@dataclass(frozen=True)
class Element:
    """An element is a movable object of the kitchen, such as a door or a knob.

    :ivar label: the element's name in FrankaKitchen-v1.
    :ivar goal_text: the element's goal in words.
    :ivar qpos: the indices of the element's joints in the simulator's ``qpos`` (rad or m; for the kettle, position and
        quaternion).
    :ivar goal: the goal values of the element's joints.
    :ivar start: the values of the element's joints at reset, without noise.
    :ivar site: the site of the MuJoCo model that marks the element's handle.
    :ivar joint: the name of the element's main joint, which is the hinge, the slide or the knob; for the kettle, its
        free joint.
    :ivar body: the body of the MuJoCo model that is the root of the element.
    :ivar contact: the target of the hand relative to the site of the element's handle, m. Only the reach reward uses
        this target.
    """

    name: str
    label: str
    goal_text: str
    qpos: tuple[int, ...]
    goal: tuple[float, ...]
    start: tuple[float, ...]
    site: str
    joint: str
    body: str
    contact: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def main(self) -> int:
        """The index of the element's main joint among ``qpos``."""
        return 1 if self.name == "hinge_cabinet" else 0

    @property
    def slides(self) -> bool:
        return self.name == "slide_cabinet"

    @property
    def span(self) -> float:
        """The norm, at reset, of the difference between the element's joints and their goal (rad, m)."""
        return dist(self.start, self.goal)

    def progress(self, joints: tuple[float, ...]) -> float:
        """Return which share of the distance to the goal the element's joints have covered, in [0, 1]. The progress of
        an element is 1 if and only if FrankaKitchen-v1 counts the element as complete.
        """
        share = (self.span - dist(joints, self.goal)) / (self.span - THRESHOLD)
        return min(1.0, max(0.0, share))


_ALL = (
    Element(
        "bottom_burner",
        "bottom burner",
        "turn the knob of the bottom left burner",
        (11, 12),
        (-0.88, -0.01),
        (0.0, 0.0),
        "knob2_site",
        "knob_Joint_2",
        "knob 2",
    ),
    Element(
        "top_burner",
        "top burner",
        "turn the knob of the top left burner",
        (15, 16),
        (-0.92, -0.01),
        (0.0, 0.0),
        "knob4_site",
        "knob_Joint_4",
        "knob 4",
    ),
    Element(
        "light_switch",
        "light switch",
        "turn on the light by its lever",
        (17, 18),
        (-0.69, -0.05),
        (0.0, 0.0),
        "light_site",
        "light_switch",
        "lightswitchroot",
        contact=(0.05, 0.0, 0.0),
    ),
    Element(
        "slide_cabinet",
        "slide cabinet",
        "slide the sliding cabinet open to the right",
        (19,),
        (0.37,),
        (0.0,),
        "slide_site",
        "slide_cabinet",
        "slidelink",
        contact=(-0.05, 0.0, 0.0),
    ),
    Element(
        "hinge_cabinet",
        "hinge cabinet",
        "open the right door of the hinge cabinet",
        (20, 21),
        (0.0, 1.45),
        (0.0, 0.0),
        "hinge_site2",
        "right_hinge_cabinet",
        "hingerightdoor",
    ),
    Element(
        "microwave",
        "microwave",
        "open the microwave's door",
        (22,),
        (-0.75,),
        (0.0,),
        "microhandle_site",
        "microwave",
        "microdoorroot",
    ),
    Element(
        "kettle",
        "kettle",
        "move the kettle from the front left burner to the burner behind it",
        (23, 24, 25, 26, 27, 28, 29),
        (-0.23, 0.75, 1.62, 0.99, 0.0, 0.0, -0.06),
        (-0.269, 0.35, 1.619, 1.0, 0.0, 0.0, 0.0),
        "kettle_site",
        "kettle",
        "kettleroot",
    ),
)

ELEMENTS: Mapping[str, Element] = {e.name: e for e in _ALL}
