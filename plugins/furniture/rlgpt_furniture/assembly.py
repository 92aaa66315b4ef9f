"""Tracks which parts of the furniture are assembled, and holds parts in connectors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from rlgpt.plugin.state_data import whole

from rlgpt_furniture.arm import Array
from rlgpt_furniture.furniture import Furniture, Joint

PEG_TOLERANCE = 0.005
"""Tolerance of an assembled part's position along each axis, m, as in FurnitureBench's simulator."""
MIN_COSINE = 0.94
"""Minimal cosine of the angle between each axis of an assembled part and of its target pose, as in FurnitureBench."""
CONNECTOR_TOLERANCE = 0.010
"""Distance along each axis within which a connector attaches a part, m."""
FULL_TWIST = math.pi / 2
"""Angle by which a part must be turned in its connector, in either direction, rad. This turn replaces screwing."""

Matrix = tuple[float, float, float, float, float, float, float, float, float]
"""The nine numbers of a rotation matrix, row by row."""
_CONSTRAINTS = ("foot", "head", "weld")


class Assembly:
    """Holds the state of the joints of one piece of furniture in one simulation.

    :ivar made: whether each joint is made, which means that its parts are assembled. A made joint stays made.
    :ivar place: for each joint, the index of the place in which its part sits or is held, or -1 if the part is in no
        place.
    :ivar twist: for each joint, the angle in rad by which its part has been turned in the connector.
    """

    def __init__(self, furniture: Furniture, model: Any, connectors: bool) -> None:
        self.furniture, self.joints, self._connectors = furniture, furniture.joints, connectors
        index = {part.name: i for i, part in enumerate(furniture.parts)}
        self._bodies = [(index[j.base], index[j.part]) for j in self.joints]
        self._constraint_ids = [
            tuple(model.eq(f"{j.part}_{k}").id for k in _CONSTRAINTS) if connectors else () for j in self.joints
        ]
        self._model = model
        self.clear()

    def clear(self) -> None:
        """Change to the state in which no part is assembled."""
        count = len(self.joints)
        self.made, self.place = [False] * count, [-1] * count
        self.twist, self._yaw = [0.0] * count, [0.0] * count

    def relative(self, poses: list[list[float]], number: int) -> tuple[tuple[float, float, float], Matrix]:
        """The position (m) and the rotation of a joint's part in the frame of the joint's base."""
        base, part = (poses[i] for i in self._bodies[number])
        a, b = _matrix(base), _matrix(part)
        d = [part[k] - base[k] for k in range(3)]
        place = tuple(sum(a[3 * r + c] * d[r] for r in range(3)) for c in range(3))
        turn = tuple(sum(a[3 * k + r] * b[3 * k + c] for k in range(3)) for r in range(3) for c in range(3))
        return place, turn  # type: ignore[return-value]

    def update(self, data: Any, poses: list[list[float]]) -> int:
        """Update the joints from the poses of all parts, each given as (x, y, z, w, i, j, k).

        :returns: the number of joints that are made now and were not made before.
        """
        new = 0
        for number, joint in enumerate(self.joints):
            if self.made[number] or (joint.after is not None and not self.made[joint.after]):
                continue
            base, part = (poses[i] for i in self._bodies[number])
            reach = math.dist(base[:3], part[:3]) - math.dist((0, 0, 0), joint.places[0])
            if abs(reach) > 2 * CONNECTOR_TOLERANCE:
                continue
            where, turn = self.relative(poses, number)
            if self._connectors:
                self._attach_or_twist(data, number, where, turn)
                done = self.place[number] >= 0 and abs(self.twist[number]) >= FULL_TWIST
                if done:
                    self._weld(data, number)
            else:
                self.place[number] = fits(joint, where, turn, PEG_TOLERANCE)
                done = self.place[number] >= 0
            self.made[number] = done
            new += done
        return new

    def _attach_or_twist(self, data: Any, number: int, where: tuple[float, float, float], turn: Matrix) -> None:
        yaw = math.atan2(turn[3], turn[0])
        if self.place[number] < 0:
            joint = self.joints[number]
            # Each joint has its own places: place 0 of the bulb is not place 0 of the hood.
            taken = {p for p, j in zip(self.place, self.joints, strict=True) if j.places is joint.places}
            place = fits(joint, where, turn, CONNECTOR_TOLERANCE)
            if place >= 0 and place not in taken:
                self.place[number], self._yaw[number] = place, yaw
                self.set_hinge(data, number)
            return
        change = (yaw - self._yaw[number] + math.pi) % (2 * math.pi) - math.pi
        self.twist[number] += change
        self._yaw[number] = yaw

    def hinged(self, part: int) -> bool:
        """Whether a connector holds the part with this index, and the part is not fully twisted yet."""
        return self._connectors and any(
            self._bodies[n][1] == part and place >= 0 and not self.made[n] for n, place in enumerate(self.place)
        )

    def set_hinge(self, data: Any, number: int) -> None:
        """Constrain two points on the axis of a joint's part, so that the part can only turn about this axis."""
        x, y, z = self.joints[number].places[self.place[number]]
        for kind, height in ((0, -0.03), (1, 0.03)):
            row = self._constraint_ids[number][kind]
            self._model.eq_data[row, :6] = (x, y, z + height, 0.0, 0.0, height)
            data.eq_active[row] = 1

    def _weld(self, data: Any, number: int) -> None:
        foot, head, weld = self._constraint_ids[number]
        self.set_weld(number)
        data.eq_active[[foot, head]], data.eq_active[weld] = 0, 1

    def set_weld(self, number: int) -> None:
        """Weld a joint's part to its place, with the part's current yaw."""
        x, y, z = self.joints[number].places[self.place[number]]
        half = self._yaw[number] / 2
        # The data of a weld constraint are a point of the part, then the pose of the part relative to the base.
        row = self._constraint_ids[number][2]
        self._model.eq_data[row, :11] = (0, 0, 0, x, y, z, math.cos(half), 0, 0, math.sin(half), 1)

    def progress(self) -> list[float]:
        """Return the progress of each joint. The progress of a joint is 1 if the joint is made, the completed share of
        the twist if a connector holds its part, and 0 in all other cases.
        """
        if not self._connectors:
            return [float(m) for m in self.made]
        return [1.0 if m else min(1.0, abs(t) / FULL_TWIST) for m, t in zip(self.made, self.twist, strict=True)]

    def numbers(self) -> list[float]:
        """Return the state of all joints as numbers, for :meth:`restore`."""
        return [float(v) for row in (self.made, self.place, self.twist, self._yaw) for v in row]

    def restore(self, data: Any, numbers: Array) -> None:
        """Restore a state that :meth:`numbers` returned, and set the model's constraints accordingly.

        After ``restore``, the caller sets the simulator's state, which determines the active constraints.

        :param numbers: finite numbers, ``(4 x joints,)``.
        :raises StateError: the numbers place a part in a place that its joint does not have.
        """
        made, place, twist, yaw = (row.tolist() for row in np.reshape(numbers, (4, -1)))
        for at, joint in zip(place, self.joints, strict=True):
            whole(int(at), -1, len(joint.places) - 1, "place of a part")
        self.made, self.place, self.twist, self._yaw = [bool(v) for v in made], [int(v) for v in place], twist, yaw
        if self._connectors:
            for number, held in enumerate(self.place):
                if held >= 0:
                    self.set_hinge(data, number)
                    self.set_weld(number)


