"""Random play with an auditor: no item appears or vanishes without a cause.

After each tick the auditor computes, from the changes of the world and from the tables, how many of each item may
have appeared or vanished, and compares this range with the change of the items on the ground and in the inventory.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from voxeldojo.world.blocks import (
    AIR,
    CACTUS,
    DROP,
    DROP_LEAST,
    DROP_MOST,
    FARMLAND,
    FIRE,
    ITEM_OF,
    LAVA,
    RARE,
    RARE_INSTEAD,
    WATER,
)
from voxeldojo.world.blocks import ID as BLOCK
from voxeldojo.world.constants import ITEM_LIFETIME
from voxeldojo.world.crops import PRODUCE, RIPE, SEEDS
from voxeldojo.world.crops import RARE as CROP_RARE
from voxeldojo.world.crops import TABLE as CROPS
from voxeldojo.world.dig import harvests
from voxeldojo.world.health import respawn
from voxeldojo.world.inventory import put
from voxeldojo.world.items import CONTAINER, DURABILITY, ID, NAMES, TOOL_CLASS, TOOLS
from voxeldojo.world.mob_kinds import CHICKEN, COW, LOOT, ROLLS, SHEEP
from voxeldojo.world.mob_kinds import NAMES as KINDS
from voxeldojo.world.mob_kinds import RARE as MOB_RARE
from voxeldojo.world.recipes import CRAFT, RECIPES, craft
from voxeldojo.world.spawn import summon
from voxeldojo.world.state import DROPS, World

FLOOR, MIDDLE = 64, 256
BOX = (slice(MIDDLE - 24, MIDDLE + 24), slice(FLOOR - 6, FLOOR + 14), slice(MIDDLE - 24, MIDDLE + 24))
BUCKET = ID["bucket"]
BUCKETS = BUCKET, ID["water_bucket"], ID["lava_bucket"]
SHEARS = TOOLS.index("shears")
TOOL_BELT = (
    *("diamond_pickaxe", "iron_hoe", "shears", "bucket", "iron_sword", "dirt", "beef", "water_bucket", "wheat_seeds"),
)
INTENTS = "hit", "hit", "milk", "shear", "eat", "dig", "dig", "use", "use", "till", "farm", "walk"
THINGS = ("log", "birch_log", "leaves", "sand", "gravel", "coal_ore", "crafting_table", "clay", "tallgrass", "poppy")

Pile = Counter[int]


def pile(world: World) -> Pile:
    held: Pile = Counter()
    for stacks in (world.slots, world.drops[world.drops["alive"]]):
        for item, quantity in zip(stacks["item"].tolist(), stacks["quantity"].tolist(), strict=True):
            assert quantity >= 0
            held[item] += quantity
    return +held


class Auditor:
    """Copy of a world before a tick. After the tick, ``check`` compares the change of each item with its range."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.blocks, self.mobs, self.level = world.blocks[BOX].copy(), world.mobs.copy(), world.level[BOX].copy()
        self.drops, self.slots = world.drops.copy(), world.slots.copy()
        self.hand = world.slots[int(world.player["selected"][0])].copy()
        self.pile = pile(world)
        self.least: Pile = Counter()
        self.most: Pile = Counter()

    def may(self, item: int, least: int, most: int) -> None:
        if item:
            self.least[item] += least
            self.most[item] += most

    def hands(self) -> None:
        event, item = self.world.events[0], int(self.hand["item"])
        if event["milked"] > 0:
            self.may(BUCKET, -1, -1)
            self.may(ID["milk_bucket"], 1, 1)
        elif event["placed"] > 0:
            self.may(item, -1, -1)
        elif event["used"] and item in BUCKETS:
            for bucket in BUCKETS:
                self.may(bucket, -1 if bucket == item else 0, int(bucket != item))
            now = pile(self.world)
            assert sum(now[bucket] - self.pile[bucket] for bucket in BUCKETS) == 0, "the number of buckets changed"
        if event["sheared"] > 0:
            self.may(ID["wool"], 1, 3)
        if event["ate"] > 0:
            self.may(int(event["ate"]), -1, -1)
            self.may(int(CONTAINER[event["ate"]]), 1, 1)

    def land(self) -> None:
        after, broke = self.world.blocks[BOX], int(self.world.events["broke"][0])
        gone = (self.blocks != after) & (self.blocks != AIR)
        for block, level in zip(self.blocks[gone].tolist(), self.level[gone].tolist(), strict=True):
            if block in (WATER, LAVA):
                continue
            dug = block == broke
            broke = AIR if dug else broke
            sheared = dug and TOOL_CLASS[self.hand["item"]] == SHEARS
            if dug and not harvests(block, int(self.hand["item"])) and not sheared:
                continue
            if RIPE[block] and level >= RIPE[block]:
                self.may(int(PRODUCE[block]), int(dug), 1)
                self.may(int(ITEM_OF[block]), 0, int(SEEDS[block]))
                self.may(int(CROP_RARE[block]), 0, 1)
                continue
            surely = dug and not sheared and not RARE_INSTEAD[block]
            self.may(int(DROP[block]), int(DROP_LEAST[block]) if surely else 0, int(DROP_MOST[block]))
            for item in RARE[block].tolist():
                self.may(item, 0, 1)
            if sheared and int(ITEM_OF[block]) != int(DROP[block]):
                self.may(int(ITEM_OF[block]), 0, 1)

    def lives(self) -> None:
        alive = set(self.world.mobs["id"][self.world.mobs["kind"] > 0].tolist())
        for mob in self.mobs[self.mobs["kind"] > 0]:
            if mob["kind"] == CHICKEN and mob["cooldown"] == 1 and mob["id"] in alive:
                self.may(ID["egg"], 1, 1)
            if mob["id"] in alive:
                continue
            rolls = int(ROLLS[mob["kind"], 1])
            for item, cooked, least, most, odds in LOOT[mob["kind"]].tolist():
                if rolls > 0:
                    self.may(item, 0, rolls * most)
                    continue
                self.may(item, 0 if cooked != item or odds > 0 else least, most)
                if cooked != item:
                    self.may(cooked, 0, most)
            for item in MOB_RARE[mob["kind"]].tolist():
                self.may(item, 0, 1)
            if mob["kind"] == SHEEP and not mob["sheared"]:
                self.may(ID["wool"], 1, 1)

    def ends(self) -> None:
        for drop in self.drops[self.drops["alive"] & ~self.world.drops["alive"]]:
            if drop["age"] >= ITEM_LIFETIME - 1:
                self.may(int(drop["item"]), -int(drop["quantity"]), 0)
            x, z = int(drop["x"]), int(drop["z"])
            column = self.world.blocks[x, int(drop["y"] - 1) : int(drop["y"]) + 2, z]
            if np.isin(column, (LAVA, FIRE, CACTUS)).any():
                self.may(int(drop["item"]), -int(drop["quantity"]), 0)
        for item, _, _, damage in self.slots.tolist():
            if DURABILITY[item] and damage + 2 > DURABILITY[item]:
                self.may(item, -1, 0)

    def check(self) -> None:
        for cause in (self.hands, self.land, self.lives, self.ends):
            cause()
        now = pile(self.world)
        for item in set(now) | set(self.pile) | set(self.least):
            change = now[item] - self.pile[item]
            message = (
                f"{NAMES[item]}: {change}, {self.least[item]} to {self.most[item]} are expected; {self.world.events[0]}"
            )
            assert self.least[item] <= change <= self.most[item], message


