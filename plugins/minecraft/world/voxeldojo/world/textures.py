"""Makes the textures in the format of the renderer, which has every tile in five sizes, and the tile of each face of a
block.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from voxeldojo.world import icons, paint, plants, skins, tiles
from voxeldojo.world.appearance import BOXES, LOOKS
from voxeldojo.world.blocks import BLOCKS, TABLE, Block
from voxeldojo.world.climate import classes
from voxeldojo.world.crops import MOST_LEVEL, RIPE
from voxeldojo.world.paint import SIDE, Tile

SIZES: Final = (16, 8, 4, 2, 1)
TEXELS: Final = sum(size * size for size in SIZES)
LEVELS: Final = 9
"""Number of values of ``World.level``."""
ABOVE: Final = 1
Names = tuple[str, str, str, str, str, str]
"""The game's order of faces: below, above, north, south, west, east."""

_PILLARS = {
    # block key: tiles below, above, and at the sides
    "grass": ("dirt", "grass_top", "grass_side"), "podzol": ("dirt", "podzol", "podzol_side"),
    "mycelium": ("dirt", "mycelium", "mycelium_side"), "grass_path": ("dirt", "path", "path_side"),
    "farmland": ("dirt", "farmland", "dirt"), "bookshelf": ("oak_planks", "oak_planks", "bookshelf"),
    "crafting_table": ("oak_planks", "table_top", "table_side"), "tnt": ("tnt_top", "tnt_top", "tnt_side"),
    "cactus": ("cactus_top", "cactus_top", "cactus_side"), "chest": ("chest_top", "chest_top", "chest_side"),
    "trapped_chest": ("chest_top", "chest_top", "chest_side"), "hay_block": ("hay", "hay", "hay"),
    "pumpkin": ("pumpkin", "pumpkin", "pumpkin"), "cake": ("cake", "snow", "cake"),
    "enchanting_table": ("obsidian", "red_wool", "obsidian"), "ender_chest": ("obsidian", "obsidian", "obsidian"),
}  # fmt: skip
_FRONTS = {
    "furnace": "furnace_front", "lit_furnace": "furnace_lit", "crafting_table": "table_front", "chest": "chest_front",
    "trapped_chest": "chest_front", "pumpkin": "pumpkin_face", "lit_pumpkin": "pumpkin_lit",
    "dispenser": "furnace_front", "dropper": "furnace_front", "observer": "furnace_front",
}  # fmt: skip
"""Blocks with a front face. The front face is on the north side, because the world has no rotated variants."""
_SAME = {
    # block key: the tile of all faces
    "lava": "lava", "water": "water", "fire": "fire", "brick_block": "bricks", "brick_stairs": "bricks",
    "brick_slab": "bricks", "lit_furnace": "furnace_side", "furnace": "furnace_side", "dispenser": "furnace_side",
    "dropper": "furnace_side", "observer": "furnace_side", "lit_pumpkin": "pumpkin", "melon_block": "melon",
    "bone_block": "bone", "noteblock": "note", "jukebox": "note", "piston": "oak_planks", "sticky_piston": "oak_planks",
    "brown_mushroom_block": "mushroom_brown", "red_mushroom_block": "mushroom_red", "smooth_sandstone": "sandstone",
    "smooth_red_sandstone": "red_sandstone", "stained_hardened_clay": "hardened_clay", "iron_bars": "bars",
    "nether_brick_stairs": "nether_brick", "nether_brick_slab": "nether_brick", "nether_brick_fence": "nether_brick",
    "stained_glass_pane": "stained_glass", "glass_pane": "glass", "cobblestone_wall": "cobblestone",
    "mossy_cobblestone_wall": "mossy_cobblestone", "stone_stairs": "cobblestone", "cobblestone_slab": "cobblestone",
    "stone_slab": "polished_andesite", "sandstone_slab": "sandstone_side", "stone_slab2": "red_sandstone_side",
    "stonebrick_slab": "stonebrick", "stone_brick_stairs": "stonebrick", "quartz_slab": "quartz",
    "sandstone_stairs": "sandstone_side", "red_sandstone_stairs": "red_sandstone_side", "old_wood_slab": "oak_planks",
    "snow_layer": "snow", "stone_button": "stone", "stone_pressure_plate": "stone", "lever": "stone",
    "heavy_weighted_pressure_plate": "iron_block", "light_weighted_pressure_plate": "gold_block",
    "daylight_detector": "quartz", "iron_trapdoor": "iron_block", "trapdoor": "oak_planks", "anvil": "metal",
    "hopper": "metal", "tripwire_hook": "oak_planks", "wooden_button": "oak_planks",
    "wooden_pressure_plate": "oak_planks", "activator_rail": "rail", "detector_rail": "rail", "golden_rail": "rail",
    "carpet": "white_wool", "wool": "white_wool", "redstone_torch": "redstone_torch", "torch": "torch",
    "wheat": "wheat_0", "carrots": "carrots_0", "potatoes": "potatoes_0", "beetroots": "beetroots_0",
}  # fmt: skip
GRASSY: Final = ("grass_top", "grass_side", "tallgrass", "fern", "double_tallgrass", "double_plant_top", "large_fern")
LEAFY: Final = ("oak_leaves", "jungle_leaves", "acacia_leaves", "dark_oak_leaves", "vine")
_EVERYWHERE = {"spruce_leaves": (97, 153, 97), "birch_leaves": (128, 167, 85)}
"""Blocks with the same colour in every biome (minecraft.wiki, page Color)."""


