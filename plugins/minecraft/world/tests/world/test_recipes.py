"""Crafting equals a second implementation, and gives the well-known products."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from voxeldojo.names import craft_place
from voxeldojo.world.inventory import ANY, give, put
from voxeldojo.world.items import FUEL, ID, NAMES, STACK
from voxeldojo.world.jit import jit
from voxeldojo.world.nearby import nearby
from voxeldojo.world.recipes import CRAFT, MATRIX, RECIPES, Recipe, craft, fuel
from voxeldojo.world.state import World

some = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@jit
def fuel_of(world: World) -> int:
    return fuel(world)


@jit
def nearby_of(world: World) -> tuple[bool, bool]:
    return nearby(world)


Pile = Counter[tuple[int, int]]


def pile(world: World) -> Pile:
    held: Pile = Counter()
    for stacks in (world.slots, world.drops[world.drops["alive"]]):
        for item, quantity, variant in zip(stacks["item"], stacks["quantity"], stacks["variant"], strict=True):
            if quantity:
                held[int(item), int(variant)] += int(quantity)
    return held


def enough(held: Pile, recipe: Recipe) -> bool:
    return all(
        sum(n for (item, variant), n in held.items() if item == part.item and part.variant in (ANY, variant))
        >= part.quantity
        for part in recipe.ingredients
    )


def workshop(scene: Any) -> World:
    """Put a crafting table and a furnace into the player's view."""
    scene.put(0, 1, 3, "crafting_table")
    scene.put(1, 1, 3, "furnace")
    scene.look_at(256.5 + 0.5, 65.5, 259.5)
    return scene.world  # type: ignore[no-any-return]


def burnt(before: Pile, after: Pile, recipe: Recipe) -> int:
    """Return the burning time in ticks of the fuel: the items that vanished and are not part of the recipe."""
    gone: Counter[int] = Counter()
    for held, sign in ((before, 1), (after, -1)):
        for (item, _), n in held.items():
            gone[item] += sign * n
    gone[recipe.item] += recipe.quantity
    for part in recipe.ingredients:
        gone[part.item] -= part.quantity
    assert all(n >= 0 and (n == 0 or FUEL[item] > 0) for item, n in gone.items())
    return sum(int(FUEL[item]) * n for item, n in gone.items())


RECIPE = st.integers(0, len(RECIPES) - 1)


@some
@given(RECIPE, st.integers(0, 3), st.booleans(), st.booleans(), st.data())
def test_craft_consumes_and_gives_the_items_of_the_first_possible_recipe(
    scene: Any, number: int, spare: int, short: bool, coal: bool, data: st.DataObject
) -> None:
    chosen = RECIPES[number]
    if NAMES[chosen.item] not in CRAFT:
        return
    world = workshop(scene)
    world.slots[...] = np.zeros((), world.slots.dtype)
    world.player["fuel_ticks"] = 0
    for part in chosen.ingredients:
        variant = data.draw(st.integers(0, 3)) if part.variant == ANY else part.variant
        quantity = part.quantity + spare - (1 if short and part is chosen.ingredients[0] else 0)
        give(world, part.item, quantity, variant, 0)
    if coal:
        give(world, ID["coal"], 1, 0, 0)
    before, index = pile(world), CRAFT.index(NAMES[chosen.item])
    where = craft_place(CRAFT[index])
    tried = [r for r in RECIPES if r.item == chosen.item]
    tried = [r for r in tried if (where == "furnace") == r.smelted or (where == "hand" and r.variant == 0)]
    able = [r for r in tried if enough(before, r) and (not r.smelted or fuel_of(world) >= 200)]
    able = [r for r in able if not r.smelted or r.variant == 0]
    done = craft(world, index)
    after = pile(world)
    assert done == bool(able)
    if not done:
        assert after == before
        return
    recipe = able[0]
    if not recipe.smelted:
        wanted: Counter[int] = Counter()
        for (item, _), n in before.items():
            wanted[item] += n
        for part in recipe.ingredients:
            wanted[part.item] -= part.quantity
        wanted[recipe.item] += recipe.quantity
        got: Counter[int] = Counter()
        for (item, _), n in after.items():
            got[item] += n
        assert {item: n for item, n in wanted.items() if n} == dict(got)
        for part in recipe.ingredients:
            if part.variant != ANY and part.item != recipe.item:
                used = sum(p.quantity for p in recipe.ingredients if p.item == part.item and p.variant == part.variant)
                key = part.item, part.variant
                assert after[key] == before[key] - used
        assert after[recipe.item, recipe.variant] > 0
    else:
        assert int(world.player["fuel_ticks"][0]) == burnt(before, after, recipe) - 200
        assert after[recipe.item, recipe.variant] > 0


