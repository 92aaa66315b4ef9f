"""Draws the pictures of items in the hand and on the ground. The picture of an item is a shape in the colour of the
item's material.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from voxeldojo.names import rows
from voxeldojo.world import paint
from voxeldojo.world.blocks import PLACES, SHAPES, TABLE
from voxeldojo.world.items import NAMES
from voxeldojo.world.paint import Tile
from voxeldojo.world.tiles import METALS


def _shapes() -> dict[str, list[str]]:
    text = files("voxeldojo").joinpath("data", "icon_shapes.txt").read_text(encoding="utf-8")
    parts = (part.split("\n") for part in text.strip().split("\n\n")[1:])
    return {name: shape for name, *shape in parts}


SHAPE_ROWS = _shapes()
MATERIALS = {
    "wooden": "8f6a38",
    "stone": "8a8a8a",
    "iron": METALS["iron"],
    "golden": "f2d64a",
    "diamond": METALS["diamond"],
    "leather": "8a5a32",
    "chainmail": "a0a0a0",
}
KNOWN = {row["name"]: (row["shape"], row["colour"]) for row in rows("icons.csv")}
WORN = ("helmet", "chestplate", "leggings", "boots")


def _look(name: str) -> tuple[str, str]:
    """Return the shape and the colour of an item's picture. An item without an entry in the table of looks has the
    shape of a lump, and a colour that is derived from the item's name.
    """
    if name in KNOWN:
        return KNOWN[name]
    material, _, what = name.partition("_")
    if what in SHAPE_ROWS or what in WORN:
        return what if what in SHAPE_ROWS else "armor", MATERIALS.get(material, "909090")
    red, green, blue = (int(v) for v in paint.chance(name).integers(60, 220, 3))
    return "lump", f"{red:02x}{green:02x}{blue:02x}"


def tiles() -> dict[str, Tile]:
    """Return one tile for each item; the name of the tile is ``icon_`` and the item's name."""
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
    """Return the index of the tile of each item's picture, ``(items, variants)``. The index of the tile is -1 for an
    item that is drawn as the block that the item places.

    The picture of a plant or a flat block is one side of the block.

    :param place: the index of each tile, by the tile's name.
    :param sides: the tile on a side of each block.
    """
    found = np.array([[place["icon_" + name]] * PLACES.shape[1] for name in NAMES])
    flat = [SHAPES.index(shape) for shape in ("cross", "wall", "flat")]
    for item, variant in np.argwhere(PLACES >= 0):
        block = int(PLACES[item, variant])
        if TABLE[block].on == "farmland":
            continue  # seeds have a picture of their own
        if SHAPES.index(TABLE[block].shape) in flat and "carpet" not in TABLE[block].key:
            found[item, variant] = sides[block]
        elif TABLE[block].shape != "torch":
            found[item, variant] = -1
    return found
