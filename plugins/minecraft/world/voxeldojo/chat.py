"""Executes the server commands that MineDojo's simulator sends in the chat, with the syntax of Minecraft.

The server commands are ``/clear /give /kill /replaceitem /setblock /spreadplayers /summon /time /tp /weather``, as in
minecraft.wiki, Commands, 1.11. The name of an item, block or mob may start with ``minecraft:``. A coordinate may be
relative (``~``, ``~-3``). The target of a command is the player (``@p``, ``@s``, ``@a``, or no target) or, for
``/kill``, the mobs of ``@e[type=...]``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from voxeldojo.command import slot_name
from voxeldojo.errors import UnknownNameError, VoxelDojoError
from voxeldojo.footing import can_stand
from voxeldojo.world.blocks import ID as BLOCK
from voxeldojo.world.blocks import TABLE
from voxeldojo.world.chunks import ensure
from voxeldojo.world.crops import MOST_LEVEL
from voxeldojo.world.drops import toss
from voxeldojo.world.edit import set_block
from voxeldojo.world.health import UNBLOCKABLE, hurt
from voxeldojo.world.inventory import give, put
from voxeldojo.world.items import ID as ITEM
from voxeldojo.world.items import STACK
from voxeldojo.world.mob_kinds import ID as MOB
from voxeldojo.world.mob_kinds import NAMES as MOBS
from voxeldojo.world.rng import uniform
from voxeldojo.world.spawn import summon
from voxeldojo.world.state import HEIGHT, SIZE, SLOTS, World

PLAYER: Final = ("@p", "@s", "@a", "@r")
DAYTIMES: Final = {"day": 1000, "night": 13000}
"""Names of times of day, with the ticks since sunrise. Minecraft 1.11 has no other names; 1.13 added noon and midnight
(minecraft.wiki, Commands/time).
"""
SLOT: Final = {"slot.hotbar.0": 0, **{slot_name(n): n for n in range(1, SLOTS)}}
"""Name in the game -> index of a slot, except the main hand, which is the selected slot."""
FATAL: Final = 1000.0
MARGIN: Final = 2
"""``/spreadplayers`` keeps this distance to the border of the world, in blocks."""


class CommandError(VoxelDojoError):
    """A server command with invalid arguments. The world is unchanged."""


def execute(world: World, text: str) -> None:
    """Run a server command. A text without a leading ``/`` is not a server command and has no effect.

    :raises UnknownNameError: the text names a server command, item, block or mob that does not exist.
    :raises CommandError: the arguments are invalid.
    """
    if not text.startswith("/"):
        return
    name, *words = text[1:].split() or [""]
    if name not in COMMANDS:
        raise UnknownNameError("command", f"/{name}", [f"/{valid}" for valid in COMMANDS])
    usage, run = COMMANDS[name]
    try:
        run(world, words)
    except (ValueError, IndexError) as error:
        raise CommandError(f"{text!r} does not fit {usage!r}: {error}") from error


def _without_namespace(name: str) -> str:
    return name.removeprefix("minecraft:")


def _lookup(kind: str, name: str, valid: dict[str, int]) -> int:
    name = _without_namespace(name).lower()
    if name not in valid:
        raise UnknownNameError(kind, name, valid)
    return valid[name]


def _coordinates(words: Sequence[str], here: Sequence[float]) -> list[float]:
    """Parse coordinates. As in the game, an integer coordinate along x or z means the centre of a block."""
    if len(words) < len(here):
        raise ValueError(f"{len(words)} coordinates, not {len(here)}")
    place = []
    for axis, (word, origin) in enumerate(zip(words, here, strict=False)):
        relative = word.startswith("~")
        value = float(word.removeprefix("~") or 0) + (origin if relative else 0.0)
        is_block = axis != 1 and not relative and re.fullmatch(r"-?\d+", word)
        place.append(value + 0.5 if is_block else value)
    if not all(map(math.isfinite, place)):
        raise ValueError("coordinates must be finite")
    return place


def _player_place(world: World) -> tuple[float, float, float]:
    player = world.player[0]
    return float(player["x"]), float(player["y"]), float(player["z"])


def _inside(x: float, y: float, z: float) -> tuple[int, int, int]:
    ix, iy, iz = math.floor(x), math.floor(y), math.floor(z)
    if not (0 <= ix < SIZE and 0 <= iy < HEIGHT and 0 <= iz < SIZE):
        raise ValueError(f"{ix} {iy} {iz} is outside the world: 0 to {SIZE - 1}, 0 to {HEIGHT - 1}, 0 to {SIZE - 1}")
    return ix, iy, iz


def _move(world: World, x: float, y: float, z: float) -> None:
    _inside(x, y, z)
    ensure(world, int(x), int(z), 2)
    player = world.player
    for name, value in (("x", x), ("y", y), ("z", z), ("vx", 0.0), ("vy", 0.0), ("vz", 0.0), ("fall", 0.0)):
        player[name] = value


def _clear(world: World, words: Sequence[str]) -> None:
    """Remove items from the inventory. The arguments can restrict ``/clear`` to one kind of item, one variant (-1 means
    every variant) and a maximal number of items (-1 means all).
    """
    if words:
        _player(words[0])
    item = _lookup("item", words[1], ITEM) if len(words) > 1 else None
    variant, left = (int(words[n]) if len(words) > n else -1 for n in (2, 3))
    for slot in range(SLOTS):
        held = world.slots[slot]
        if item is None or (held["item"] == item and variant in (-1, held["variant"])):
            gone = int(held["quantity"]) if left < 0 else min(left, int(held["quantity"]))
            kind, rest = int(held["item"]), int(held["quantity"]) - gone
            put(world, slot, kind, rest, int(held["variant"]), int(held["damage"]))
            left = left if left < 0 else left - gone


def _stack(words: Sequence[str]) -> tuple[int, int, int]:
    item = _lookup("item", words[0], ITEM)
    quantity = int(words[1]) if len(words) > 1 else 1
    variant = int(words[2]) if len(words) > 2 else 0
    if not 0 <= quantity <= 64 or not 0 <= variant <= 120:
        raise ValueError("a stack must have 0 to 64 items, and a variant must be 0 to 120")
    return item, quantity, variant


def _give(world: World, words: Sequence[str]) -> None:
    _player(words[0])
    item, quantity, variant = _stack(words[1:])
    left = give(world, item, quantity, variant, 0)
    if left > 0:
        toss(world, item, left, variant, 0)


def _player(word: str) -> None:
    if word.split("[")[0] not in PLAYER:
        raise ValueError(f"the target is {word!r}, not one of {', '.join(PLAYER)}")


def _die(world: World) -> None:
    world.player["hurt_ticks"] = 0
    hurt(world, FATAL, UNBLOCKABLE)


def _kill(world: World, words: Sequence[str]) -> None:
    if not words or words[0].split("[")[0] in PLAYER:
        _die(world)
        return
    chosen = re.fullmatch(r"@e(?:\[type=(!?)([\w:]+)\])?", words[0])
    if chosen is None:
        raise ValueError(f"the target is {words[0]!r}")
    other, kind = chosen.group(1) == "!", _without_namespace(chosen.group(2) or "")
    for index, name in enumerate(("item", *MOBS[1:])):
        if not kind or (name == kind) != other:
            if name == "item":
                world.drops["alive"] = False
            else:
                world.mobs["kind"][world.mobs["kind"] == index] = 0
    if not kind or (kind == "player") != other:
        _die(world)


def _slot(world: World, name: str) -> int:
    """Return the index of an inventory slot from the slot's name in the game (``slot.armor.head``, ``slot.hotbar.3``).
    ``slot.weapon`` is the main hand.
    """
    if name in ("slot.weapon", "slot.weapon.mainhand"):
        return int(world.player["selected"][0])
    if name not in SLOT:
        raise ValueError(f"{name!r} is not a slot")
    return SLOT[name]


def _replace(world: World, words: Sequence[str]) -> None:
    if words[0] != "entity":
        raise ValueError(f"{words[0]!r} is not entity: only entities have slots in this world")
    _player(words[1])
    slot = _slot(world, words[2])
    item, quantity, variant = _stack(words[3:])
    put(world, slot, item, 0 if item == 0 else min(quantity, int(STACK[item])), variant, 0)


def _set_block(world: World, words: Sequence[str]) -> None:
    x, y, z = _inside(*_coordinates(words[:3], _player_place(world)))
    name, meta = _without_namespace(words[3]).lower(), int(words[4]) if len(words) > 4 else 0
    fit = [n for n, kind in enumerate(TABLE) if kind.item == name and kind.variant == meta]
    if not fit and meta == 0:
        fit = [_lookup("block", name, BLOCK)]
    level = 0
    if not fit and name in BLOCK and 0 < meta <= MOST_LEVEL[BLOCK[name]]:
        fit, level = [BLOCK[name]], meta
    if not fit:
        raise ValueError(f"no {name} has data value {meta}")
    set_block(world, x, y, z, fit[0], level)


def _spread(world: World, words: Sequence[str]) -> None:
    """Run ``/spreadplayers X Z 0 RANGE false @p``, which moves the player to a random place on the surface that is not
    in a fluid, at most RANGE blocks from X and from Z.

    :param words: the words of the command after its name.
    """
    here = _player_place(world)
    x, z = _coordinates(words[:2], here[::2])
    reach = float(words[3])
    if not 0 < reach < math.inf:
        raise ValueError("maxRange must be above 0")
    for _ in range(1000):
        px, pz = (
            min(max(math.floor(at + (2 * uniform(world) - 1) * reach), MARGIN), SIZE - 1 - MARGIN) for at in (x, z)
        )
        ensure(world, px, pz, 2)
        top = int(world.top[px, pz])
        if can_stand(world, px, top + 1, pz):
            _move(world, px + 0.5, top + 1.0, pz + 0.5)
            return
    raise ValueError(f"no firm ground within {reach:g} blocks")


def _summon(world: World, words: Sequence[str]) -> None:
    kind = _lookup("mob", words[0], MOB)
    x, y, z = _coordinates(words[1:4], _player_place(world)) if len(words) > 1 else _player_place(world)
    _inside(x, y, z)
    ensure(world, int(x), int(z), 1)
    while summon(world, kind, x, y, z) < 0:
        _remove_farthest(world)


def _remove_farthest(world: World) -> None:
    """Remove the mob that is farthest from the player. The game has no limit on the number of mobs, so ``/summon`` must
    succeed in a full world, too.
    """
    px, _, pz = _player_place(world)
    distances = np.hypot(world.mobs["x"] - px, world.mobs["z"] - pz)
    world.mobs["kind"][np.argmax(np.where(world.mobs["kind"] > 0, distances, -1.0))] = 0


def _time(world: World, words: Sequence[str]) -> None:
    if words[0] not in ("set", "add"):
        raise ValueError(f"{words[0]!r} is neither set nor add")
    named = DAYTIMES if words[0] == "set" else {}
    if words[1] not in named and not words[1].isdecimal():
        raise ValueError(f"{words[1]!r} is neither a number of ticks from 0 on nor {' nor '.join(DAYTIMES)} (for set)")
    value = named[words[1]] if words[1] in named else int(words[1])
    now = int(world.clock["time"][0]) if words[0] == "add" else 0
    world.clock["time"] = (now + value) % 24_000


def _teleport(world: World, words: Sequence[str]) -> None:
    if words and words[0].split("[")[0] in PLAYER:
        words = words[1:]
    player, view = world.player, {}
    for name, word in zip(("yaw", "pitch"), words[3:5], strict=False):
        value = float(word.removeprefix("~") or 0) + (float(player[name][0]) if word.startswith("~") else 0.0)
        if not math.isfinite(value):
            raise ValueError("yaw and pitch must be finite")
        view[name] = (value + 180) % 360 - 180 if name == "yaw" else min(max(value, -90.0), 90.0)
    _move(world, *_coordinates(words[:3], _player_place(world)))
    for name, value in view.items():
        player[name] = value


def _weather(world: World, words: Sequence[str]) -> None:
    if words[0] not in ("clear", "rain", "thunder", "normal"):
        raise ValueError(f"{words[0]!r} is none of clear, rain, thunder, normal")
    if words[0] != "normal":  # in MineDojo, the weather "normal" changes nothing
        world.clock["raining"], world.clock["thundering"] = words[0] != "clear", words[0] == "thunder"


COMMANDS: Final[dict[str, tuple[str, Callable[[World, Sequence[str]], None]]]] = {
    "clear": ("/clear [@p] [ITEM] [VARIANT] [COUNT]", _clear),
    "give": ("/give @p ITEM [COUNT] [VARIANT]", _give),
    "kill": ("/kill [@p | @e[type=KIND]]", _kill),
    "replaceitem": ("/replaceitem entity @p SLOT ITEM [COUNT] [VARIANT]", _replace),
    "setblock": ("/setblock X Y Z BLOCK [DATA]", _set_block),
    "spreadplayers": ("/spreadplayers X Z 0 RANGE false @p", _spread),
    "summon": ("/summon KIND [X Y Z]", _summon),
    "time": ("/time set TICKS|day|night, /time add TICKS", _time),
    "tp": ("/tp X Y Z [YAW PITCH]", _teleport),
    "weather": ("/weather clear|rain|thunder", _weather),
}
"""Name -> usage and handler."""
