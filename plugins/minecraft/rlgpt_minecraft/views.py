"""What coded actions, and policies that ask for it, see: MineDojo's observation, read for the task."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from rlgpt.domain import Plain, Task
from rlgpt.plugin.types import Context, ViewKey
from voxeldojo.names import CRAFTS

from rlgpt_minecraft.eyes import Seen, Sight
from rlgpt_minecraft.ground import SIDES
from rlgpt_minecraft.settings import pixels
from rlgpt_minecraft.tasks import Spec, spec_of
from rlgpt_minecraft.things import FLUIDS, Thing, things

_BODY = (
    ViewKey("position", "of the feet, from where the episode began: east, up, south", "m", size=3),
    ViewKey("height", "of the feet in the world: bedrock lies at 0 to 4, the sea's level is 63", "m", size=1),
    ViewKey("heading", "of the look: 0 south, 90 west, +-180 north, -90 east; grows to the right", "degrees", size=1),
    ViewKey("heading_vector", "sine and cosine of heading", "", size=2),
    ViewKey("elevation", "of the look: 90 straight up, 0 level, -90 straight down", "degrees", size=1),
    ViewKey("on_ground", "1 while something solid is right under the feet, else 0", "", size=1),
    ViewKey("in_water", "1 while the feet are in water, else 0", "", size=1),
    ViewKey("life", "20 is full, 0 is dead (the episode ends)", "half hearts", size=1),
    ViewKey("food", "20 is full; at 0 life goes down", "", size=1),
    ViewKey("breath", "300 is full; goes down while the head is under water", "ticks", size=1),
    ViewKey("daylight", "brightness of the sun, 0 at night to 1", "", size=1),
    ViewKey("time", "share of the episode that has passed", "", size=1),
)

_HAND = (
    ViewKey("aim_block", "name of the block under the cross-hair, as the game writes it; '' if none within 40 m"),
    ViewKey("aim_entity", "name of the animal, monster or drop ('item') under the cross-hair, before any block, or ''"),
    ViewKey("aim_distance", "from the eyes to what is under the cross-hair; 40: nothing", "m", size=1),
    ViewKey("aim_reach", "1 if attack and use reach it: blocks up to 4.5 m, animals up to 3 m; else 0", "", size=1),
    ViewKey("dig_ticks", "ticks in a row that attack was held on the block now under the cross-hair", "ticks", size=1),
    ViewKey("hand", "item in the hand; 'air' if none"),
)

_WAYS = (
    ViewKey("feet_blocked", "1 if a block stops the feet 0.8 m away: 45 degrees left, ahead, 45 right", "", size=3),
    ViewKey("head_blocked", "the same for the head; feet blocked and head free: a jump gets up there", "", size=3),
    ViewKey("descent", "how far the ground falls there: 0 to 3 m; 4: 4 or more (over 3 hurts)", "m", size=3),
    ViewKey("water_ahead", "1 if water is there, in the same three directions", "", size=3),
    ViewKey("lava_ahead", "1 if lava is ahead there", "", size=1),
)


def _sight_keys(thing: Thing) -> tuple[ViewKey, ...]:
    n = thing.name
    nearest = f"nearest {thing.label} that the lidar sees ahead" + (
        ", or that is within 2 blocks" if thing.kind == "block" else ""
    )
    keys = (
        ViewKey(f"{n}_seen", f"1 if there is one: the {nearest}; else 0", "", size=1),
        ViewKey(f"{n}_distance", f"from the eyes to the {thing.label}; 40 if none is seen", "m", size=1),
        ViewKey(f"{n}_bearing", "to it from the heading, to the right; negative: left; 0 if none", "degrees", size=1),
        ViewKey(f"{n}_elevation", "to it above the level; negative: below; 0 if none is seen", "degrees", size=1),
        ViewKey(f"{n}_aimed", "1 if it is under the cross-hair and in reach", "", size=1),
    )
    return keys[:-1] if n in FLUIDS else keys


def _item_keys(spec: Spec) -> tuple[ViewKey, ...]:
    keys = [ViewKey("inventory", "item -> how many there are")]
    keys += [ViewKey(f"{item}_count", f"how many {item} there are", "", size=1) for item in spec.counted]
    keys += [ViewKey(f"{item}_in_hand", f"1 if {item} is in the hand", "", size=1) for item in spec.equips]
    for item in spec.made:
        doc = f"1 if {item} can be made here and now, else 0"
        if item in spec.smelts:
            doc += ", as MineDojo's mask has it: it does not count fuel, and takes logs for what coal is smelted from"
        keys.append(ViewKey(f"{item}_possible", doc, "", size=1))
    if spec.places or spec.smelts:
        tools = {"table": "crafting table", "furnace": "furnace"}
        keys += [
            ViewKey(
                f"{tool}_near", f"1 if a {label} is on the screen, at most 5 m away: then it can be used", "", size=1
            )
            for tool, label in tools.items()
        ]
    return tuple(keys)


def view_keys(task: Task) -> tuple[ViewKey, ...]:
    """The keys of the view: body, hand, ways, each thing that is looked for, items.

    Where the task's policies observe pixels, what lidar and voxels tell is for code alone.
    """
    spec = spec_of(task)
    sights = (key for thing in things(spec.sights) for key in _sight_keys(thing))
    told: Iterable[ViewKey] = (*_HAND, *_WAYS, *sights)
    if pixels(task) is not None:
        told = (replace(key, size=0) for key in told)
    return (*_BODY, *told, *_item_keys(spec))


def view(ctx: Context) -> dict[str, Plain]:
    """The view now, by the observation alone."""
    spec, seen = spec_of(ctx.task), ctx.model.read(ctx.observation)
    told = _tell_body(ctx, seen) | _tell_hand(ctx, seen) | _tell_ways(seen)
    for name in spec.sights:
        told |= _tell_sight(name, seen.sights[name])
    return told | _tell_items(spec, seen)


def _tell_body(ctx: Context, seen: Seen) -> dict[str, Plain]:
    life, location = seen.observation["life_stats"], seen.observation["location_stats"]
    start, yaw = ctx.info["start"], math.radians(seen.yaw)
    return {
        "position": [round(float(a) - b, 2) for a, b in zip(seen.position, start, strict=True)],
        "height": round(float(seen.position[1]), 2),
        "heading": round(seen.yaw, 1),
        "heading_vector": [round(math.sin(yaw), 4), round(math.cos(yaw), 4)],
        "elevation": round(seen.look_elevation, 1),
        "on_ground": int(seen.ground.on_ground),
        "in_water": int(seen.ground.in_water),
        "life": round(life["life"].item(), 1),
        "food": round(life["food"].item(), 1),
        "breath": round(life["oxygen"].item()),
        "daylight": round(location["sun_brightness"].item(), 3),
        "time": round(ctx.step / ctx.task.horizon, 4),
    }


def _tell_hand(ctx: Context, seen: Seen) -> dict[str, Plain]:
    aim = seen.aim
    return {
        "aim_block": aim.block,
        "aim_entity": aim.entity,
        "aim_distance": round(aim.distance, 2),
        "aim_reach": int(aim.reach),
        "dig_ticks": int(ctx.info["dig_ticks"]),
        "hand": seen.hand,
    }


def _tell_ways(seen: Seen) -> dict[str, Plain]:
    ground, ways = seen.ground, SIDES.values()
    return {
        "feet_blocked": [int(ground.feet_blocked(way)) for way in ways],
        "head_blocked": [int(ground.head_blocked(way)) for way in ways],
        "descent": [ground.descent(way) for way in ways],
        "water_ahead": [int(ground.liquid("water", way)) for way in ways],
        "lava_ahead": int(ground.liquid("lava")),
    }


def _tell_sight(name: str, sight: Sight) -> dict[str, Plain]:
    told: dict[str, Plain] = {
        f"{name}_seen": int(sight.seen),
        f"{name}_distance": round(sight.distance, 2),
        f"{name}_bearing": round(sight.bearing, 1),
        f"{name}_elevation": round(sight.elevation, 1),
    }
    return told if name in FLUIDS else {**told, f"{name}_aimed": int(sight.aimed)}


def _tell_items(spec: Spec, seen: Seen) -> dict[str, Plain]:
    counts = seen.inventory
    told: dict[str, Plain] = {"inventory": dict(counts)}
    told |= {f"{item}_count": counts.get(item, 0) for item in spec.counted}
    told |= {f"{item}_in_hand": int(seen.hand == item) for item in spec.equips}
    can = seen.observation["masks"]["craft_smelt"]
    told |= {f"{item}_possible": int(can[CRAFTS.index(item)]) for item in spec.made}
    if spec.places or spec.smelts:
        tools = seen.observation["nearby_tools"]
        told |= {"table_near": int(tools["table"]), "furnace_near": int(tools["furnace"])}
    return told
