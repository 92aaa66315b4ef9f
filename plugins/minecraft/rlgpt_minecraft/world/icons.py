"""Pictures of items, for what is held and what lies about: a shape in the colour of the item's material."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from rlgpt_minecraft.world import paint
from rlgpt_minecraft.world.blocks import PLACES, SHAPES, TABLE
from rlgpt_minecraft.world.items import NAMES
from rlgpt_minecraft.world.paint import Tile
from rlgpt_minecraft.world.tiles import METALS

SHAPE_ROWS = {
    "pickaxe": ["...mmmmm...", "..mm...mm..", ".......smm.", "......ss.m.", ".....ss..m.", "....ss...m.", "...ss....m.",
                "..ss.......", ".ss........", "ss.........", "s.........."],
    "axe": [".....mmm..", "....mmmmm.", "....mmssm.", ".....mss..", ".....ss...", "....ss....", "...ss.....", "..ss......",
            ".ss.......", "ss........"],
    "shovel": [".......mmm", "......mmmm", "......mmmm", ".....ssmm.", "....ss....", "...ss.....", "..ss......", ".ss.......",
               "ss........"],
    "hoe": [".....mmmm.", "....mm.ssm", "......ss..", ".....ss...", "....ss....", "...ss.....", "..ss......", ".ss.......",
            "ss........"],
    "sword": [".........mm", "........mmm", ".......mmm.", "......mmm..", ".....mmm...", "s...mmm....", "ss.mmm.....",
              ".ssmm......", "..sss......", ".ss.ss.....", "ss...s....."],
    "stick": ["........ss", ".......ss.", "......ss..", ".....ss...", "....ss....", "...ss.....", "..ss......", ".ss......."],
    "ingot": [".....mmmm.", "...mmmmmmm", ".mmmmmmmmd", "mmmmmmmdd.", "mdmmmdd...", ".dddd....."],
    "gem": ["...mmmm...", "..mmhhmm..", ".mmhmmmmm.", ".mmmmmmdm.", "..mmmmdd..", "...mmdd...", "....dd...."],
    "lump": ["...mmm....", "..mmhmmm..", ".mmhmmmmm.", "mmmmmmdmm.", ".mmmmmddm.", "..mdmmdd..", "...dddd..."],
    "meat": ["...mmmmm..", "..mmmhmmm.", ".mmmmmmmmd", ".mmhmmmmdd", "..mmmmmdd.", ".wwmdddd..", "ww........"],
    "bucket": ["hhhhhhhhhh", "hmmmmmmmmh", "dhhhhhhhhd", ".dhhhhhhd.", ".dhhhhhhd.", ".dhhhhhhd.", "..dhhhhd..", "..dddddd.."],
    "hide": [".mmm..mmm.", "mmmmmmmmmm", "mmmhmmmmmm", ".mmmmmmmm.", ".mmmmmmdm.", "mmmmmmddmm", "mmd....dmm"],
    "feather": [".......mm.", "......mmm.", ".....mmmd.", "....mmmd..", "...mmmd...", "..mmmd....", "..mmd.....", ".d........"],
    "shears": ["......mm..", ".....mmd..", ".dd.mmd...", "d..mmd....", "d..dmmmmm.", ".ddd.dmmmm", "...d..dd..", "...d......", "..d......."],
    "seeds": ["..m....m..", ".mmd..mmd.", "....m.....", "...mmd..m.", ".m.....mmd", "mmd..m....", "....mmd..."],
    "sheet": [".mmmmmmmm.", ".mhhmmmmm.", ".mmmmmmmm.", ".mmhhhmmm.", ".mmmmmmmm.", ".mmmmmmdd.", ".mmmmmddd."],
    "armor": ["mm......mm", "mmm....mmm", "mmmm..mmmm", "mmmhmmmmmm", ".mmmmmmmd.", ".mmmmmmmd.", ".mmmmmmdd.", ".mmmmmddd."],
    "ball": ["...mmmm...", "..mmhhmm..", ".mmhmmmmm.", ".mmmmmmdm.", ".mmmmmddm.", "..mmdddm..", "...dddd..."],
}  # fmt: skip
MATERIALS = {"wooden": "8f6a38", "stone": "8a8a8a", "iron": METALS["iron"], "golden": "f2d64a", "diamond": METALS["diamond"],
             "leather": "8a5a32", "chainmail": "a0a0a0"}  # fmt: skip
KNOWN = {
    "stick": ("stick", "7a5c32"), "coal": ("lump", "2a2a2a"), "iron_ingot": ("ingot", "d8d8d8"),
    "gold_ingot": ("ingot", "f7d83d"), "diamond": ("gem", "62ded6"), "emerald": ("gem", "2bd15a"),
    "redstone": ("seeds", "c81010"), "flint": ("lump", "3c3c3c"), "clay_ball": ("ball", "9ea4b0"),
    "brick": ("ingot", "a85a42"), "bucket": ("bucket", "b0b0b0"), "water_bucket": ("bucket", "2f52d8"),
    "lava_bucket": ("bucket", "e0701a"), "milk_bucket": ("bucket", "f8f8f8"), "leather": ("hide", "b86a3a"),
    "rabbit_hide": ("hide", "c8a070"), "feather": ("feather", "f0f0f0"), "shears": ("shears", "c8c8c8"),
    "beef": ("meat", "c23a34"), "cooked_beef": ("meat", "7a4a32"), "mutton": ("meat", "d0504a"),
    "cooked_mutton": ("meat", "8a5a3c"), "porkchop": ("meat", "f09a98"), "cooked_porkchop": ("meat", "c8a070"),
    "chicken": ("meat", "f0c8b0"), "cooked_chicken": ("meat", "c08040"), "rotten_flesh": ("meat", "8a5a3a"),
    "wheat_seeds": ("seeds", "4f9a2a"), "apple": ("ball", "d82020"), "string": ("stick", "e8e8e8"),
    "bone": ("stick", "e8e4d0"), "egg": ("ball", "e0d0a8"), "snowball": ("ball", "f4fbfb"), "paper": ("sheet", "f0f0f0"),
    "sugar": ("seeds", "f4f4f4"), "wheat": ("feather", "d8b840"), "bread": ("ingot", "b8842a"),
    "gunpowder": ("seeds", "6a6a6a"), "slime_ball": ("ball", "78c860"), "bow": ("hoe", "7a5c32"), "arrow": ("stick", "a0a0a0"),
}  # fmt: skip
WORN = ("helmet", "chestplate", "leggings", "boots")


def _look(name: str) -> tuple[str, str]:
    """Shape and colour of an item's picture; of those nobody named, a lump in a colour that belongs to the name."""
    if name in KNOWN:
        return KNOWN[name]
    material, _, what = name.partition("_")
    if what in SHAPE_ROWS or what in WORN:
        return what if what in SHAPE_ROWS else "armor", MATERIALS.get(material, "909090")
    red, green, blue = (int(v) for v in paint.chance(name).integers(60, 220, 3))
    return "lump", f"{red:02x}{green:02x}{blue:02x}"


