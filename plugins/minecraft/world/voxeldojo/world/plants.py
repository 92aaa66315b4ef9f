"""The tiles of plants. The renderer draws the tile of a plant on two vertical planes that cross in the centre of the
cell.
"""

from __future__ import annotations

import numpy as np

from voxeldojo.world import paint
from voxeldojo.world.crops import TABLE as CROPS
from voxeldojo.world.paint import Tile

FLOWERS = {
    "poppy": ("d9281f", "8f1510"), "dandelion": ("ffe23e", "d9a514"), "blue_orchid": ("2aaef0", "1a7fc0"),
    "allium": ("b878e0", "8848b8"), "azure_bluet": ("f0f0f0", "e8d840"), "red_tulip": ("d83820", "a02010"),
    "orange_tulip": ("f08020", "c06010"), "white_tulip": ("f0f0f0", "c8d0c8"), "pink_tulip": ("f0a8d0", "d080b0"),
    "oxeye_daisy": ("f4f4f4", "f0d020"),
}  # fmt: skip
BUSHES = {"sunflower": "f8d820", "lilac": "c898d0", "rose_bush": "d02018", "peony": "e0a8e0"}
LEAVES = {
    "wheat": ("2f9a1a", "d8b840", ""), "carrots": ("1f8a20", "2f9a1a", "f08a1c"),
    "potatoes": ("2a9a2a", "3f9a30", "d0a850"), "beetroots": ("2a9a3a", "3a7a2a", "9a2530"),
}  # fmt: skip
"""Crop -> the colours of its leaves when young and when ripe, and of its fruit."""
SAPLINGS = {"sapling": "4e8a2a", "spruce_sapling": "3a5f3a", "birch_sapling": "7ea050", "jungle_sapling": "3f9020",
            "acacia_sapling": "7a8a20", "dark_oak_sapling": "3a6a1a"}  # fmt: skip


def blades(name: str, colour: str, count: int, tall: int) -> Tile:
    """Paint slightly leaning blades of grass, which are darker at the bottom."""
    tile, draw = paint.clear(), paint.chance(name)
    for blade in range(count):
        column = (blade + 0.5) * 16 / count + draw.uniform(-0.7, 0.7)
        lean, height = draw.uniform(-0.28, 0.28), int(tall * draw.uniform(0.55, 1.0))
        for i in range(height):
            at = int(np.clip(column + lean * i, 0, 15))
            factor = 0.62 + 0.45 * i / tall + draw.uniform(-0.06, 0.06)
            tile[15 - i, at] = (*np.clip(np.array(paint.rgb(colour)) * factor, 0, 255), 255)
    return tile


def _stem(height: int) -> Tile:
    tile = paint.clear()
    tile[16 - height :, 7] = (*paint.rgb("3c7a1e"), 255)
    tile[16 - height + 3 :, 8] = (*paint.rgb("2f6416"), 255)
    for row, column in ((12, 6), (11, 5), (13, 9), (12, 10)):
        tile[row, column] = (*paint.rgb("4a8c28"), 255)
    return tile


def _blob(tile: Tile, name: str, row: float, column: float, radius: float, colour: str) -> Tile:
    rows, columns = np.indices((16, 16))
    inside = np.hypot(rows - row, columns - column) <= radius
    return np.where(inside[..., None], paint.grain(name, colour, 0.18), tile)


def tiles() -> dict[str, Tile]:
    """Return the tile of every plant: block key -> tile."""
    out: dict[str, Tile] = {}
    for name, (petals, heart) in FLOWERS.items():
        tile = _blob(_stem(9), name, 6, 7.5, 2.6, petals)
        out[name] = _blob(tile, name + "heart", 6, 7.5, 1.0, heart)
    for name, colour in BUSHES.items():
        tile = paint.over(blades(name, "4e8a34", 9, 15), paint.clear())
        for k, (row, column) in enumerate(((4, 4), (7, 11), (3, 10), (10, 5), (11, 12))):
            tile = _blob(tile, f"{name}{k}", row, column, 1.7, colour)
        out[name] = tile
    for name, colour in SAPLINGS.items():
        trunk = paint.clear()
        trunk[9:, 7:9] = (*paint.rgb("6b4a25"), 255)
        crown = _blob(trunk, name, 6, 7.5, 4.6, colour)
        out[name] = np.where((paint.field(name + "gap", 2, 2) < 0.2)[..., None] & (crown[..., 1:2] > 90), 0, crown)
    for name, colour in (("brown_mushroom", "94714f"), ("red_mushroom", "cc2822")):
        tile = paint.clear()
        tile[11:, 7:9] = (*paint.rgb("d8ccb8"), 255)
        rows, columns = np.indices((16, 16))
        cap = (np.hypot((rows - 11) * 1.1, columns - 7.5) < 4.2) & (rows < 11)
        out[name] = np.where(cap[..., None], paint.grain(name, colour, 0.1), tile)
    out["tallgrass"] = blades("tallgrass", "b4b4b4", 11, 14)
    out["shrub"] = out["deadbush"] = blades("deadbush", "8a6428", 6, 13)
    out["fern"] = blades("fern", "a8a8a8", 15, 12)
    out["double_tallgrass"] = out["double_plant_top"] = blades("double_tallgrass", "b0b0b0", 12, 16)
    out["large_fern"] = blades("large_fern", "a4a4a4", 16, 16)
    out["reeds"] = _reeds()
    out["web"] = _web()
    out["waterlily"] = _blob(paint.clear(), "waterlily", 7.5, 7.5, 7.2, "2c8a38")
    out["waterlily"][7:9, 8:] = 0
    out["vine"] = paint.foliage("vine", "909090", 0.5)
    return {**out, **_crops()}


def _crops() -> dict[str, Tile]:
    """Return the tile of every age of every crop: block key, ``_`` and age -> tile. Wheat turns from green to yellow;
    the fruit of a ripe carrot, potato or beetroot is at the bottom.
    """
    out: dict[str, Tile] = {}
    for crop in CROPS:
        young, old, fruit = LEAVES[crop.block]
        for age in range(crop.ripe + 1):
            share, name = age / crop.ripe, f"{crop.block}_{age}"
            mixed = (1 - share) * np.array(paint.rgb(young)) + share * np.array(paint.rgb(old))
            colour = "".join(f"{int(part):02x}" for part in mixed)
            tile = blades(name, colour, 9 + int(5 * share), crop.low + crop.taller * age)
            if fruit and age == crop.ripe:
                for column in (3.5, 8.5, 12.5):
                    tile = _blob(tile, f"{name}{column}", 14, column, 1.6, fruit)
            out[name] = tile
    return out


def _reeds() -> Tile:
    stalks = np.isin(np.arange(16), (2, 3, 7, 8, 12, 13))[None, :, None]
    cane = paint.grain("reeds", "a4c878", 0.14, 1, 3)
    cane[3::5, :, :3] *= 0.75
    return np.where(stalks, cane, paint.clear())


def _web() -> Tile:
    rows, columns = np.indices((16, 16))
    threads = (rows == columns) | (rows + columns == 15) | (rows == 8) | (columns == 8)
    around = np.maximum(np.abs(rows - 7.5), np.abs(columns - 7.5))
    threads |= (np.floor(around) == 3) | (np.floor(around) == 6)
    return np.where(threads[..., None], paint.fill("e8e8e8"), paint.clear())
