"""Draws the tiles (textures) of blocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voxeldojo.world import paint
from voxeldojo.world.paint import Tile, grain

DYES = {
    "white": "e9ecec", "orange": "f07613", "magenta": "bd44b3", "light_blue": "3aafd9", "yellow": "f8c627",
    "lime": "70b919", "pink": "ed8dac", "gray": "3e4447", "silver": "8e8e86", "cyan": "158991", "purple": "792aac",
    "blue": "35399d", "brown": "724728", "green": "546d1b", "red": "a12722", "black": "141519",
}  # fmt: skip
"""The sixteen colours of wool, in the order of the game's metadata."""
WOODS = {
    "oak": ("a2824e", "6b5233", "b8945f"), "spruce": ("72542f", "3a2613", "7d5d37"),
    "birch": ("c4b37b", "d8d7d2", "c8b77a"), "jungle": ("a07350", "57441b", "b88764"),
    "acacia": ("a85a32", "676157", "b25b3b"), "dark_oak": ("432b14", "342616", "4f3218"),
}  # fmt: skip
"""Colours of planks, bark and cut wood."""
ORES = {
    "coal": "2e2e2e", "iron": "d8af93", "gold": "fcee4b", "redstone": "e0130d", "diamond": "5decf5",
    "lapis": "1e4dac", "emerald": "17dd62",
}  # fmt: skip
METALS = {
    "coal": "161616", "iron": "dcdcdc", "gold": "f7d83d", "redstone": "ab1a06", "diamond": "62ded6",
    "lapis": "1f439b", "emerald": "2bd15a",
}  # fmt: skip
LUMPS = ((1, 3), (3, 10), (6, 5), (8, 12), (11, 2), (12, 8))
PLAIN = {
    # name: colour, contrast, width and height of the patches of equal colour
    "stone": ("7d7d7d", 0.1, 4, 1), "dirt": ("866043", 0.2, 1, 1), "coarse_dirt": ("775536", 0.3, 1, 1),
    "sand": ("dbd3a0", 0.07, 1, 1), "red_sand": ("a95821", 0.08, 1, 1), "gravel": ("837f7e", 0.28, 2, 2),
    "clay": ("9ea4b0", 0.05, 3, 1), "bedrock": ("565656", 0.6, 2, 2), "obsidian": ("15101f", 0.5, 2, 2),
    "snow": ("f1fbfb", 0.03, 2, 2), "ice": ("91b4fb", 0.06, 4, 2), "packed_ice": ("a5c3f5", 0.08, 4, 2),
    "netherrack": ("6f3634", 0.3, 2, 2), "soul_sand": ("54402f", 0.3, 3, 2), "hardened_clay": ("965c42", 0.04, 2, 2),
    "granite": ("99705e", 0.16, 2, 2), "diorite": ("bcbcbe", 0.2, 2, 2), "andesite": ("868687", 0.14, 2, 1),
    "mycelium": ("6f6369", 0.2, 1, 1), "podzol": ("5a3f1b", 0.25, 1, 1), "sandstone": ("dcd3a2", 0.05, 5, 1),
    "red_sandstone": ("a6551e", 0.05, 5, 1), "quartz": ("ece9e2", 0.03, 3, 2), "farmland": ("50311a", 0.25, 8, 1),
    "farmland_wet": ("38210f", 0.25, 8, 1), "hay": ("a88a1a", 0.25, 1, 4),
    "bone": ("d8d4b6", 0.06, 1, 3), "melon": ("72931f", 0.2, 2, 6),
    "pumpkin": ("c6751a", 0.1, 2, 8), "mushroom_red": ("c82c28", 0.06, 2, 2), "mushroom_brown": ("946f51", 0.06, 2, 2),
    "nether_ore": ("6f3634", 0.3, 2, 2), "metal": ("4a4a4a", 0.15, 2, 2), "cake": ("ead9c4", 0.06, 2, 2),
    "path": ("94793f", 0.16, 1, 1),
}  # fmt: skip


