"""Inventory slots fill, merge, move and wear as in the game, and no item is lost."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from voxeldojo.world.inventory import MAIN, WEAR_SLOT, count, destroy, equip, find, give, put, swap, take, wear
from voxeldojo.world.items import DURABILITY, ID, NAMES, STACK
from voxeldojo.world.jit import jit
from voxeldojo.world.state import SLOTS, World

TAKE, SWAP, EQUIP, FIND, WEAR = range(5)


@jit
def do(world: World, what: int, a: int, b: int, c: int) -> int:
    """Call one of the inventory functions with as many of the arguments as it takes."""
    if what == TAKE:
        take(world, a, b, c)
    elif what == SWAP:
        swap(world, a, b)
    elif what == EQUIP:
        return 1 if equip(world, a) else 0
    elif what == FIND:
        return find(world, a)
    elif what == WEAR:
        return 1 if wear(world, a, b) else 0
    return 0


Stuff = Counter[tuple[int, int, int]]
some = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
ITEMS = st.sampled_from(
    [ID[n] for n in ("planks", "log", "wool", "egg", "bucket", "iron_sword", "iron_helmet", "shield")]
)
FILLINGS = st.lists(st.tuples(ITEMS, st.integers(1, 64), st.integers(0, 2), st.integers(0, 1)), max_size=SLOTS)


def fill(world: World, filling: list[tuple[int, int, int, int]]) -> None:
    world.slots[...] = np.zeros((), world.slots.dtype)
    for index, (item, quantity, variant, damage) in enumerate(filling):
        wears = damage if DURABILITY[item] else 0
        put(world, index, item, min(quantity, int(STACK[item])), variant, wears)


def stuff(world: World) -> Stuff:
    held: Stuff = Counter()
    for item, quantity, variant, damage in world.slots.tolist():
        assert (quantity > 0) == (item > 0), "an empty slot must contain air"
        if quantity:
            assert quantity <= STACK[item]
            held[item, variant, damage] += quantity
    return held


@some
@given(FILLINGS, ITEMS, st.integers(1, 200), st.integers(0, 2), st.integers(0, 8))
def test_give_adds_as_many_items_as_fit_and_returns_the_excess(
    scene: Any, filling: list[Any], item: int, quantity: int, variant: int, selected: int
) -> None:
    world = scene.world
    fill(world, filling)
    world.player["selected"] = selected
    before = stuff(world)
    limit = int(STACK[item])
    room = sum(limit for slot in world.slots[:MAIN].tolist() if slot[1] == 0)
    mergeable = [*world.slots[:MAIN].tolist(), world.slots[40].item()]
    room += sum(limit - s[1] for s in mergeable if s[1] and (s[0], s[2], s[3]) == (item, variant, 0) and limit > 1)
    left = give(world, item, quantity, variant, 0)
    assert left == max(quantity - room, 0)
    assert stuff(world) == before + Counter({(item, variant, 0): quantity - left})


def test_give_fills_slots_in_the_order_of_the_game(scene: Any) -> None:
    world, log = scene.world, ID["log"]
    put(world, 2, log, 60, 0, 0)
    put(world, 20, log, 60, 0, 0)
    world.player["selected"] = 7
    put(world, 7, log, 62, 0, 0)
    put(world, 0, ID["dirt"], 1, 0, 0)
    give(world, log, 10, 0, 0)
    assert [int(world.slots["quantity"][i]) for i in (7, 2, 20)] == [64, 64, 64]
    give(world, log, 1, 2, 0)
    assert world.slots[1].item() == (log, 1, 2, 0)


@some
@given(FILLINGS, ITEMS, st.integers(1, 100), st.sampled_from([-1, 0, 1]))
def test_take_removes_the_requested_quantity_or_all_there_is(
    scene: Any, filling: list[Any], item: int, quantity: int, variant: int
) -> None:
    world = scene.world
    fill(world, filling)
    before, off_hand = stuff(world), world.slots[40].item()
    counted = world.slots[:40].tolist()
    there = sum(q for i, q, v, d in counted if i == item and (variant == -1 or (v == variant and d == 0)))
    do(world, TAKE, item, quantity, variant)
    gone = before - stuff(world)
    assert sum(gone.values()) == min(there, quantity)
    assert all(i == item and variant in (-1, v) and (variant == -1 or d == 0) for i, v, d in gone)
    assert world.slots[40].item() == off_hand


@some
@given(FILLINGS, st.integers(0, SLOTS - 1), st.integers(0, SLOTS - 1))
def test_swapping_two_slots_twice_restores_the_inventory(
    scene: Any, filling: list[Any], first: int, second: int
) -> None:
    world = scene.world
    fill(world, filling)
    before = world.slots.copy()
    do(world, SWAP, first, second, 0)
    assert world.slots[first] == before[second]
    assert world.slots[second] == before[first]
    do(world, SWAP, second, first, 0)
    assert (world.slots == before).all()


@some
@given(FILLINGS, ITEMS, st.integers(0, 8))
def test_equip_moves_the_first_stack_to_its_slot(scene: Any, filling: list[Any], item: int, selected: int) -> None:
    world = scene.world
    fill(world, filling)
    world.player["selected"] = selected
    before, first = stuff(world), do(world, FIND, item, 0, 0)
    wanted = world.slots[first].item()
    assert do(world, EQUIP, item, 0, 0) == (first >= 0)
    assert stuff(world) == before
    if first >= 0:
        target = int(WEAR_SLOT[item]) if WEAR_SLOT[item] >= 0 else selected
        assert world.slots[target].item() == wanted


def test_equip_moves_wearable_items_to_their_slots(scene: Any) -> None:
    slots = {"leather_boots": 36, "iron_leggings": 37, "diamond_chestplate": 38, "golden_helmet": 39, "pumpkin": 39}
    for name, slot in {**slots, "elytra": 38, "shield": 40}.items():
        put(scene.world, 12, ID[name], 1, 0, 0)
        assert do(scene.world, EQUIP, ID[name], 0, 0)
        assert scene.world.slots["item"][slot] == ID[name]
    assert (WEAR_SLOT >= 0).sum() == sum(name in NAMES for name in NAMES if WEAR_SLOT[ID[name]] >= 36)


def test_a_wooden_pickaxe_disappears_after_sixty_uses(scene: Any) -> None:
    world, pickaxe = scene.world, ID["wooden_pickaxe"]
    put(world, 0, pickaxe, 1, 0, 0)
    broke = [do(world, WEAR, 0, 1, 0) for _ in range(60)]
    assert broke == [0] * 59 + [1]
    assert count(world, pickaxe) == 0
    put(world, 1, ID["dirt"], 5, 0, 0)
    assert do(world, WEAR, 1, 9, 0) == 0
    assert world.slots[1].item() == (ID["dirt"], 5, 0, 0)
    destroy(world, 1)
    assert stuff(world) == Counter()