def fits(joint: Joint, where: tuple[float, float, float], turn: Matrix, tolerance: float) -> int:
    """Return the index of the first of ``joint.places`` that is at most ``tolerance`` m from ``where`` along each axis.
    Return -1 if no place is so near, or if the orientation ``turn`` does not fit.
    """
    if joint.upright:
        if turn[8] < MIN_COSINE:
            return -1
        if joint.turns:
            step = 2 * math.pi / joint.turns
            nearest = step * round(math.atan2(turn[3], turn[0]) / step)
            c, s = math.cos(nearest), math.sin(nearest)
            if min(c * turn[0] + s * turn[3], c * turn[4] - s * turn[1]) < MIN_COSINE:
                return -1
    for index, place in enumerate(joint.places):
        if all(abs(a - b) <= tolerance for a, b in zip(where, place, strict=True)):
            return index
    return -1


def _matrix(pose: list[float]) -> Matrix:
    _, _, _, w, x, y, z = pose
    return (
        1 - 2 * (y * y + z * z),
        2 * (x * y - w * z),
        2 * (x * z + w * y),
        2 * (x * y + w * z),
        1 - 2 * (x * x + z * z),
        2 * (y * z - w * x),
        2 * (x * z - w * y),
        2 * (y * z + w * x),
        1 - 2 * (x * x + y * y),
    )