def _plain(name: str) -> Tile:
    colour, contrast, wide, high = PLAIN[name]
    return grain(name, colour, contrast, wide, high)


def _ragged(name: str, under: Tile, upper: Tile) -> Tile:
    """Draw the tile ``upper`` over the top 2 to 4 rows of pixels of the tile ``under``."""
    depth = 2 + paint.chance(name).integers(0, 3, paint.SIDE)
    over = np.arange(paint.SIDE)[:, None] < depth[None, :]
    return np.where(over[..., None], upper, under)


def earths() -> dict[str, Tile]:
    """Return the tiles of stone, soil, ores, their products, and fluids."""
    out = {name: _plain(name) for name in PLAIN}
    stone, dirt = out["stone"], out["dirt"]
    out["grass_top"] = grain("grass_top", "b4b4b4", 0.22, shades=6)
    out["grass_fringe"] = _ragged("fringe", paint.clear(), grain("fringe", "aeaeae", 0.2))
    for name in ("mycelium", "podzol", "path", "snow"):
        out[name + "_side"] = _ragged(name, dirt, out[name])
    for name, colour in ORES.items():
        out[name + "_ore"] = paint.specks(name, stone, colour, LUMPS)
    out["quartz_ore"] = paint.specks("quartz", out["nether_ore"], "ddd4c8", LUMPS)
    out["cobblestone"] = paint.cobbles("cobblestone", "868686")
    moss = paint.grain("moss", "5f7a3a", 0.2)
    grown = (paint.field("moss_where", 3, 3) < 0.4)[..., None]
    out["mossy_cobblestone"] = np.where(grown, (moss + out["cobblestone"]) / 2, out["cobblestone"])
    for name, colour in METALS.items():
        out[name + "_block"] = paint.frame(paint.frame(grain(name + "_block", colour, 0.05), 1.08, 2), 0.78)
    out["bricks"] = paint.bricks("bricks", "96553f", "9e958c")
    out["nether_brick"] = paint.bricks("nether_brick", "31181c", "1d0d10")
    out["stonebrick"] = paint.bricks("stonebrick", "7a7a7a", "565656", 8, 16)
    out["mossy_stonebrick"] = np.where(grown, (moss + out["stonebrick"]) / 2, out["stonebrick"])
    out["cracked_stonebrick"] = paint.shade(out["stonebrick"], np.where(paint.field("crack", 1, 4) < 0.12, 0.6, 1.0))
    out["chiseled_stonebrick"] = paint.frame(paint.frame(stone, 0.85, 4), 0.7)
    for name in ("granite", "diorite", "andesite"):
        out["polished_" + name] = paint.frame(grain(name + "p", PLAIN[name][0], 0.06, 3, 2), 0.78)
    for name in ("sandstone", "red_sandstone"):
        bands = np.ones((16, 16))
        bands[3:5], bands[9:10], bands[13:] = 0.9, 0.93, 0.88
        out[name + "_side"] = paint.shade(out[name], bands)
        out["chiseled_" + name] = paint.frame(paint.frame(out[name], 0.85, 4), 0.9)
    out["glowstone"] = paint.cobbles("glowstone", "e9c27c", 0.75)
    out["redstone_lamp"] = paint.frame(paint.cobbles("lamp", "5d3a22"), 0.6)
    out["water"] = grain("water", "2f52d8", 0.1, 6, 1, cover=165.0)
    out["lava"] = grain("lava", "df6a16", 0.0)
    heat = paint.field("lava", 4, 3)[..., None]
    out["lava"][..., :3] = np.array([190, 60, 8]) + heat**1.5 * np.array([60, 140, 60])
    out["fire"] = _flames()
    for stage in range(10):
        lines = paint.field("crack", 1, 2) < 0.03 + 0.045 * stage
        out[f"crack{stage}"] = np.where(lines[..., None], paint.fill("282828", 190), paint.clear())
    return out


