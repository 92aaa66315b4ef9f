"""Chooses each step of a walk. A walk leads onto blocks of height one, out of water and around higher obstacles, and
never into lava or a deep fall.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from rlgpt.plugin.types import Context

from rlgpt_minecraft.ground import MAX_DESCENT_BLOCKS, STEP_M, Ground
from rlgpt_minecraft.moves import Action, Body, move
from rlgpt_minecraft.primitives.common import observe, struck, travelled
from rlgpt_minecraft.rays import Array

Way = Literal["forward", "back", "left", "right"]

DEGREES: dict[str, float] = {"forward": 0.0, "back": 180.0, "left": -90.0, "right": 90.0}
BLOCKED_TICKS = 10
"""Ticks without progress after which a walk is blocked."""
ADVANCE = 0.05
"""Smallest progress of a walk, m."""
DETOUR = 5
"""Ticks of the first sidestep around an obstacle. Later sidesteps are longer."""
DETOURS = 4
"""Maximal number of detours of one walk."""
BESIDE = 1.4
"""Distance to an obstacle at which the search for a detour begins, m."""


def hazard(ground: Ground, degrees: float) -> str:
    """Return the hazard ahead: "lava", "fall" or "". The check of hazards includes columns that the path only touches
    at a corner.
    """
    for metres in (STEP_M, STEP_M / 2):
        if ground.liquid("lava", degrees, metres):
            return "lava"
        deep = ground.on_ground and ground.descent(degrees, metres) >= MAX_DESCENT_BLOCKS
        if deep and not ground.liquid("water", degrees, metres):
            return "fall"
    return ""


@dataclass
class Stride:
    """The state of one walk.

    :ivar stopped: why the walk has stopped ("hit", "wall", "lava" or "fall"), or "" if the walk has not stopped. A hit
        is an attack on the player.
    """

    ctx: Context
    sprint: bool = False
    stopped: str = ""
    _still: int = 0
    _sideways: int = 0
    _side: int = 1
    _detours: int = 0
    _last: Array = field(init=False)
    _began: int = field(init=False)

    def __post_init__(self) -> None:
        self._last, self._began = observe(self.ctx).position, self.ctx.step

    def step(self, way: Way = "forward", *, right: int = 0, up: int = 0, around: bool = False) -> Action | None:
        """Return the next action of the walk, or None if the walk has stopped.

        :param right, up: the number of camera bins by which the view turns in this step. In the step, the player moves
            along the heading from before the turn of the view.
        :param around: whether the walk goes sideways around an obstacle; if False, the walk stops at an obstacle.
        """
        ground = observe(self.ctx).ground
        turned = DEGREES[way] + 15.0 * right
        self.stopped = "hit" if struck(self.ctx, self._began) else hazard(ground, turned)
        if self.stopped:
            return None
        self._still = 0 if travelled(self.ctx, self._last) > ADVANCE else self._still + 1
        self._last = observe(self.ctx).position
        wall = ground.feet_blocked(turned) or ground.head_blocked(turned)
        barred = self._sideways > 0 and hazard(ground, turned - 90.0 * self._side)
        if self._sideways > 0 and not barred:
            self._sideways -= 1
            onward = not wall and not hazard(ground, turned - 45.0 * self._side)
            return move(int(onward), self._side, self._body(ground, turned), right=right, up=up)
        if barred or self._still >= BLOCKED_TICKS or (wall and not ground.steppable(turned) and ground.on_ground):
            self.stopped = self._begin_detour(ground, turned) if around else "wall"
            return None if self.stopped else move(0, self._side, self._body(ground, turned), right=right, up=up)
        forward = {"forward": 1, "back": -1}.get(way, 0)
        left = {"left": 1, "right": -1}.get(way, 0)
        return move(forward, left, self._body(ground, turned), right=right, up=up)

    def _body(self, ground: Ground, degrees: float) -> Body:
        if ground.in_water or (ground.on_ground and ground.steppable(degrees)) or self._still in (3, 4):
            return "jump"
        return "sprint" if self.sprint else ""

    def _begin_detour(self, ground: Ground, turned: float) -> str:
        """Choose a side for a detour. Return "" if a side is free, or the reason to stop the walk: "wall" after four
        detours, or the hazard ("lava" or "fall") on one side if the other side is blocked, too.
        """
        if self._detours >= DETOURS:
            return "wall"
        self._detours += 1
        self._sideways, self._still = DETOUR * self._detours, 0
        self._side = self._freer(ground)
        why = hazard(ground, turned - 90.0 * self._side)
        if not why:
            return ""
        self._side = -self._side
        other = turned - 90.0 * self._side
        return why if ground.wall(other) or hazard(ground, other) else ""

    def _freer(self, ground: Ground) -> int:
        """Return the better side for a detour, 1 for left or -1 for right. The better side is the one without a wall;
        if both or neither have a wall, it is the one that the last detour did not take.
        """
        free = [side for side in (1, -1) if not ground.wall(-45.0 * side, BESIDE)]
        return free[0] if len(free) == 1 else -self._side if self._detours > 1 else self._side