def arena(scene: Any, rng: np.random.Generator) -> None:
    """Build a meadow with many kinds of blocks, and pits of water and lava."""
    world = scene.world
    world.blocks[BOX[0], FLOOR - 1, BOX[2]] = BLOCK["grass"]
    for _ in range(300):
        x, z = rng.integers(-20, 21, 2)
        if abs(x) + abs(z) > 2:
            scene.put(int(x), 0, int(z), THINGS[rng.integers(len(THINGS))])
    for _ in range(120):
        x, z = rng.integers(-20, 21, 2)
        if abs(x) + abs(z) > 2:
            crop = CROPS[rng.integers(len(CROPS))]
            scene.put(int(x), -1, int(z), "farmland", int(rng.integers(8)))
            scene.put(int(x), 0, int(z), crop.block, int(rng.integers(crop.ripe + 1)))
    for fluid, x in (("water", -8), ("lava", 8)):
        for dz in range(3):
            world.blocks[MIDDLE + x, FLOOR - 1, MIDDLE + dz] = BLOCK[fluid]
            scene.put(x, 0, dz, "air")
    for slot, name in enumerate(TOOL_BELT):
        put(world, slot, ID[name], 1 if DURABILITY[ID[name]] else 4, 0, 0)
    world.slots["quantity"][7] = 1


def craft_audited(world: World, rng: np.random.Generator) -> None:
    index = int(rng.integers(len(CRAFT)))
    if any(recipe.item == ID[CRAFT[index]] and recipe.smelted for recipe in RECIPES):
        return
    before = pile(world)
    done = craft(world, index)
    after = pile(world)
    if not done:
        assert after == before
        return
    changes = {item: after[item] - before[item] for item in set(before) | set(after) if after[item] != before[item]}
    found = []
    for recipe in RECIPES:
        if recipe.item == ID[CRAFT[index]] and not recipe.smelted:
            delta: Pile = Counter({recipe.item: recipe.quantity})
            for part in recipe.ingredients:
                delta[part.item] -= part.quantity
            found.append({item: n for item, n in delta.items() if n})
    assert changes in found, (CRAFT[index], changes)


