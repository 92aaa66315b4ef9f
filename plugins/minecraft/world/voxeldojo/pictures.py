"""Renders the pictures of the README.

python -m voxeldojo.pictures plugins/minecraft/world/docs
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from voxeldojo.world.blocks import AIR, FULL, ID
from voxeldojo.world.chunks import flat, generate
from voxeldojo.world.edit import set_block
from voxeldojo.world.light import settle
from voxeldojo.world.mob_kinds import ID as KIND
from voxeldojo.world.ray import eyes, look, trace
from voxeldojo.world.render import Camera
from voxeldojo.world.state import World

SIZE = (240, 384)
NOON, DUSK, MIDNIGHT = 6000, 12600, 18000
Picture = NDArray[np.uint8]


def _take(world: World, time: int, yaw: float, pitch: float) -> Picture:
    world.clock["time"] = time
    world.player["yaw"], world.player["pitch"] = yaw, pitch
    return Camera(*SIZE).picture(world)


def _biome(name: str, seed: int, yaw: float, pitch: float = 4.0) -> Callable[[], Picture]:
    return lambda: _take(generate(seed, name), NOON, yaw, pitch)


def _put(world: World, i: int, kind: str, ahead: float, aside: float, yaw: float, colour: int = 0) -> None:
    """Put a mob on the ground, at a position relative to the player. The player looks south."""
    player, mob = world.player[0], world.mobs[i]
    x, z = float(player["x"]) - aside, float(player["z"]) + ahead
    y = int(world.top[math.floor(x), math.floor(z)]) + 1
    mob["kind"], mob["colour"], mob["sheared"] = KIND[kind], colour, False
    mob["x"], mob["y"], mob["z"], mob["yaw"] = x, y, z, yaw


def animals() -> Picture:
    """Render a cow, two sheep (one of them sheared), a pig and a chicken on a meadow."""
    world = flat(0, [ID["bedrock"], *[ID["stone"]] * 59, *[ID["dirt"]] * 3, ID["grass"]])
    world.mobs["kind"] = 0
    for i, (kind, ahead, aside, yaw) in enumerate(
        (("cow", 4.2, -2.6, 215.0), ("sheep", 4.0, -0.9, 160.0), ("sheep", 4.8, 0.7, 235.0), ("pig", 3.6, 2.1, 150.0))
    ):
        _put(world, i, kind, ahead, aside, yaw)
    world.mobs["sheared"][2] = True
    _put(world, 4, "chicken", 2.8, 0.6, 200.0)
    return _take(world, NOON, 0.0, 14.0)


def night() -> Picture:
    """Render zombies at night, with torches."""
    world = generate(7, "plains")
    world.mobs["kind"] = 0
    x, z = math.floor(world.player["x"][0]), math.floor(world.player["z"][0])
    for dx, dz in ((-2, 4), (3, 6)):
        top = int(world.top[x + dx, z + dz])
        set_block(world, x + dx, top + 1, z + dz, ID["torch"], 0)
    _put(world, 0, "zombie", 5.0, 0.6, 190.0)
    _put(world, 1, "zombie", 11.0, -3.0, 160.0)
    return _take(world, MIDNIGHT, 0.0, -4.0)


def _into(world: World, x: int, y: int, z: int) -> None:
    world.player["x"], world.player["y"], world.player["z"] = x + 0.5, y, z + 0.5


def _room(world: World, x: int, y: int, z: int) -> bool:
    """Return whether a position in a cave has enough space for the player."""
    blocks = world.blocks
    dark = world.light[x, y, z] >> 4 == 0
    return bool(dark and FULL[blocks[x, y - 1, z]] and blocks[x, y, z] == AIR and blocks[x, y + 1, z] == AIR)


def cave() -> Picture:
    """Render the largest cave near the player, with torches and with ores of every kind in its walls."""
    world = generate(11, "extreme_hills")
    x0, z0 = math.floor(world.player["x"][0]), math.floor(world.player["z"][0])
    near = range(-30, 31)
    places = [(x0 + i, y, z0 + k) for i in near for k in near for y in range(12, 50)]
    standing = [place for place in places if _room(world, *place)]
    floor = set(standing)

    def space(place: tuple[int, int, int]) -> int:
        x, y, z = place
        return sum((x + i, y, z + k) in floor for i in range(-4, 5) for k in range(-2, 9))

    x, y, z = max(standing, key=space)
    _into(world, x, y, z)
    free = [(i, k) for i in (-3, -1, 2) for k in (1, 3, 5, 7) if (x + i, y, z + k) in floor]
    for i, k in free[:2] + free[-2:]:
        set_block(world, x + i, y, z + k, ID["torch"], 0)
    for ore, yaw, pitch in ORES:
        block, _, at_x, at_y, at_z, _ = trace(world, *eyes(world), *look(yaw, pitch), 12.0, False)
        if block == ID["stone"]:
            set_block(world, at_x, at_y, at_z, ID[ore], 0)
    settle(world)
    return _take(world, NOON, 0.0, 8.0)


ORES = (
    ("coal_ore", -24.0, -4.0),
    ("coal_ore", -28.0, 4.0),
    ("iron_ore", 25.0, -6.0),
    ("iron_ore", 29.0, 2.0),
    ("gold_ore", 36.0, 12.0),
    ("redstone_ore", -36.0, 12.0),
    ("diamond_ore", 14.0, 16.0),
)
"""Ores in the walls of the cave: block, yaw and pitch in degrees."""


SCENES: dict[str, Callable[[], Picture]] = {
    "plains": _biome("plains", 1, 160.0),
    "forest": _biome("forest", 4, 0.0),
    "birch_forest": _biome("birch_forest", 4, 310.0),
    "extreme_hills": _biome("extreme_hills", 4, 75.0, -2.0),
    "desert": _biome("desert", 3, 340.0),
    "river": _biome("river", 4, 110.0),
    "cave": cave,
    "night": night,
    "animals": animals,
}


def main(arguments: list[str] | None = None) -> int:
    """Write each scene as a PNG into a folder."""
    from PIL import Image

    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scenes", nargs="+", choices=tuple(SCENES), default=tuple(SCENES))
    chosen = parser.parse_args(arguments)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    for name in chosen.scenes:
        picture = Image.fromarray(SCENES[name]()).quantize(256, dither=Image.Dither.NONE)
        picture.save(chosen.folder / f"{name}.png", optimize=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
