"""Reads and writes the layers of a superflat world in the game's format, such as
"3;minecraft:bedrock,2*minecraft:dirt,grass;1".

The fields of the format of superflat worlds are the version, the layers (the lowest first), the biome and the
structures. Versions 1 and 2 of the format use numbers of blocks instead of names, and "x" instead of "*". The source is
minecraft.wiki, page Superflat, Java Edition 1.11. Structures are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from voxeldojo.malmo.errors import MissionError
from voxeldojo.world.blocks import ID, TABLE
from voxeldojo.world.state import HEIGHT

CLASSIC: Final = "3;minecraft:bedrock,2*minecraft:dirt,minecraft:grass;1"
"""The game's default."""
MAX_LAYERS: Final = HEIGHT - 8
NUMBERS: Final = {
    **{
        0: "air",
        1: "stone",
        2: "grass",
        3: "dirt",
        4: "cobblestone",
        5: "planks",
        7: "bedrock",
        9: "water",
        11: "lava",
    },
    **{12: "sand", 13: "gravel", 14: "gold_ore", 15: "iron_ore", 16: "coal_ore", 17: "log", 20: "glass"},
    **{24: "sandstone", 49: "obsidian", 56: "diamond_ore", 73: "redstone_ore", 79: "ice", 80: "snow", 82: "clay"},
}
"""The game's number of a block -> block, for flat worlds (minecraft.wiki, Java Edition data values, 1.11)."""
_LAYER: Final = re.compile(r"(?:(\d{1,3})[x*])?(?:minecraft:)?(\w+)(?::(\d{1,2}))?", re.ASCII)
_KEYS: Final = tuple(ID)


def layers(text: str) -> tuple[tuple[str, ...], int]:
    """Parse the text. Return the blocks of the layers, the lowest first, and the number of the biome.

    :raises MissionError: the format is wrong, or voxeldojo does not have a block.
    """
    parts = (text.strip() or CLASSIC).split(";")
    if len(parts) < 2 or parts[0] not in ("1", "2", "3"):
        raise MissionError(f"generatorString is {text[:80]!r}; one is {CLASSIC!r}")
    blocks: list[str] = []
    for layer in parts[1].split(","):
        found = _LAYER.fullmatch(layer.strip())
        block = _block(found.group(2), int(found.group(3) or 0)) if found else None
        if found is None or block is None:
            raise MissionError(
                f"the layer {layer[:40]!r} of a flat world is none of the world's blocks, like {CLASSIC!r}"
            )
        blocks += [block] * int(found.group(1) or 1)
    if not 0 < len(blocks) <= MAX_LAYERS:
        raise MissionError(f"a flat world of {len(blocks)} layers; valid: 1 to {MAX_LAYERS} layers")
    biome = parts[2] if len(parts) > 2 and parts[2] else "1"
    if not biome.isdecimal():
        raise MissionError(f"the biome of a flat world is a number, not {biome[:20]!r}")
    return tuple(blocks), int(biome)


def written(blocks: Sequence[str], biome: int) -> str:
    """Format layers, the lowest first."""
    names = []
    for block in blocks:
        kind = TABLE[ID[block]]
        names.append(f"minecraft:{kind.item}:{kind.variant}" if kind.item and kind.variant else f"minecraft:{block}")
    return f"3;{','.join(names)};{biome};"


def _block(name: str, variant: int) -> str | None:
    if name.isdecimal():
        name = NUMBERS.get(int(name), name)
    fit = [n for n, kind in enumerate(TABLE) if kind.item == name and kind.variant == variant]
    if fit:
        return _KEYS[fit[0]]
    return name if name in ID and variant == 0 else None