class Player:
    """A player with random intents, each followed for a number of ticks."""

    def __init__(self, scene: Any, rng: np.random.Generator) -> None:
        self.scene, self.rng, self.intent, self.aim = scene, rng, "hit", (0.0, 0.0, 0.0)
        self.intents: list[str] = []

    def mob(self, *kinds: int) -> Any:
        mobs, player = self.scene.world.mobs, self.scene.player
        near = mobs[np.isin(mobs["kind"], kinds)]
        return near[np.argmin(np.hypot(near["x"] - player["x"], near["z"] - player["z"]))] if len(near) else None

    def begin(self) -> None:
        player = self.scene.player
        if not self.intents:
            self.intents = self.rng.permutation(INTENTS).tolist()
        self.intent = self.intents.pop()
        slots = {"hit": 4, "milk": 3, "shear": 2, "eat": 6, "till": 1, "farm": 8}
        player["selected"] = slots.get(self.intent, int(self.rng.integers(9)))
        x, z = self.rng.uniform(-3, 3, 2)
        self.aim = player["x"] + x, FLOOR + self.rng.uniform(-0.5, 1), player["z"] + z
        player["food"], player["attack_ticks"] = 10, 50
        if self.intent == "till":
            put(self.scene.world, 1, ID["iron_hoe"], 1, 0, int(self.rng.integers(DURABILITY[ID["iron_hoe"]])))
            self.aim = player["x"] + x, float(FLOOR), player["z"] + z
        fields = np.argwhere(self.scene.world.blocks[BOX] == FARMLAND)
        if self.intent == "farm" and len(fields):
            x, _, z = fields[self.rng.integers(len(fields))] + [part.start for part in BOX]
            self.scene.stand(x + 0.5, FLOOR + 0.5, z - 0.5)
            self.aim = x + 0.5, FLOOR - 1 / 16, z + 0.5

    def keys(self, step: int) -> dict[str, Any]:
        wanted = {"hit": range(1, len(KINDS)), "milk": [COW], "shear": [SHEEP]}.get(self.intent, [])
        mob, player = self.mob(*wanted), self.scene.player
        if mob is not None:
            if np.hypot(mob["x"] - player["x"], mob["z"] - player["z"]) > 2.2:
                self.scene.stand(float(mob["x"]), max(FLOOR, float(mob["y"])), float(mob["z"]) - 1.6)
            self.aim = float(mob["x"]), float(mob["y"]) + 0.5, float(mob["z"])
        self.scene.look_at(*self.aim)
        press = step % 2 == 0
        return {
            "attack": self.intent == "dig" or (self.intent in ("hit", "farm") and press),
            "use": self.intent == "eat"
            or (self.intent in ("milk", "shear", "till", "use") and press)
            or (self.intent == "farm" and not press),
            "forward": int(self.intent == "walk"),
            "drop": bool(self.rng.random() < 0.01),
        }


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_items_appear_and_vanish_only_with_a_cause_during_random_play(scene: Any, seed: int) -> None:
    world, rng, player = scene.world, np.random.default_rng(seed), scene.player
    arena(scene, rng)
    plays, events = Player(scene, rng), Counter[str]()
    for step in range(2400):
        if step % (20 if plays.intent != "eat" else 40) == 0:
            plays.begin()
            if (world.mobs["kind"] > 0).sum() < 10:
                x, z = rng.uniform(-6, 6, 2)
                kind = (COW, SHEEP, int(rng.integers(1, len(KINDS))))[step // 20 % 3]
                index = summon(world, kind, player["x"] + x, FLOOR + 1.0, player["z"] + z)
                world.mobs["life"][index] = rng.integers(1, 5)
            player["life"] = 20 if rng.random() < 0.9 else player["life"]
        if step % 100 == 0:
            index = int(rng.integers(len(TOOL_BELT)))
            wears = int(DURABILITY[ID[TOOL_BELT[index]]])
            if world.slots["quantity"][index] == 0:
                put(world, index, ID[TOOL_BELT[index]], 1 if wears else 3, 0, max(wears - int(rng.integers(3)), 0))
            world.drops["age"] += rng.integers(0, 700)
        if step % 40 == 7:
            craft_audited(world, rng)
        auditor = Auditor(world)
        assert auditor.drops["alive"].sum() < DROPS - 10
        scene.tick(**plays.keys(step))
        for name in ("broke", "placed", "milked", "sheared", "ate", "killed_mob", "tilled"):
            events[name] += int(scene.events[name] > 0)
        auditor.check()
        events["reaped"] += int(RIPE[max(scene.events["broke"], 0)] > 0)
        if player["dead"]:
            respawn(world)
            events["died"] += 1
        if (
            player["dead"]
            or abs(player["x"] - MIDDLE) > 18
            or abs(player["z"] - MIDDLE) > 18
            or player["y"] < FLOOR - 3
        ):
            scene.stand(MIDDLE + 0.5, FLOOR + 1, MIDDLE + 0.5)
    assert all(
        events[name] for name in ("broke", "placed", "killed_mob", "milked", "sheared", "ate", "tilled", "reaped")
    ), events