def tiles() -> dict[str, Tile]:
    """One tile for each item, by ``icon_`` and its name."""
    out = {}
    for name in NAMES:
        shape, colour = _look(name)
        bright, dark = (
            "".join(f"{int(min(max(value * factor, 0), 255)):02x}" for value in paint.rgb(colour))
            for factor in (1.25, 0.7)
        )
        colours = {"m": colour, "h": bright, "d": dark, "s": "6b4a25", "w": "f0e8d8"}
        out["icon_" + name] = paint.stencil(SHAPE_ROWS[shape], colours)
    return out


def places(place: Mapping[str, int], sides: NDArray[np.int64]) -> NDArray[np.int64]:
    """``(items, variants)``: the tile of each item's picture, -1 of those that look like the block they are placed as.

    :param place: a tile's index by name. :param sides: the tile on a side of each block.
    """
    found = np.array([[place["icon_" + name]] * PLACES.shape[1] for name in NAMES])
    flat = [SHAPES.index(shape) for shape in ("cross", "torch", "wall", "flat")]
    for item, variant in np.argwhere(PLACES >= 0):
        block = int(PLACES[item, variant])
        upright = SHAPES.index(TABLE[block].shape) in flat and "carpet" not in TABLE[block].key
        found[item, variant] = sides[block] if upright else -1
    return found
