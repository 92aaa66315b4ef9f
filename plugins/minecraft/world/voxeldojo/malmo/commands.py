"""Parses the command lines of a step ("forward 1", "camera 0.0 15.0", "craft planks", "chat /time set 0").

The syntax of the lines is that of ``sim/handlers/agent/actions`` and ``sim/sim.py`` of MineDojo 0.1.
"""

from __future__ import annotations

import math
from typing import Any, Final

from voxeldojo.command import NOTHING, Command
from voxeldojo.names import CRAFTS, ITEMS, craft_place
from voxeldojo.world.state import SLOTS

KEYS: Final = frozenset(
    ("forward", "back", "left", "right", "jump", "sneak", "sprint", "use", "attack", "drop"),
)
CRAFTING: Final = {
    "craft": ("hand",),
    "craftNearby": ("hand", "table"),
    "smelt": ("furnace",),
    "smeltNearby": ("furnace",),
}
"""Malmo's crafting commands -> the places where their items are crafted."""
UNUSED: Final = frozenset(("pickItem", "inventory", "swapHands"))
"""Malmo's commands for keys that have no effect in voxeldojo."""
HOTBAR: Final = 9
_WHERE: Final = {name: craft_place(name) for name in CRAFTS}
_ITEMS: Final = frozenset(ITEMS)


def read(text: str) -> tuple[Command, list[str]]:
    """Parse the command lines of a step. Return the parsed command, and a remark about each line that has no effect."""
    known: dict[str, Any] = {}
    remarks = []
    for line in text.split("\n"):
        word, _, rest = line.strip().partition(" ")
        if word:
            try:
                known.update(_part(word, rest.strip()))
            except (ValueError, IndexError) as error:
                remarks.append(f"{line.strip()[:80]!r}: {error}")
    return NOTHING._replace(**known), remarks


def _part(word: str, rest: str) -> dict[str, Any]:
    if word in KEYS:
        return {word: _held(rest)}
    if word == "camera":
        pitch, yaw = (float(number) for number in rest.split())
        if not (math.isfinite(pitch) and math.isfinite(yaw)):
            raise ValueError("the angle of the camera must be a finite number of degrees")
        return {"pitch": pitch, "yaw": yaw}
    if word == "chat":
        return {"chat": rest}
    if word in CRAFTING:
        return {} if rest == "none" else {"craft": _craft(word, rest)}
    if word in ("equip", "place"):
        return {} if rest == "none" else {word: _item(rest)}
    if word == "swapInventoryItems":
        first, second = (int(slot) for slot in rest.split())
        if not (0 <= first < SLOTS and 0 <= second < SLOTS):
            raise ValueError(f"slots must be 0 to {SLOTS - 1}")
        return {"swap": (first, second)}
    if word.startswith("hotbar."):
        slot = int(word.removeprefix("hotbar.")) - 1
        if not 0 <= slot < HOTBAR:
            raise ValueError(f"slots of the hotbar must be 1 to {HOTBAR}")
        return {"hotbar": slot} if _held(rest) else {}
    if word in UNUSED and not _held(rest):
        return {}
    raise ValueError("this server has no such command")


def _held(rest: str) -> bool:
    return float(rest or 0) > 0


def _craft(word: str, rest: str) -> str:
    name = _item(rest)
    if _WHERE.get(name) not in CRAFTING[word]:
        raise ValueError(f"{word} cannot make {name}")
    return name


def _item(rest: str) -> str:
    name = rest.removeprefix("minecraft:")
    if name not in _ITEMS:
        raise ValueError("this world has no such item")
    return name
