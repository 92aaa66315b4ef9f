"""Defines the view for coded actions, and the additional keys for policies. The view and the additional keys are
computed only from observations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlgpt.domain import Plain
from rlgpt.plugin.columns import Columns
from rlgpt.plugin.types import Context, ViewKey

from rlgpt_craftax.columns import COUNTED, GRIDS, GROUND, MONSTERS_SHOWN, MOST_OF_A_KIND, NEAREST, SHOTS_SHOWN, Batch
from rlgpt_craftax.names import ARMOUR, BODY, DIRECTIONS, FLAGS, HEIGHT, INVENTORY, POTIONS, SIGNS, WIDTH

_LEGEND = ", ".join(
    f"{sign} {' or '.join(name for name in SIGNS if SIGNS[name] == sign and not name.endswith(('2', '3', '_blocked')))}"
    for sign in dict.fromkeys(SIGNS.values())
    if sign != " "
)

_BODY_DOCS = {
    "health": "at 0 the player dies; most is 8 + strength",
    "food": "falls with time; at 0 health falls; most is 7 + 2 * dexterity",
    "drink": "falls with time; at 0 health falls; most is 7 + 2 * dexterity",
    "energy": "falls while awake; at 0 health falls; most is 7 + 2 * dexterity",
    "mana": "for spells and enchantments; most is 6 + 3 * intelligence",
    "xp": "points that a level_up action spends, 1 for each floor that is entered for the first time",
    "dexterity": "1 to 5",
    "strength": "1 to 5",
    "intelligence": "1 to 5",
}
_FLAG_DOCS = {
    "sleeping": "1 while asleep: every action is ignored",
    "resting": "1 while resting: every action is ignored",
    "knows_fireball": "1 if the spell is learnt",
    "knows_iceball": "1 if the spell is learnt",
    "ladder_open": "1 if enough monsters of this floor are killed to descend",
    "boss_vulnerable": "1 while the necromancer can be hurt",
}
_PLANES = sum(map(len, GRIDS.values()))

VIEW_KEYS = (
    ViewKey(
        "map",
        "9 rows of 11 characters, the player in the middle: map[4 + down][5 + right]. It shows items and blocks, not "
        f"mobs: {_LEGEND}",
    ),
    ViewKey(
        "things",
        f"name -> [[right, down], ...] from the player, the nearest first, at most {MOST_OF_A_KIND} of each: blocks "
        "but grounds and walls, and items",
    ),
    ViewKey("monsters", "[[name, right, down], ...], the nearest first; they attack"),
    ViewKey("animals", "[[name, right, down], ...], the nearest first: cow, bat, snail; they can be eaten"),
    ViewKey("shots", "[[name, right, down], ...] of monsters, the nearest first; they hurt if they hit"),
    ViewKey("ahead", "name of what is in the cell that the player faces: a mob, else an item, else a block"),
    ViewKey("facing", f"{', '.join(DIRECTIONS)}"),
    ViewKey("free", f"1 if the player can walk there now: {', '.join(DIRECTIONS)}", size=4),
    ViewKey("moved", "[right, down] of the player in the newest step; null if darkness hides it"),
    ViewKey("inventory", f"item -> count: {', '.join(INVENTORY[:11])}, bow (0 or 1)"),
    ViewKey("potions", f"colour -> count: {', '.join(POTIONS)}"),
    ViewKey("pickaxe", "0 none, 1 wood, 2 stone, 3 iron, 4 diamond", size=1),
    ViewKey("sword", "0 none, 1 wood, 2 stone, 3 iron, 4 diamond", size=1),
    ViewKey("armour", f"0 none, 1 iron, 2 diamond: {', '.join(ARMOUR)}", size=4),
    ViewKey("enchantments", f"0 none, 1 fire, 2 ice: sword, bow, {', '.join(ARMOUR)}", size=6),
    *(ViewKey(name, _BODY_DOCS[name], size=1) for name in BODY),
    *(ViewKey(name, _FLAG_DOCS[name], size=1) for name in FLAGS),
    ViewKey("floor", "0 overworld, then 1 to 8 below it", size=1),
    ViewKey("light", "of the day: 1 is bright, 0 is night", size=1),
    ViewKey("near_table", "1 if a table is in one of the eight cells around the player", size=1),
    ViewKey("near_furnace", "1 if a furnace is in one of the eight cells around the player", size=1),
    ViewKey("step", "primitive steps since the episode began"),
    ViewKey(
        "items",
        "inventory and potions: square root of each count / 3",
        size=len(COUNTED) + len(POTIONS),
        alone=True,
    ),
    ViewKey("direction", "one-hot code of facing", size=4, alone=True),
    ViewKey(
        "nearest",
        f"right / 5, down / 4, nearness (0 if none is seen) of the nearest {', '.join(NEAREST)}; then of the three "
        "nearest monsters and the two nearest shots",
        size=3 * (len(NEAREST) + MONSTERS_SHOWN + SHOTS_SHOWN),
        alone=True,
    ),
    ViewKey(
        "around",
        f"for the four neighbours and the cell ahead, one-hot: {', '.join(GROUND)}, other; 1 if a mob is there",
        size=5 * (len(GROUND) + 2),
        alone=True,
    ),
    ViewKey("cells", "one-hot codes of all cells: the whole symbolic map", size=HEIGHT * WIDTH * _PLANES, alone=True),
)
_KEYS = tuple(key.name for key in VIEW_KEYS if not key.alone)
_POLICY_KEYS = tuple(key.name for key in VIEW_KEYS if key.alone)


def views(contexts: Sequence[Context]) -> list[Mapping[str, Plain]]:
    """Return the views of all environments at their current steps. When code first reads a key in one view, this key is
    computed for all environments.
    """
    return Columns(_KEYS, Batch(contexts).column).rows(len(contexts))


def policy_views(contexts: Sequence[Context]) -> list[Mapping[str, Any]]:
    """Return the keys that only policies see, for each of the environments. A key is computed for all environments when
    the key is first read.
    """
    return Columns(_POLICY_KEYS, Batch(contexts).column).rows(len(contexts))


def summarize(view: Mapping[str, Plain]) -> str:
    """Describe the view in a text of at most 1,500 characters."""
    carried: Any = view["inventory"]
    potions: Any = view["potions"]
    things: Any = view["things"]
    rows: Any = view["map"]
    have = [f"{count} {item}" for item, count in carried.items() if count]
    have += [f"{count} {colour} potions" for colour, count in potions.items() if count]
    rows = [*rows[:4], f"{rows[4][:5]}@{rows[4][6:]}", *rows[5:]]
    lines = [
        f"floor {view['floor']}, step {view['step']}, light {view['light']}; "
        + ", ".join(f"{name} {view[name]}" for name in BODY),
        f"pickaxe {view['pickaxe']}, sword {view['sword']}, armour {view['armour']}; "
        f"has {', '.join(have) or 'nothing'}",
        f"faces {view['facing']}: {view['ahead']}; "
        + (", ".join(flag for flag in FLAGS if view[flag]) or "awake")
        + f"; monsters {view['monsters']}, animals {view['animals']}",
        *rows,
        "nearest [right, down]: " + ", ".join(f"{name} {places[0]}" for name, places in things.items()),
    ]
    return "\n".join(lines)[:1500]