def _flames() -> Tile:
    rows = np.arange(16)[:, None] / 16
    licks = paint.field("fire", 2, 4)
    tile = paint.clear()
    tile[..., 0], tile[..., 1], tile[..., 2] = 255, 90 + 150 * rows * licks + 30, 40 * rows
    tile[..., 3] = np.where(licks < rows * 0.9 + 0.12, 255, 0)
    return tile


def woods() -> dict[str, Tile]:
    """Return the tiles of trees and wooden blocks."""
    out: dict[str, Tile] = {}
    for name, (boards, bark, cut) in WOODS.items():
        out[name + "_planks"] = paint.boards(name + "_planks", boards)
        out[name + "_bark"] = paint.streaks(name + "_bark", bark)
        out[name + "_cut"] = paint.rings(name + "_cut", cut, bark)
        out[name + "_leaves"] = paint.foliage(name + "_leaves", "c0c0c0" if name == "birch" else "aaaaaa", 0.24)
    marks = paint.field("birch_marks", 3, 1) < 0.1
    out["birch_bark"] = paint.shade(grain("birch_bark", "dcdbd5", 0.05, 2, 1), np.where(marks, 0.22, 1.0))
    planks = out["oak_planks"]
    out["table_top"] = paint.frame(paint.boards("table_top", "b08a54"), 0.6)
    for line in (5, 10):
        out["table_top"][2:14, line, :3] *= 0.62
        out["table_top"][line, 2:14, :3] *= 0.62
    for side, tools in (("table_side", SAW), ("table_front", HAMMER)):
        out[side] = planks.copy()
        out[side][:3, :, :3] = paint.shade(grain(side, "7c5a33", 0.1), 0.9)[:3, :, :3]
        out[side][:, [0, 15], :3] *= 0.6
        out[side] = paint.over(out[side], paint.stencil(tools, {"w": "6b4a25", "i": "c9c9c9", "d": "4d4d4d"}))
    books = paint.shade(grain("books", "8c4a3c", 0.35, 1, 6), 1.0)
    shelf = np.isin(np.arange(16), (0, 7, 8, 15))[:, None, None]
    out["bookshelf"] = np.where(shelf, planks, books)
    chest = paint.frame(paint.boards("chest", "9c6b2c"), 0.45)
    out["chest_top"], out["chest_side"] = chest, paint.shade(chest, np.where(np.arange(16)[:, None] == 6, 0.4, 1.0))
    out["chest_front"] = paint.over(out["chest_side"], paint.stencil(["ii", "ii", "id", "dd"], HUES))
    out["note"] = paint.frame(grain("note", "6d4532", 0.2, 2, 2), 0.6)
    return out


HUES = {"w": "6b4a25", "i": "c9c9c9", "d": "4d4d4d", "k": "1c1c1c", "r": "c02020", "y": "ffd94a", "g": "3f7f2a"}
SAW = ["wwww......", "w..w.iiii.", "wwwwiidii.", "....iiii..", "....id....", ".........."]
HAMMER = ["..iiii....", "..iidi.ww.", "....w..w..", "....w..i..", "....w..i..", "....w..i.."]


