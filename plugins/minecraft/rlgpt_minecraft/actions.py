"""The base action space: what a policy chooses from when it runs no coded action.

The official code of RL-GPT (``minecraft.py``, ``transform_action``) chooses one of twelve moves, and beside it nothing,
use or attack: MultiDiscrete [12, 3]. None of these can craft, so tasks that need it offer more choices in the second
head; ``actions=paper`` leaves them out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from rlgpt.errors import ConfigError

from rlgpt_minecraft.moves import Action, crafting, move
from rlgpt_minecraft.observation import ParsedObservation

MOVES: dict[str, Action] = {
    "no_op": move(),
    "forward": move(1),
    "back": move(-1),
    "left": move(left=1),
    "right": move(left=-1),
    "jump": move(body="jump"),
    "sneak": move(body="sneak"),
    "sprint": move(body="sprint"),
    "look_up": move(up=2),
    "look_down": move(up=-2),
    "turn_left": move(right=-2),
    "turn_right": move(right=2),
}
"""The first head, in the official order. The camera turns by two bins, 30 degrees. Jump and sprint do not move by
themselves, as in the official code."""

HANDS = ("no_op", "use", "attack")
"""The second head of the paper."""

HEADS = ("move", "hand")
"""The heads' labels."""

_FUNCTION = 5


def hands(crafts: Sequence[str], places: Sequence[str], equips: Sequence[str]) -> tuple[str, ...]:
    """Names of the second head's choices."""
    return (
        *HANDS,
        *(f"craft_{item}" for item in crafts),
        *(f"place_{item}" for item in places),
        *(f"equip_{item}" for item in equips),
    )


class BaseActions:
    """The base space of a task, and MineDojo's action for each choice.

    :param choices: of the second head; see :func:`hands`.
    """

    def __init__(self, choices: Sequence[str]) -> None:
        self.choices = tuple(choices)
        self.space = spaces.MultiDiscrete([len(MOVES), len(self.choices)])
        self._moves = tuple(MOVES.values())

    def translate(self, action: NDArray[np.integer] | Sequence[int], obs: ParsedObservation) -> Action:
        """MineDojo's action for a pair.

        An item that is to be placed or equipped and is not there leaves the hand idle. Crafting, placing and equipping
        happen instead of the move's jump or turn only where MineDojo says so: the move is kept.

        :raises ConfigError: the pair is not one of ``space``: two whole numbers, each in its range.
        """
        given = np.asarray(action)
        if given.shape != self.space.shape or given.dtype.kind not in "iu" or not self._has(given):
            raise ConfigError(
                f"{action!r} is no pair of {self.space}; valid: whole numbers from 0 to {len(MOVES) - 1} and from 0 to "
                f"{len(self.choices) - 1}."
            )
        first, second = (int(part) for part in given)
        whole = self._moves[first].copy()
        whole[_FUNCTION:] = self._hand(self.choices[second], obs)[_FUNCTION:]
        return whole

    def _has(self, pair: NDArray[np.integer]) -> bool:
        return bool((pair >= 0).all() and (pair < self.space.nvec).all())

    def _hand(self, choice: str, obs: ParsedObservation) -> Action:
        if choice in ("use", "attack"):
            return move(function="use" if choice == "use" else "attack")
        verb, _, item = choice.partition("_")
        if verb == "craft":
            return crafting(item)
        slot = obs.slot(item) if verb in ("place", "equip") else None
        if slot is None:
            return move()
        return move(function="place" if verb == "place" else "equip", slot=slot)