def made_of(scene: Any, name: str, **held: int) -> dict[str, int]:
    world = scene.world
    world.slots[...] = np.zeros((), world.slots.dtype)
    world.player["fuel_ticks"] = 0
    for item, quantity in held.items():
        give(world, ID[item], quantity, 0, 0)
    assert craft(world, CRAFT.index(name)), name
    return {NAMES[item]: n for (item, _), n in pile(world).items()}


def test_well_known_recipes_give_their_products(scene: Any) -> None:
    workshop(scene)
    assert made_of(scene, "planks", log=1) == {"planks": 4}
    assert made_of(scene, "stick", planks=2) == {"stick": 4}
    assert made_of(scene, "crafting_table", planks=4) == {"crafting_table": 1}
    assert made_of(scene, "wooden_pickaxe", planks=3, stick=2) == {"wooden_pickaxe": 1}
    assert made_of(scene, "stone_pickaxe", cobblestone=3, stick=2) == {"stone_pickaxe": 1}
    assert made_of(scene, "furnace", cobblestone=8) == {"furnace": 1}
    assert made_of(scene, "bed", wool=3, planks=3) == {"bed": 1}
    assert made_of(scene, "torch", coal=1, stick=1) == {"torch": 4}
    assert made_of(scene, "iron_ingot", iron_ore=1, coal=1) == {"iron_ingot": 1}
    assert made_of(scene, "iron_pickaxe", iron_ingot=3, stick=2) == {"iron_pickaxe": 1}
    assert made_of(scene, "bucket", iron_ingot=3) == {"bucket": 1}
    assert made_of(scene, "glass", sand=1, planks=1) == {"glass": 1}


def test_birch_logs_give_birch_planks_and_a_bed_takes_wool_of_any_colour(scene: Any) -> None:
    world = workshop(scene)
    give(world, ID["log"], 1, 2, 0)
    assert craft(world, CRAFT.index("planks"))
    assert pile(world) == Counter({(ID["planks"], 2): 4})
    for colour in (0, 8, 15):
        give(world, ID["wool"], 1, colour, 0)
    assert craft(world, CRAFT.index("bed"))
    assert pile(world) == Counter({(ID["planks"], 2): 1, (ID["bed"], 0): 1})


def test_one_coal_smelts_eight_items(scene: Any) -> None:
    world = workshop(scene)
    give(world, ID["coal"], 1, 0, 0)
    give(world, ID["iron_ore"], 9, 0, 0)
    assert [craft(world, CRAFT.index("iron_ingot")) for _ in range(9)] == [True] * 8 + [False]


def test_a_lava_bucket_smelts_a_hundred_items_and_leaves_the_bucket(scene: Any) -> None:
    world = workshop(scene)
    put(world, 0, ID["lava_bucket"], 1, 0, 0)
    give(world, ID["sand"], 64, 0, 0)
    give(world, ID["sand"], 64, 0, 0)
    assert [craft(world, CRAFT.index("glass")) for _ in range(101)] == [True] * 100 + [False]
    assert pile(world)[ID["bucket"], 0] == 1


