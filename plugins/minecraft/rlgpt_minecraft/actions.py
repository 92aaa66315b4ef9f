"""Defines the base action space of the Minecraft tasks.

The base actions of RL-GPT's official code (``minecraft.py``, ``transform_action``) have two heads: a head with twelve
moves, and a head with no operation, use and attack: MultiDiscrete [12, 3]. The actions of the official code cannot
craft, so tasks that need crafting have more choices in the second head. ``actions=paper`` removes these choices.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from rlgpt.errors import ConfigError
from voxeldojo.world.items import ID

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
"""The choices of the first head of the action space, in the order of the paper's official code. The camera turns by two
bins, which are 30 degrees. As in the official code, jump and sprint alone do not move the player.
"""

HAND_CHOICES = ("no_op", "use", "attack")
"""The choices of the second head of the action space, as in the paper."""

HEADS = ("move", "hand")
"""Labels of the two heads."""

_FUNCTION = 5


def hand_choices(crafts: Sequence[str], places: Sequence[str], equips: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the choices of the second head of the base actions."""
    return (
        *HAND_CHOICES,
        *(f"craft_{item}" for item in crafts),
        *(f"place_{item}" for item in places),
        *(f"equip_{item}" for item in equips),
    )


class BaseActions:
    """The base action space of a task. The method ``translate`` converts a base action to an action of MineDojo.

    :param choices: the names of the choices of the second head (see :func:`hand_choices`).
    """

    def __init__(self, choices: Sequence[str]) -> None:
        self.choices = tuple(choices)
        self.space = spaces.MultiDiscrete([len(MOVES), len(self.choices)])
        self._moves = tuple(MOVES.values())

    def translate(self, action: NDArray[np.integer] | Sequence[int], obs: ParsedObservation) -> Action:
        """Translate a base action, which is a pair of choices, to an action of MineDojo, int64 ``(8,)``.

        The resulting action contains both the move and the hand's choice. If the item to place or to take into the hand
        is not in the inventory, the hand does nothing.

        :raises ConfigError: the base action does not consist of two integers in the ranges of ``space``.
        """
        pair = np.asarray(action)
        if pair.shape != self.space.shape or pair.dtype.kind not in "iu" or not self._has(pair):
            raise ConfigError(
                f"{action!r} is not a pair of {self.space}; valid: integers from 0 to {len(MOVES) - 1} and from 0 to "
                f"{len(self.choices) - 1}."
            )
        first, second = (int(part) for part in pair)
        translated = self._moves[first].copy()
        translated[_FUNCTION:] = self._hand(self.choices[second], obs)[_FUNCTION:]
        return translated

    def translate_each(self, pairs: NDArray[np.integer], items: NDArray[np.integer]) -> NDArray[np.int64]:
        """Translate a pair of choices for each of several environments, int64 ``(n, 8)``.

        :param pairs: ``(n, 2)``.
        :param items: the item in each slot of each inventory, ``(n, slots)``, as an index into ``items.NAMES``.
        :raises ConfigError: see :meth:`translate`.
        """
        if pairs.shape != (len(items), 2) or pairs.dtype.kind not in "iu" or not self._has(pairs):
            raise ConfigError(f"{pairs!r:.200} are not {len(items)} pairs of {self.space}.")
        translated: NDArray[np.int64] = np.stack(self._moves)[pairs[:, 0]]
        for row, choice in enumerate(pairs[:, 1].tolist()):
            if choice:
                translated[row, _FUNCTION:] = self._hand_at(self.choices[choice], items[row])[_FUNCTION:]
        return translated

    def _hand_at(self, choice: str, items: NDArray[np.integer]) -> Action:
        verb, _, item = choice.partition("_")
        if verb not in ("place", "equip"):
            return self._fixed(choice)
        (slots,) = np.nonzero(items == ID[item])
        return self._to_slot(verb, int(slots[0]) if len(slots) else None)

    def _has(self, pair: NDArray[np.integer]) -> bool:
        return bool((pair >= 0).all() and (pair < self.space.nvec).all())

    def _hand(self, choice: str, obs: ParsedObservation) -> Action:
        verb, _, item = choice.partition("_")
        return self._to_slot(verb, obs.slot(item)) if verb in ("place", "equip") else self._fixed(choice)

    @staticmethod
    @cache
    def _fixed(choice: str) -> Action:
        """Return the action of a choice that does not depend on the inventory."""
        if choice in ("use", "attack"):
            return move(function="use" if choice == "use" else "attack")
        verb, _, item = choice.partition("_")
        return crafting(item) if verb == "craft" else move()

    @staticmethod
    def _to_slot(verb: str, slot: int | None) -> Action:
        return move() if slot is None else move(function="place" if verb == "place" else "equip", slot=slot)
