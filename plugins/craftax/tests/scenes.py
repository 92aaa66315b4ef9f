"""Observations drawn as text, for tests that need no simulator."""

from __future__ import annotations

from typing import Any

import numpy as np
from rlgpt.plugin.types import Context
from rlgpt_craftax.names import ACTIONS, BLOCKS, BODY, DIRECTIONS, FLAGS, INVENTORY, ITEMS, MOBS, OFFSETS, SHOTS, SIGNS
from rlgpt_craftax.observation import MIDDLE, Observation, movement, space
from rlgpt_craftax.tasks import SYMBOLIC, make_tasks

TASK = make_tasks()[SYMBOLIC]
MEADOW = ("...........",) * 9
_BLOCK_OF = {sign: name for name, sign in reversed(SIGNS.items()) if name in BLOCKS}
_ITEM_OF = {sign: name for name, sign in reversed(SIGNS.items()) if name in ITEMS}


def observe(
    rows: tuple[str, ...] = MEADOW,
    *,
    mobs: dict[tuple[int, int], str] | None = None,
    shots: dict[tuple[int, int], str] | None = None,
    facing: str = "up",
    flags: tuple[str, ...] = (),
    floor: int = 0,
    **held: float,
) -> Observation:
    """An observation. ``rows`` has the characters of the view's map; ``mobs`` and ``shots`` stand at (right, down)."""
    seen: dict[str, Any] = {key: np.zeros(part.shape, part.dtype) for key, part in space().items()}
    for r, row in enumerate(rows):
        for c, sign in enumerate(row):
            seen["item"][r, c] = ITEMS.index(_ITEM_OF.get(sign, "none"))
            seen["block"][r, c] = BLOCKS.index("path" if sign in _ITEM_OF else _BLOCK_OF[sign])
    for grid, names, placed in (("mob", MOBS, mobs), ("shot", SHOTS, shots)):
        for (right, down), name in (placed or {}).items():
            seen[grid][MIDDLE[0] + down, MIDDLE[1] + right] = names.index(name)
    body = {
        "health": 9,
        "food": 9,
        "drink": 9,
        "energy": 9,
        "mana": 9,
        "dexterity": 1,
        "strength": 1,
        "intelligence": 1,
    }
    for name, value in (body | held).items():
        key, names = ("body", BODY) if name in BODY else ("inventory", INVENTORY)
        seen[key][names.index(name)] = value
    for name in flags:
        seen["flags"][FLAGS.index(name)] = 1
    seen["light"][0] = 1
    return {**seen, "facing": np.int64(DIRECTIONS.index(facing)), "floor": np.int64(floor)}


def context(observation: Observation, previous: Observation | None = None, reward: float = 0.0) -> Context:
    info = {"moved": (0, 0), "env_reward": reward}
    return Context(TASK, observation, info, 3, np.random.default_rng(0), None, {}, previous)


class Walker:
    """Plays a primitive in a drawn world in which only the player moves: turning, walking, being blocked."""

    def __init__(self, rows: tuple[str, ...], **named: Any) -> None:
        self.rows, self.named, self.at = rows, named, (0, 0)
        self.facing = named.pop("facing", "up")
        self.context = context(self._look())
        self.actions: list[str] = []

    def _look(self) -> Observation:
        right, down = self.at
        shifted = tuple(
            "".join(
                self.rows[r + down][c + right] if 0 <= r + down < 9 and 0 <= c + right < 11 else "X" for c in range(11)
            )
            for r in range(9)
        )
        mobs = {(x - right, y - down): name for (x, y), name in self.named.get("mobs", {}).items()}
        seen = {key: mob for key, mob in mobs.items() if abs(key[0]) <= 5 and abs(key[1]) <= 4}
        return observe(shifted, **{**self.named, "mobs": seen}, facing=self.facing)

    def play(self, run: Any) -> Any:
        """The outcome of a running primitive."""
        try:
            while True:
                action = int(next(run))
                self.actions.append(ACTIONS[action])
                before = self.context.observation
                if 1 <= action <= 4:
                    self.facing = DIRECTIONS[action - 1]
                    moved = movement(before, action, before) or (0, 0)
                    assert moved in ((0, 0), OFFSETS[action - 1])
                    self.at = self.at[0] + moved[0], self.at[1] + moved[1]
                    self.context.info = {"moved": moved, "env_reward": 0.0}
                self.context.observation = self._look()
        except StopIteration as end:
            return end.value
