"""Defines the view that coded actions see; policies can select its keys. The view is computed from MineDojo's
observation, parsed for the task.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rlgpt.domain import Plain, Task
from rlgpt.plugin.types import Context, ViewKey

from rlgpt_minecraft.ground import SIDES
from rlgpt_minecraft.hits import read_hit
from rlgpt_minecraft.observation import ParsedObservation, Sighting
from rlgpt_minecraft.settings import is_blind, pixels
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

_HIT = (
    ViewKey("hit_ticks", "time since life was last lost, at most 200; 200 if none was lost yet", "ticks", size=1),
    ViewKey("hit_amount", "life that was lost then; 0 if none was lost yet", "half hearts", size=1),
    ViewKey(
        "hit_kind", "cause: 'blow', 'projectile', 'explosion', 'fire', 'other' (fall, hunger, breath); '' if none yet"
    ),
    ViewKey("hit_bearing", "to what struck, to the right of the heading now; 0 if nothing struck", "degrees", size=1),
)

_IN_HAND = ViewKey("hand", "item in the hand; 'air' if none")

_HAND = (
    ViewKey("aim_block", "name of the block under the cross-hair, as the game writes it; '' if none within 40 m"),
    ViewKey("aim_entity", "name of the animal, monster or drop ('item') under the cross-hair, before any block, or ''"),
    ViewKey("aim_distance", "from the eyes to what is under the cross-hair; 40: nothing", "m", size=1),
    ViewKey("aim_reach", "1 if attack and use reach it: blocks up to 4.5 m, animals up to 3 m; else 0", "", size=1),
    ViewKey("dig_ticks", "ticks in a row that attack was held on the block now under the cross-hair", "ticks", size=1),
    _IN_HAND,
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
    for item in spec.makeable:
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
    """Return the keys of the view, which describe the body, the hand, the surroundings, each thing to look for, and the
    items.

    If the task's policies observe pixels, only code can use the keys from lidar and voxels. In the tier ``paper``, only
    policies can use the keys from lidar and voxels.
    """
    spec = spec_of(task)
    sights = (key for thing in things(spec.sights) for key in _sight_keys(thing))
    keys = (*_HAND, *_WAYS, *sights)
    if pixels(task) is not None:
        keys = tuple(replace(key, size=0) for key in keys)
    alone = (_IN_HAND, *(replace(key, alone=True) for key in keys if key.size))
    keys = alone if is_blind(task) else (*_HIT, *keys)
    return (*_BODY, *keys, *_item_keys(spec))


def view(ctx: Context) -> dict[str, Plain]:
    """Return the current view. The view depends only on the observation and on the progress in ``info``."""
    spec, obs = spec_of(ctx.task), ctx.model.read(ctx.observation)
    if is_blind(ctx.task):
        return _read_body(ctx, obs) | {"hand": obs.hand} | _read_items(spec, obs)
    return _read_body(ctx, obs) | read_hit(ctx, obs.yaw) | _read_surroundings(ctx, obs) | _read_items(spec, obs)


def policy_view(ctx: Context) -> dict[str, Plain]:
    """Return the values of the keys that only policies can use. In the tier ``paper``, the keys that only policies can
    use are those of the surroundings.
    """
    if not is_blind(ctx.task):
        return {}
    values = _read_surroundings(ctx, ctx.model.read(ctx.observation))
    return {name: value for name, value in values.items() if not isinstance(value, str)}


def views(contexts: Sequence[Context]) -> Sequence[Mapping[str, Plain]]:
    """Return the current views of several environments. In a vector, a key is computed for all environments at once."""
    columns = _columns(contexts)
    if columns is None:
        return [view(ctx) for ctx in contexts]
    blind = is_blind(contexts[0].task)
    rows: Sequence[Mapping[str, Any]] = columns.rows_of(columns.whole_view(contexts[0].task, blind=blind), contexts)
    return rows


def policy_views(contexts: Sequence[Context]) -> Sequence[Mapping[str, Any]]:
    """Return the results of :func:`policy_view` for several environments."""
    columns = _columns(contexts)
    if columns is None or not is_blind(contexts[0].task):
        return [policy_view(ctx) for ctx in contexts]
    rows: Sequence[Mapping[str, Any]] = columns.rows_of(columns.policy_view(contexts[0].task), contexts)
    return rows


def _columns(contexts: Sequence[Context]) -> Any:
    """Return the module ``columns`` if all contexts are of environments of a vector, else None."""
    if not contexts or not all(hasattr(ctx.observation, "scene") for ctx in contexts):
        return None
    from rlgpt_minecraft import columns

    return columns


def _read_surroundings(ctx: Context, obs: ParsedObservation) -> dict[str, Plain]:
    view_values = _read_hand(ctx, obs) | _read_ways(obs)
    for name in spec_of(ctx.task).sights:
        view_values |= _read_sight(name, obs.sights[name])
    return view_values


def _read_body(ctx: Context, obs: ParsedObservation) -> dict[str, Plain]:
    life, location = obs.observation["life_stats"], obs.observation["location_stats"]
    start, yaw = ctx.info["start"], math.radians(obs.yaw)
    return {
        "position": [round(float(a) - b, 2) for a, b in zip(obs.position, start, strict=True)],
        "height": round(float(obs.position[1]), 2),
        "heading": round(obs.yaw, 1),
        "heading_vector": [round(math.sin(yaw), 4), round(math.cos(yaw), 4)],
        "elevation": round(obs.look_elevation, 1),
        "on_ground": int(obs.ground.on_ground),
        "in_water": int(obs.ground.in_water),
        "life": round(life["life"].item(), 1),
        "food": round(life["food"].item(), 1),
        "breath": round(life["oxygen"].item()),
        "daylight": round(location["sun_brightness"].item(), 3),
        "time": round(ctx.step / ctx.task.horizon, 4),
    }


def _read_hand(ctx: Context, obs: ParsedObservation) -> dict[str, Plain]:
    aim = obs.crosshair
    return {
        "aim_block": aim.block,
        "aim_entity": aim.entity,
        "aim_distance": round(aim.distance, 2),
        "aim_reach": int(aim.reach),
        "dig_ticks": int(ctx.info["dig_ticks"]),
        "hand": obs.hand,
    }


def _read_ways(obs: ParsedObservation) -> dict[str, Plain]:
    ground, ways = obs.ground, SIDES.values()
    return {
        "feet_blocked": [int(ground.feet_blocked(way)) for way in ways],
        "head_blocked": [int(ground.head_blocked(way)) for way in ways],
        "descent": [ground.descent(way) for way in ways],
        "water_ahead": [int(ground.liquid("water", way)) for way in ways],
        "lava_ahead": int(ground.liquid("lava")),
    }


def _read_sight(name: str, sight: Sighting) -> dict[str, Plain]:
    view_values: dict[str, Plain] = {
        f"{name}_seen": int(sight.visible),
        f"{name}_distance": round(sight.distance, 2),
        f"{name}_bearing": round(sight.bearing, 1),
        f"{name}_elevation": round(sight.elevation, 1),
    }
    return view_values if name in FLUIDS else {**view_values, f"{name}_aimed": int(sight.aimed)}


def _read_items(spec: Spec, obs: ParsedObservation) -> dict[str, Plain]:
    counts = obs.inventory
    view_values: dict[str, Plain] = {"inventory": dict(counts)}
    view_values |= {f"{item}_count": obs.count(item) for item in spec.counted}
    view_values |= {f"{item}_in_hand": int(obs.hand == item) for item in spec.equips}
    view_values |= {f"{item}_possible": int(obs.possible(item)) for item in spec.makeable}
    if spec.places or spec.smelts:
        tools = obs.observation["nearby_tools"]
        view_values |= {"table_near": int(tools["table"]), "furnace_near": int(tools["furnace"])}
    return view_values
