"""Converts the view to text for prompts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgpt.domain import Plain

from rlgpt_minecraft.things import THINGS

LIMIT = 1500


def summarize(view: Mapping[str, Plain]) -> str:
    """Return the view as text of at most 1,500 characters."""
    lines = [_body(view), _hand(view), _ways(view), *_sights(view), _items(view)]
    return "\n".join(line for line in lines if line)[:LIMIT]


def _body(view: Mapping[str, Plain]) -> str:
    place: Any = view["position"]
    time: Any = view["time"]
    state = ", in water" if view["in_water"] else "" if view["on_ground"] else ", in the air"
    return (
        f"at {place[0]} m east, {place[1]} m up, {place[2]} m south of the start, height {view['height']} m{state}; "
        f"looks at heading {view['heading']} degrees, elevation {view['elevation']}; life {view['life']} of 20, food "
        f"{view['food']} of 20, breath {view['breath']} of 300, daylight {view['daylight']}; {100 * time:.0f} % of the "
        "episode has passed"
    ) + _hit(view)


def _hit(view: Mapping[str, Any]) -> str:
    if not view.get("hit_kind"):
        return ""
    way = f" from bearing {view['hit_bearing']}" if view["hit_bearing"] else ""
    return f"; lost {view['hit_amount']} life {view['hit_ticks']} ticks ago: {view['hit_kind']}{way}"


def _hand(view: Mapping[str, Plain]) -> str:
    if "aim_entity" not in view:
        return f"in hand: {view['hand']}"
    what = view["aim_entity"] or view["aim_block"]
    if not what:
        return f"in hand: {view['hand']}; nothing under the cross-hair"
    reach = "in reach" if view["aim_reach"] else "out of reach"
    held = f", attacked for {view['dig_ticks']} ticks" if view["dig_ticks"] else ""
    return f"in hand: {view['hand']}; under the cross-hair: {what}, {view['aim_distance']} m away, {reach}{held}"


def _ways(view: Mapping[str, Any]) -> str:
    if "feet_blocked" not in view:
        return ""
    said = []
    for i, side in enumerate(("45 degrees left", "ahead", "45 degrees right")):
        feet, head, down, water = (view[key][i] for key in ("feet_blocked", "head_blocked", "descent", "water_ahead"))
        way = "a wall" if feet and head else "a step up" if feet else "blocked at the head" if head else "free"
        said.append(f"{side} {way}{', water' if water else ''}" + (f", {down} m down" if down else ""))
    return "ways: " + "; ".join(said) + ("; LAVA ahead" if view["lava_ahead"] else "")


def _sights(view: Mapping[str, Any]) -> list[str]:
    names = [name for name in THINGS if f"{name}_seen" in view]
    missing = [name for name in names if not view[f"{name}_seen"]]
    visible = [_sight(name, view) for name in names if view[f"{name}_seen"]]
    return [*visible, f"not seen: {', '.join(missing)}" if missing else ""]


def _sight(name: str, view: Mapping[str, Any]) -> str:
    away, right, up = (view[f"{name}_{key}"] for key in ("distance", "bearing", "elevation"))
    aimed = ", under the cross-hair in reach" if view.get(f"{name}_aimed") else ""
    return f"{name} {away} m away, bearing {right}, elevation {up}{aimed}"


def _items(view: Mapping[str, Plain]) -> str:
    inventory: Mapping[str, Plain] = view["inventory"]  # type: ignore[assignment]
    said = "inventory: " + (", ".join(f"{n} {item}" for item, n in inventory.items()) or "empty")
    possible = [key.removesuffix("_possible") for key, value in view.items() if key.endswith("_possible") and value]
    if possible:
        said += f"; can be made now: {', '.join(possible)}"
    near = [label for label in ("table", "furnace") if view.get(f"{label}_near")]
    return said + (f"; near: {', '.join(near)}" if near else "")