def faces(block: Block, known: dict[str, Tile]) -> Names:
    """Return the tiles of the faces of a block.

    :raises KeyError: no rule names an existing tile.
    """
    key = block.key
    below, above, around = _PILLARS.get(key, ("", "", ""))
    if not around:
        below = above = around = _around(key, known)
        if key.endswith("log"):
            below = above = around.replace("_bark", "_cut")
        elif around.endswith("sandstone") and key.endswith("sandstone") and "smooth" not in key:
            around = key if key.startswith("chiseled") else around + "_side"
        elif key.startswith("bed_"):
            above = "bed_pillow" if "head" in key else "bed_top"
    return below, above, _FRONTS.get(key, around), around, around, around


def _around(key: str, known: dict[str, Tile]) -> str:
    if key in _SAME or key in known:
        return _SAME.get(key, key)
    if key.startswith("bed_"):
        return "bed_side"
    if "torch_" in key:
        return "wall_torch"
    if key.endswith("_carpet"):
        return key.replace("carpet", "wool")
    wood = next((name for name in sorted(tiles.WOODS, key=len, reverse=True) if key.startswith(name)), "oak")
    for end, tile in (("log", "bark"), ("leaves", "leaves"), *((e, "planks") for e in WOODEN)):
        if key.endswith(end):
            return f"{wood}_{tile}"
    raise KeyError(f"no tile for block {key!r}: add a rule to textures.py")


WOODEN = ("planks", "stairs", "slab", "fence", "fence_gate")


class Art(NamedTuple):
    """All textures, as arrays.

    :ivar texels: the texels (pixels) of each tile, uint32 ``(tiles, TEXELS)``, as red + 256 green + 65,536 blue +
        16,777,216 opacity. Each tile has its 16 x 16 texels row by row, then the texels of its smaller sizes 8 x 8 to 1
        x 1.
    :ivar climate: the climate class of each biome id, int64 ``(256,)``.
    :ivar faces: the tile of each face of each block in each climate class, int64 ``(classes, blocks, 6)``.
    :ivar levels: the tile of each face of the blocks whose tiles depend on ``World.level`` (crops, farmland), int64
        ``(such blocks + 1, 9, 6)``; row 0 is unused.
    :ivar leveled: the row of each block in ``levels``, or 0, uint8 ``(blocks,)``.
    :ivar icons: the tile of each item's picture, or -1 if the item is drawn as the block that it places, int64
        ``(items, 16)``.
    :ivar skins: the tile of each face of the boxes of mobs, int64 ``(boxes, 6)``.
    :ivar hand: the tile of the player's hand.
    :ivar looks: the appearance of each block (see the module ``appearance``), uint8 ``(blocks,)``.
    :ivar boxes: the box of each block that is smaller than its cell, float64 ``(blocks, 6)``.
    :ivar cracks: the tiles of the cracks in a block that is being dug, the smallest cracks first, int64 ``(10,)``.
    """

    texels: NDArray[np.uint32]
    climate: NDArray[np.int64]
    faces: NDArray[np.int64]
    levels: NDArray[np.int64]
    leveled: NDArray[np.uint8]
    icons: NDArray[np.int64]
    skins: NDArray[np.int64]
    hand: int
    looks: NDArray[np.uint8]
    boxes: NDArray[np.float64]
    cracks: NDArray[np.int64]


