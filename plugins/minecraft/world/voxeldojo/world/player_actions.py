"""Runs the actions of the player's hands in a tick. The player attacks or digs, uses (places or eats), and throws
items.

The order and timing of the actions are those of the game's client (``Minecraft.processKeyBinds``, ``clickMouse``,
``rightClickMouse``, 1.11.2). A hit happens only when the attack key is pressed; digging continues while the attack key
is held. The use key has an effect in the tick in which it is pressed, and then every ``USE_DELAY`` ticks. If a mouse
button is already pressed, Malmo's ``FakeMouse`` ignores another press of this button.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voxeldojo.world.combat import attack
from voxeldojo.world.constants import USE_DELAY
from voxeldojo.world.dig import dig, stop_digging
from voxeldojo.world.drops import throw
from voxeldojo.world.interact import eat, interact
from voxeldojo.world.jit import part
from voxeldojo.world.place import use_on_block
from voxeldojo.world.state import World


@part
def step_hands(world: World, action: NDArray[np.void]) -> None:
    """Do in one tick what the keys attack, use and drop in ``action`` demand.

    :param action: an array of one record, with the dtype ``ACTION`` and the shape ``(1,)``.
    """
    p, a = world.player[0], action[0]
    item = world.slots[p.selected].item
    p.attack_ticks = p.attack_ticks + 1 if item == p.held_item else 0
    p.held_item = item
    if not a.attack or p.use_ticks > 0 or attack(world) or not dig(world):
        stop_digging(world)
    p.attack_held = a.attack
    p.use_delay = max(p.use_delay - 1, 0) if a.use else 0
    if not a.use:
        p.use_ticks = 0
    elif p.use_ticks > 0:
        eat(world)
    elif p.use_delay == 0:
        p.use_delay = USE_DELAY
        if not interact(world):
            use_on_block(world)
        if not world.events[0].used:
            eat(world)
    if a.drop:
        throw(world)
