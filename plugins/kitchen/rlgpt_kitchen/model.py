"""What primitives, views and reward terms may know of the simulation. Nothing here steps it."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgpt_kitchen.elements import ELEMENTS, Element
from rlgpt_kitchen.ik import JOINTS, Arm, Array, Pose


class KitchenModel:
    """A handle on one environment's simulation.

    ``pose`` and ``observed_site`` go by what the sensors say (with their noise), the ``true_*`` ones by the simulator.
    """

    def __init__(self, base: Any) -> None:
        self.model, self.data = base.model, base.data
        named = {e.label: e for e in ELEMENTS.values()}
        self.elements: tuple[Element, ...] = tuple(named[label] for label in base.goal)
        self.arm = Arm(self.model)
        self._sites = {e.name: self.model.site(e.site).id for e in self.elements}
        self._joints = {e.name: self.model.joint(e.joint).id for e in self.elements}
        self._contact = {e.name: np.array(e.contact) for e in self.elements}
        self._seen: Any = None
        self._pose: Pose | None = None
        damping = self.model.dof_damping[:JOINTS]
        self.stiffness: Array = self.model.actuator_gainprm[:JOINTS, 0].copy()
        period = base.robot_env.dt
        self.fraction: Array = 1.0 - np.exp(-period * self.stiffness / damping)
        """Share of a commanded joint displacement that is covered within one control step."""
        self.command = period * float(base.robot_env.act_rng[0])
        """Joint displacement (rad) that an action of 1 commands."""
        self.reach: Array = np.minimum(self.command, self.model.actuator_forcerange[:JOINTS, 1] / self.stiffness)
        """Largest commanded displacement (rad) that still adds torque."""
        hand = {self.model.body(f"panda0_{part}").id for part in ("leftfinger", "rightfinger", "link7")}
        self._owner = np.array([self._element_of(b) for b in self.model.geom_bodyid])
        self._is_hand = np.isin(self.model.geom_bodyid, list(hand))

    def _element_of(self, body: int) -> int:
        """Index of the element a body belongs to, or -1."""
        roots = {self.model.body(e.body).id: i for i, e in enumerate(self.elements)}
        while body:
            if body in roots:
                return roots[body]
            body = int(self.model.body_parentid[body])
        return -1

    def pose(self, observation: Any) -> Pose:
        """The hand's pose by the observed joints; kept until there is another observation."""
        if self._pose is None or self._seen is not observation:
            positions = np.concatenate((observation["robot"][:9], observation["objects"][:21]))
            self._pose, self._seen = self.arm.solve(positions), observation
        return self._pose

    def observed_handle(self, observation: Any, element: str) -> Array:
        """Where the element's handle is by the observed joints, m (3)."""
        self.pose(observation)
        return np.array(self.arm.scratch.site_xpos[self._sites[element]])

    def true_hand(self) -> Array:
        return np.array(self.data.site_xpos[self.arm.site])

    def true_contact_point(self, element: str) -> Array:
        """Where a hand reaches for, m (3)."""
        return np.array(self.data.site_xpos[self._sites[element]] + self._contact[element])

    def true_progress(self, element: Element) -> float:
        return element.progress(tuple(self.data.qpos[list(element.qpos)]))

    def hinge(self, element: str) -> tuple[Array, Array]:
        """A point on, and the direction of, the axis of the element's joint in the world (m; 3, 3)."""
        joint = self._joints[element]
        return np.array(self.data.xanchor[joint]), np.array(self.data.xaxis[joint])

    def touched(self) -> frozenset[str]:
        """Names of the elements that the hand touches."""
        pairs = self.data.contact.geom[: self.data.ncon]
        names = set()
        for hand, other in ((pairs[:, 0], pairs[:, 1]), (pairs[:, 1], pairs[:, 0])):
            for owner in self._owner[other[self._is_hand[hand]]]:
                if owner >= 0:
                    names.add(self.elements[owner].name)
        return frozenset(names)
