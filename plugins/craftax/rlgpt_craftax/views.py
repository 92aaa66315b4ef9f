"""The view for coded actions, and the additional keys for policies. Views and keys are computed only from
observations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from rlgpt.domain import Plain
from rlgpt.plugin.types import Context, ViewKey

from rlgpt_craftax.names import (
    ARMOUR,
    BLOCKS,
    BODY,
    DIRECTIONS,
    FLAGS,
    HEIGHT,
    INVENTORY,
    ITEMS,
    MOBS,
    MONSTERS,
    OFFSETS,
    PASSIVE,
    PLAIN,
    POTIONS,
    SHOTS,
    WIDTH,
)
from rlgpt_craftax.observation import Observation
from rlgpt_craftax.scene import CELLS, Scene

MOST_OF_A_KIND = 4
"""Number of things of one kind that the view lists."""

SIGNS = {
    "dark": "?",
    "out_of_bounds": "X",
    "grass": ".",
    "water": "~",
    "stone": "#",
    "tree": "T",
    "wood": "=",
    "path": "_",
    "coal": "c",
    "iron": "i",
    "diamond": "d",
    "table": "B",
    "furnace": "F",
    "sand": ",",
    "lava": "L",
    "plant": "p",
    "ripe_plant": "P",
    "wall": "W",
    "darkness": " ",
    "wall_moss": "W",
    "stalagmite": "^",
    "sapphire": "s",
    "ruby": "r",
    "chest": "C",
    "fountain": "O",
    "fire_grass": ";",
    "ice_grass": ":",
    "gravel": "g",
    "fire_tree": "Y",
    "ice_shrub": "y",
    "enchantment_table_fire": "E",
    "enchantment_table_ice": "e",
    "necromancer": "N",
    "grave": "G",
    "grave2": "G",
    "grave3": "G",
    "necromancer_vulnerable": "n",
    "torch": "t",
    "ladder_down": ">",
    "ladder_up": "<",
    "ladder_down_blocked": ">",
}
"""Block or item -> its character in ``map``."""
_BLOCK_SIGNS = [SIGNS[name] for name in BLOCKS]
_ITEM_SIGNS = ["", *(SIGNS[name] for name in ITEMS[1:])]
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
_NEAREST = (
    *("grass", "water", "stone", "tree", "coal", "iron", "diamond", "table", "furnace", "sapphire", "ruby", "chest"),
    *("ripe_plant", "lava", "ladder_down", "ladder_up", "cow", "bat", "snail"),
)
_GROUND = ("dark", "grass", "water", "stone", "tree", "path", "sand", "lava")
_COUNTED = [*range(11), INVENTORY.index("bow")]
_PLANES = len(BLOCKS) + len(ITEMS) + len(MOBS) + 2 * len(SHOTS)

_GRIDS = {"block": BLOCKS, "item": ITEMS, "mob": MOBS, "shot": SHOTS, "own_shot": SHOTS}
_CODES = {key: np.eye(len(names), dtype=np.float32) for key, names in _GRIDS.items()}

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
    ViewKey("items", "inventory and potions: square root of each count / 3", size=12 + len(POTIONS), alone=True),
    ViewKey("direction", "one-hot code of facing", size=4, alone=True),
    ViewKey(
        "nearest",
        f"right / 5, down / 4, nearness (0 if none is seen) of the nearest {', '.join(_NEAREST)}; then of the three "
        "nearest monsters and the two nearest shots",
        size=3 * (len(_NEAREST) + 5),
        alone=True,
    ),
    ViewKey(
        "around",
        f"for the four neighbours and the cell ahead, one-hot: {', '.join(_GROUND)}, other; 1 if a mob is there",
        size=5 * (len(_GROUND) + 2),
        alone=True,
    ),
    ViewKey("cells", "one-hot codes of all cells: the whole symbolic map", size=HEIGHT * WIDTH * _PLANES, alone=True),
)


def view(ctx: Context) -> dict[str, Plain]:
    """The view at the current step."""
    observation: Observation = ctx.observation
    scene = Scene(observation)
    inventory, moved = observation["inventory"].astype(int).tolist(), ctx.info["moved"]
    return {
        "map": _map(observation),
        "things": _things(scene),
        "monsters": _mobs(scene, MONSTERS),
        "animals": _mobs(scene, PASSIVE),
        "shots": [[scene.shot(at), *at] for at in CELLS if scene.shot(at) != "none"],
        "ahead": scene.name(scene.ahead),
        "facing": DIRECTIONS[scene.facing],
        "free": [int(scene.free(at)) for at in OFFSETS],
        "moved": None if moved is None else list(moved),
        "inventory": {**dict(zip(INVENTORY[:11], inventory[:11], strict=True)), "bow": inventory[15]},
        "potions": dict(zip(POTIONS, observation["potions"].astype(int).tolist(), strict=True)),
        "pickaxe": inventory[11],
        "sword": inventory[12],
        "armour": observation["armour"].astype(int).tolist(),
        "enchantments": [*inventory[13:15], *observation["armour_enchantment"].astype(int).tolist()],
        **{name: round(value, 2) for name, value in zip(BODY, observation["body"].tolist(), strict=True)},
        **dict(zip(FLAGS, observation["flags"].astype(int).tolist(), strict=True)),
        "floor": int(observation["floor"]),
        "light": round(float(observation["light"][0]), 3),
        "near_table": int(scene.near("table")),
        "near_furnace": int(scene.near("furnace")),
        "step": ctx.step,
    }


def _map(observation: Observation) -> list[Plain]:
    blocks, items = observation["block"].tolist(), observation["item"].tolist()
    return [
        "".join(_ITEM_SIGNS[item] or _BLOCK_SIGNS[block] for block, item in zip(*rows, strict=True))
        for rows in zip(blocks, items, strict=True)
    ]


def _things(scene: Scene) -> dict[str, Plain]:
    found: dict[str, Any] = {}
    for at in CELLS:
        for name in (scene.block(at), scene.item(at)):
            if name not in PLAIN and name != "none" and len(found.setdefault(name, [])) < MOST_OF_A_KIND:
                found[name].append(list(at))
    return found


def _mobs(scene: Scene, names: Any) -> list[Plain]:
    return [[name, *at] for name, at in scene.mobs(names)]


class PolicyView(Mapping[str, Any]):
    """The keys that only policies see. The value of a key is computed when the key is read."""

    def __init__(self, observation: Observation) -> None:
        self._observation, self._scene = observation, Scene(observation)

    def __getitem__(self, key: str) -> Any:
        observation, scene = self._observation, self._scene
        if key == "items":
            counts = np.concatenate([observation["inventory"][_COUNTED], observation["potions"]])
            return np.sqrt(counts) / 3
        if key == "direction":
            return np.eye(len(DIRECTIONS))[observation["facing"]]
        if key == "nearest":
            return _nearest(scene)
        if key == "around":
            return np.concatenate([_ground(scene, at) for at in (*OFFSETS, scene.ahead)])
        if key == "cells":
            return _one_hot(observation)
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return (key.name for key in VIEW_KEYS if key.alone)

    def __len__(self) -> int:
        return sum(key.alone for key in VIEW_KEYS)


def _nearest(scene: Scene) -> list[float]:
    first: dict[str, Any] = {}
    monsters: list[Any] = []
    shots: list[Any] = []
    for at in CELLS:
        mob = scene.mob(at)
        for name in (mob, scene.item(at), scene.block(at)):
            first.setdefault(name, at)
        if mob in MONSTERS:
            monsters.append(at)
        if scene.shot(at) != "none":
            shots.append(at)
    places: list[Any] = [first.get(name) for name in _NEAREST]
    for found, count in ((monsters, 3), (shots, 2)):
        places += [*found, *[None] * count][:count]
    numbers: list[float] = []
    for at in places:
        numbers += [0.0, 0.0, 0.0] if at is None else [at[0] / 5, at[1] / 4, 1 / (1 + abs(at[0]) + abs(at[1]))]
    return numbers


def _ground(scene: Scene, at: tuple[int, int]) -> np.ndarray[Any, Any]:
    block = scene.block(at)
    code = np.zeros(len(_GROUND) + 2)
    code[_GROUND.index(block) if block in _GROUND else len(_GROUND)] = 1
    code[-1] = scene.mob(at) != "none"
    return code


def _one_hot(observation: Observation) -> np.ndarray[Any, Any]:
    return np.concatenate([codes[observation[key]] for key, codes in _CODES.items()], axis=2)


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
