"""Defines the command of one tick, and translates an action of MineDojo to a command.

The translation of actions is that of MineDojo's module ``sim/wrappers/ar_nn/nn_action_space_wrapper.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voxeldojo.errors import VoxelDojoError
from voxeldojo.names import CRAFTS, INVENTORY
from voxeldojo.spaces import CAMERA_INTERVAL, FUNCTIONS

DROP, CRAFT, EQUIP, PLACE, DESTROY = (FUNCTIONS.index(name) for name in ("drop", "craft", "equip", "place", "destroy"))
LAGGING = frozenset((DROP, CRAFT, EQUIP, PLACE, DESTROY))
"""Functions after which MineDojo waits for two ticks, until its game shows the result."""
LAG = 2


class EmptySlotError(VoxelDojoError):
    """An action equips, places or destroys the item of a slot that is empty. The masks in the observation exclude
    actions that use the item of an empty slot.
    """


class Command(NamedTuple):
    """Contains the keys that are held during a tick, and the other commands of Malmo's clients.

    :ivar pitch: the degrees by which the view turns down.
    :ivar yaw: the degrees by which the view turns right.
    :ivar craft: the name of the item to craft, one of ``names.CRAFTS``.
    :ivar equip, place: the name of the item that the player equips or places.
    :ivar swap: two slots whose contents are exchanged.
    :ivar hotbar: the slot (0 to 8) of the hotbar whose item is taken into the hand.
    :ivar chat: a text for the chat, usually a server command such as "/time set 0" (see the module ``chat``).
    """

    forward: bool = False
    back: bool = False
    left: bool = False
    right: bool = False
    jump: bool = False
    sneak: bool = False
    sprint: bool = False
    use: bool = False
    attack: bool = False
    drop: bool = False
    pitch: float = 0.0
    yaw: float = 0.0
    craft: str | None = None
    equip: str | None = None
    place: str | None = None
    swap: tuple[int, int] | None = None
    hotbar: int | None = None
    chat: str | None = None


NOTHING = Command()


def slot_name(slot: int) -> str:
    """Return the name that the command ``/replaceitem`` uses for a slot (0 to 40)."""
    if slot == 0:
        return "slot.weapon.mainhand"
    if slot == 40:
        return "slot.weapon.offhand"
    if slot >= 36:
        return f"slot.armor.{('feet', 'legs', 'chest', 'head')[slot - 36]}"
    return f"slot.hotbar.{slot}" if slot < 9 else f"slot.inventory.{slot - 9}"


def translate(
    action: Sequence[int] | NDArray[np.int64],
    held: Sequence[str],
    *,
    strict: bool = True,
    camera_interval: float = CAMERA_INTERVAL,
) -> Command:
    """Translate an action of MineDojo's action space to a command.

    :param action: int64 ``(8,)``.
    :param held: the names of the items in the 36 slots, with underscores.
    :param strict: whether it is an error to equip, place or destroy the item of an empty slot; if False, such an action
        has no effect.
    :raises EmptySlotError: see ``strict``.
    """
    walk, strafe, body, pitch, yaw, function, craft, slot = (int(head) for head in action)
    item = held[slot] if function in (EQUIP, PLACE, DESTROY) else None
    if item == "air":
        if strict:
            full = [n for n in range(INVENTORY) if held[n] != "air"]
            raise EmptySlotError(
                f"{FUNCTIONS[function]} of slot {slot}, which is empty; the slots that are not: {full}. "
                f"observation['masks'] shows these slots; with strict=False, such actions have no effect."
            )
        item = None
    return Command(
        forward=walk == 1,
        back=walk == 2,
        left=strafe == 1,
        right=strafe == 2,
        jump=body == 1,
        sneak=body == 2,
        sprint=body == 3,
        use=function == 1,
        attack=function == 3,
        drop=function == DROP,
        pitch=pitch * camera_interval - 180,
        yaw=yaw * camera_interval - 180,
        craft=CRAFTS[craft] if function == CRAFT else None,
        equip=item if function == EQUIP else None,
        place=item if function == PLACE else None,
        chat=f"/replaceitem entity @p {slot_name(slot)} minecraft:air 1 0" if item and function == DESTROY else None,
    )
