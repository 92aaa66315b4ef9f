"""Gives primitives, views and reward terms read access to the simulation. Functions of this module never advance the
simulation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlgpt_kitchen.elements import ELEMENTS, Element
from rlgpt_kitchen.ik import JOINTS, Arm, Array, Pose


class KitchenModel:
    """Gives read access to the simulation of one environment.

    The methods ``pose`` and ``observed_handle`` use the sensors with their noise. The methods with names ``true_*`` use
    the simulator's state, which has no noise.
    """

    def __init__(self, base: Any) -> None:
        self.model, self.data = base.model, base.data
        named = {e.label: e for e in ELEMENTS.values()}
        self.elements: tuple[Element, ...] = tuple(named[label] for label in base.goal)
        self.arm = Arm(self.model)
        self._sites = {e.name: self.model.site(e.site).id for e in self.elements}
        self._joints = {e.name: self.model.joint(e.joint).id for e in self.elements}
        self._contact = {e.name: np.array(e.contact) for e in self.elements}
        self._observation: Any = None
        self._pose: Pose | None = None
        damping = self.model.dof_damping[:JOINTS]
        self.stiffness: Array = self.model.actuator_gainprm[:JOINTS, 0].copy()
        period = base.robot_env.dt
        self.fraction: Array = 1.0 - np.exp(-period * self.stiffness / damping)
        """For each joint, the share of a commanded displacement that is reached within one control step (7)."""
        self.command = period * float(base.robot_env.act_rng[0])
        """Displacement of a joint (rad) that an action of 1 commands."""
        self.reach: Array = np.minimum(self.command, self.model.actuator_forcerange[:JOINTS, 1] / self.stiffness)
        """For each joint, the largest commanded displacement that still increases the torque (rad, 7)."""
        self._owner = np.array([self._element_of(b) for b in self.model.geom_bodyid])
        self._left, self._right, wrist = (
            self.model.geom_bodyid == self.model.body(f"panda0_{part}").id
            for part in ("leftfinger", "rightfinger", "link7")
        )
        self._hand = self._left | self._right | wrist

    def _element_of(self, body: int) -> int:
        """Return the index of the element to which the body with the index ``body`` belongs, or -1."""
        roots = {self.model.body(e.body).id: i for i, e in enumerate(self.elements)}
        while body:
            if body in roots:
                return roots[body]
            body = int(self.model.body_parentid[body])
        return -1

    def pose(self, observation: Any) -> Pose:
        """Return the hand's pose, computed from the observed joints of the arm. The pose of the hand is cached for the
        newest observation.
        """
        if self._pose is None or self._observation is not observation:
            positions = np.concatenate((observation["robot"][:9], observation["objects"][:21]))
            self._pose, self._observation = self.arm.solve(positions), observation
        return self._pose

    def observed_handle(self, observation: Any, element: str) -> Array:
        """Return the position of the element's handle, m (3), computed from the element's observed joints."""
        self.pose(observation)
        return np.array(self.arm.scratch.site_xpos[self._sites[element]])

    def true_hand(self) -> Array:
        return np.array(self.data.site_xpos[self.arm.site])

    def true_contact_point(self, element: str) -> Array:
        """Return the true position, m (3), at which the hand should touch the element's handle."""
        return np.array(self.data.site_xpos[self._sites[element]] + self._contact[element])

    def true_progress(self, element: Element) -> float:
        return element.progress(tuple(self.data.qpos[list(element.qpos)]))

    def hinge(self, element: str) -> tuple[Array, Array]:
        """Return the axis of the element's joint in the world, as a point on the axis (3, m) and a unit vector (3)."""
        joint = self._joints[element]
        return np.array(self.data.xanchor[joint]), np.array(self.data.xaxis[joint])

    def touched(self) -> frozenset[str]:
        """Names of the elements in contact with the hand."""
        owners = self._owner[self._in_contact_with(self._hand)]
        return frozenset(self.elements[i].name for i in owners if i >= 0)

    def held(self) -> bool:
        """Return whether both fingers touch the same body, as tactile sensors would report."""
        bodies = self.model.geom_bodyid
        left, right = (set(bodies[self._in_contact_with(finger)]) for finger in (self._left, self._right))
        return bool((left & right) - set(bodies[self._hand]))

    def _in_contact_with(self, mask: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Return the geoms (shapes of the MuJoCo model) that are in contact with one of the geoms that ``mask`` (ngeom)
        marks.
        """
        pairs = self.data.contact.geom[: self.data.ncon]
        return np.concatenate((pairs[mask[pairs[:, 0]], 1], pairs[mask[pairs[:, 1]], 0]))