def test_logs_cannot_be_smelted_and_iron_tools_are_smelted_without_a_furnace(scene: Any) -> None:
    """Malmo smelts only into the first variant of coal. It also smelts by hand an item that cannot be crafted."""
    world = workshop(scene)
    give(world, ID["log"], 2, 0, 0)
    assert not craft(world, CRAFT.index("coal"))
    assert MATRIX[CRAFT.index("coal"), ID["log"]] == 1
    world.slots[...] = np.zeros((), world.slots.dtype)
    give(world, ID["iron_pickaxe"], 1, 0, 30)
    give(world, ID["coal"], 1, 0, 0)
    assert craft(world, CRAFT.index("iron_nugget"))
    assert pile(world) == Counter({(ID["iron_nugget"], 0): 1})


@pytest.mark.parametrize("name", ["wooden_pickaxe", "furnace", "bed", "iron_ingot"])
def test_craft_fails_without_the_required_crafting_table_or_furnace(scene: Any, name: str) -> None:
    world = scene.world
    for item in np.flatnonzero(MATRIX[CRAFT.index(name)]):
        give(world, int(item), int(MATRIX[CRAFT.index(name), item]), 0, 0)
    give(world, ID["coal"], 1, 0, 0)
    before = world.slots.copy()
    assert not craft(world, CRAFT.index(name))
    assert (world.slots == before).all()
    workshop(scene)
    assert craft(world, CRAFT.index(name))


def test_a_product_is_dropped_if_the_inventory_is_full(scene: Any) -> None:
    world = scene.world
    world.slots["item"], world.slots["quantity"] = ID["dirt"], 64
    put(world, 0, ID["log"], 2, 0, 0)
    assert craft(world, CRAFT.index("planks"))
    assert scene.drops() == {ID["planks"]: 4}


def test_every_craft_has_a_recipe(scene: Any) -> None:
    assert len(CRAFT) == 244
    assert MATRIX.shape == (244, len(NAMES))
    assert (MATRIX.sum(axis=1) > 0).all()
    assert all(STACK[r.item] >= 1 and r.quantity >= 1 and 1 <= r.size <= 9 for r in RECIPES)


@some
@given(
    st.floats(-180, 180),
    st.floats(-90, 90),
    st.integers(-5, 5),
    st.integers(-5, 6),
    st.integers(-5, 5),
    st.floats(0.3, 3),
)
def test_nearby_finds_a_table_in_malmos_field_of_view_only(
    scene: Any, yaw: float, pitch: float, x: int, y: int, z: int, aspect: float
) -> None:
    world = scene.world
    scene.stand(256.3, 74.2, 256.8, yaw, pitch)
    world.clock["aspect"] = aspect
    at = 256 + x, 74 + y, 256 + z
    world.blocks[at] = 0
    scene.put(x, 10 + y, z, "crafting_table")
    to = np.array(at) + 0.5 - np.array([256.3, 75.8, 256.8])
    a, b = np.radians(yaw), np.radians(pitch)
    look = np.array([-np.sin(a) * np.cos(b), -np.sin(b), np.cos(a) * np.cos(b)])
    cross = np.cross(look, [0, 1, 0])
    above = np.cross(cross, look)
    seen = False
    if np.linalg.norm(cross) > 1e-4 and look @ to > 0 and to @ to <= 25:
        angles = []
        for axis in (cross, above):
            flat = to - axis * (axis @ to / np.linalg.norm(axis))
            angles.append(np.degrees(np.arccos(min(1.0, look @ flat / np.linalg.norm(flat)))))
        limits = min(1, 1 / aspect) * 35, min(1, aspect) * 35
        if any(abs(angle - most) < 1e-6 for angle, most in zip(angles, limits, strict=True)):
            return
        seen = angles[0] <= limits[0] and angles[1] <= limits[1]
    assert nearby_of(world) == (seen, False)
    world.blocks[at] = 0