def sizes(tile: Tile) -> NDArray[np.uint32]:
    """Return the texels (pixels) of a tile in five sizes, as packed integers. In the smaller sizes of a tile, partly
    transparent texels are made more opaque, so that they stay visible.
    """
    parts, now = [], tile.copy()
    now[..., :3] *= now[..., 3:] / 255.0
    for size in SIZES:
        cover = now[..., 3]
        boosted = cover if size == SIDE or cover.max() <= 200 else np.minimum(cover * 1.5, 255.0)
        plain = now[..., :3] / np.maximum(cover[..., None], 1e-9) * 255.0
        whole = np.concatenate([plain, boosted[..., None]], axis=2)
        bytes_ = np.clip(np.round(whole), 0, 255).astype(np.uint32).reshape(-1, 4)
        parts.append(bytes_ @ np.array([1, 1 << 8, 1 << 16, 1 << 24], np.uint32))
        now = now.reshape(size // 2, 2, size // 2, 2, 4).mean((1, 3)) if size > 1 else now
    whole_set: NDArray[np.uint32] = np.concatenate(parts).astype(np.uint32)
    return whole_set


def _levels(place: dict[str, int], plain: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return ``Art.levels`` and ``Art.leveled``. Wet farmland is darker above; a crop has a tile for each age.

    :param place: the index of each tile, by the tile's name.
    :param plain: the tile of each face of each block, ``(blocks, 6)``.
    """
    which = np.flatnonzero(MOST_LEVEL > 0)
    rows, row_of = np.zeros((len(which) + 1, LEVELS, 6), np.int64), np.zeros(BLOCKS, np.uint8)
    for row, block in enumerate(which, start=1):
        row_of[block], rows[row] = row, plain[block]
        for level in range(1, LEVELS):
            if RIPE[block] > 0:
                rows[row, level] = place[f"{TABLE[block].key}_{min(level, int(RIPE[block]))}"]
            else:
                rows[row, level, ABOVE] = place["farmland_wet"]
    return rows, row_of


@cache
def art() -> Art:
    """Generate all textures. The generation of all textures takes a few tenths of a second, once per process."""
    known = {**tiles.earths(), **tiles.woods(), **tiles.crafted(), **plants.tiles(), **skins.tiles(), **icons.tiles()}
    known["grass_side"] = known["dirt"]
    for name, everywhere in _EVERYWHERE.items():
        known[name] = paint.tint(known[name], everywhere)
    of_biome, shades = classes()
    place = {name: index for index, name in enumerate(known)}
    packed = [sizes(tile) for tile in known.values()]
    on_face = np.zeros((len(shades), BLOCKS, 6), np.int64)
    plain = np.array([[place[name] for name in faces(block, known)] for block in TABLE[1:]])
    on_face[:, 1:] = plain
    for shade, (grass, leaves) in enumerate(shades):
        for name, colour in (*((name, grass) for name in GRASSY), *((name, leaves) for name in LEAFY)):
            tile = paint.tint(known[name], colour)
            if name == "grass_side":
                tile = paint.over(known["dirt"], paint.tint(known["grass_fringe"], colour))
            on_face[shade, 1:][plain == place[name]] = len(packed)
            packed.append(sizes(tile))
    levels, leveled = _levels(place, on_face[0])
    return Art(
        texels=np.stack(packed),
        climate=of_biome,
        faces=on_face,
        levels=levels,
        leveled=leveled,
        icons=icons.places(place, on_face[0, :, 3]),
        skins=np.array([[place[name] for name in box] for box in skins.faces()]),
        hand=place["hand"],
        looks=LOOKS,
        boxes=BOXES,
        cracks=np.array([place[f"crack{i}"] for i in range(10)]),
    )