def crafted() -> dict[str, Tile]:
    """Return the tiles of furnaces, glass, wool and other crafted blocks."""
    out: dict[str, Tile] = {}
    smooth = paint.frame(grain("furnace", "6e6e6e", 0.1, 3, 1), 0.75)
    out["furnace_side"] = out["furnace_top"] = smooth
    mouth = np.zeros((16, 16), bool)
    mouth[8:14, 4:12] = True
    mouth[3:5, 4:12] = True
    out["furnace_front"] = np.where(mouth[..., None], paint.fill("1a1a1a"), smooth)
    embers = paint.shade(grain("embers", "f0901e", 0.35), 1.0)
    mouth[3:5] = False
    out["furnace_lit"] = np.where((mouth & (np.arange(16)[:, None] > 9))[..., None], embers, out["furnace_front"])
    glass = paint.clear()
    glass[[0, 15], :], glass[:, [0, 15]] = (*paint.rgb("d6eef2"), 255), (*paint.rgb("d6eef2"), 255)
    for i, j in ((3, 4), (4, 3), (5, 2), (4, 5), (5, 4), (11, 12), (12, 11)):
        glass[i, j] = (*paint.rgb("f0ffff"), 255)
    out["glass"] = glass
    out["stained_glass"] = paint.fill("dddddd", 110)
    out["bars"] = np.where((np.arange(16) % 4 == 1)[None, :, None], paint.fill("7a7a78"), paint.clear())
    for name, colour in DYES.items():
        out[name + "_wool"] = grain(name + "_wool", colour, 0.07, 2, 1, 6)
    out["bed_top"] = np.where((np.arange(16) > 1)[:, None, None], out["red_wool"], out["white_wool"])
    out["bed_pillow"] = np.where((np.arange(16) < 9)[:, None, None], out["white_wool"], out["red_wool"])
    out["bed_side"] = np.where((np.arange(16) < 12)[:, None, None], out["red_wool"], grain("bed", "8a6a3c", 0.1))
    out["tnt_side"] = paint.over(grain("tnt", "c8402a", 0.1, 1, 8), paint.stencil(["i" * 16] * 5, HUES))
    out["tnt_top"] = paint.frame(grain("tnt_top", "b03a26", 0.12), 0.8)
    out["cactus_side"] = paint.shade(
        grain("cactus", "5b8a2f", 0.12, 1, 5), np.where(np.arange(16) % 4 == 0, 0.72, 1.05)
    )
    out["cactus_top"] = paint.frame(grain("cactus_top", "6ea03c", 0.1), 0.7, 2)
    out["face"] = paint.stencil(["kk....kk", "k......k", "........", "k.kk.k.k", "kkkkkkkk", ".kk.kk.."], HUES)
    out["lit_face"] = paint.stencil(["yy....yy", "y......y", "........", "y.yy.y.y", "yyyyyyyy", ".yy.yy.."], HUES)
    out["pumpkin_face"] = paint.over(_plain("pumpkin"), out.pop("face"))
    out["pumpkin_lit"] = paint.over(_plain("pumpkin"), out.pop("lit_face"))
    for name, foot, tip, stick in (("torch", 6, "ffe98a", "7a5c32"), ("wall_torch", 3, "ffe98a", "7a5c32")):
        out[name] = _torch(foot, tip, stick)
    out["redstone_torch"] = _torch(6, "e02a18", "7a5c32")
    out["rail"] = _rails("8c6a3a", "b9b9b9")
    out["ladder"] = np.where(_ladder()[..., None], grain("ladder", "9c7a45", 0.1), paint.clear())
    return out


def _torch(first: int, tip: str, stick: str) -> Tile:
    """Paint a torch. The flame of the torch starts at row ``first``, and the whole torch is ten rows long. Only two
    columns of pixels are visible.
    """
    tile = paint.fill(stick)
    tile[first : first + 2] = paint.fill(tip)[:2]
    tile[first + 2] = paint.fill("c8964a")[0]
    return tile


def _rails(ties: str, rail: str) -> Tile:
    tile = np.where((np.arange(16) % 4 < 2)[:, None, None], grain("ties", ties, 0.1), paint.clear())
    tile[:, [3, 12]] = (*paint.rgb(rail), 255)
    return tile


def _ladder() -> NDArray[np.bool_]:
    rungs = np.zeros((16, 16), bool)
    rungs[1::4, 1:15] = rungs[2::4, 1:15] = True
    rungs[:, [2, 3, 12, 13]] = True
    return rungs
