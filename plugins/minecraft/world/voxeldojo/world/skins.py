"""The models of mobs. The model of a mob consists of boxes, with sizes in sixteenths of a block, and the tiles on the
faces of the boxes.

The model of a mob has its feet on the ground and looks along +z, with +x to its left. The sizes of the boxes come from
the pictures of the models in minecraft.wiki, Java Edition 1.11. The tiles of mobs are drawn by this module and are not
those of the game.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from voxeldojo.world import mob_kinds, paint
from voxeldojo.world.paint import Tile

Corner = tuple[float, float, float]


class Part(NamedTuple):
    """One box of a model.

    :ivar around: the name of the tile on all faces except front and top.
    :ivar front: the tile of the face towards +z.
    :ivar above: the tile of the top.
    :ivar swing: the direction (1 or -1) of the swing about ``hinge`` (y, z) while the mob walks; 0 means that the box
        does not swing.
    :ivar wool: whether the box has the colour of the mob's wool.
    """

    low: Corner
    high: Corner
    around: str
    front: str = ""
    above: str = ""
    swing: int = 0
    hinge: tuple[float, float] = (0, 0)
    wool: bool = False


def _legs(half: float, tall: float, x: float, back: float, front: float, tile: str, wool: bool = False) -> list[Part]:
    """Return the four legs of a mob, or two legs if ``back`` equals ``front``. Diagonal legs swing together."""
    out = []
    for z, turn in ((back, 1), (front, -1)) if back != front else ((front, 1),):
        for side in (-1, 1):
            low, high = (side * x - half, 0, z - half), (side * x + half, tall, z + half)
            out.append(Part(low, high, tile, swing=turn * side, hinge=(tall, z), wool=wool))
    return out


def _spider_legs() -> list[Part]:
    """Return eight legs. Each leg has a part that points to the side and a part that stands on the ground."""
    out = []
    for n, (near, far) in enumerate(((2, 7), (0.5, 2), (-0.5, -3), (-2, -8))):
        middle = (near + far) / 2
        for side in (-1, 1):
            for x0, x1, y0, y1, z in ((4, 9, 8, 10, near), (8, 13, 7, 9, middle), (12, 14, 0, 8, far)):
                low, high = (min(side * x0, side * x1), y0, z - 1), (max(side * x0, side * x1), y1, z + 1)
                turn = side * (1 if n % 2 else -1) if y0 == 0 else 0
                out.append(Part(low, high, "spider_leg", swing=turn, hinge=(y1, z)))
    return out


def _zombie(kind: str) -> list[Part]:
    return [
        Part((-4, 24, -4), (4, 32, 4), f"{kind}_skin", f"{kind}_face", f"{kind}_hair"),
        Part((-4, 12, -2), (4, 24, 2), f"{kind}_shirt"),
        *_legs(2, 12, 2, 0, 0, f"{kind}_trousers"),
        Part((-8, 20, -2), (-4, 24, 4), f"{kind}_shirt"),
        Part((-8, 20, 4), (-4, 24, 10), f"{kind}_skin"),
        Part((4, 20, -2), (8, 24, 4), f"{kind}_shirt"),
        Part((4, 20, 4), (8, 24, 10), f"{kind}_skin"),
    ]


def _horse(kind: str, ears: float) -> list[Part]:
    """Return the boxes of a horse.

    :param ears: the length of its ears.
    """
    return [
        Part((-5, 11, -12), (5, 21, 10), f"{kind}_hide"),
        Part((-2.5, 18, 8), (2.5, 23, 13), f"{kind}_hide"),
        Part((-2, 21, 10), (2, 28, 15), f"{kind}_hide"),
        Part((-3, 24, 11), (3, 29, 17), f"{kind}_hide", f"{kind}_face"),
        Part((-2, 24, 17), (2, 27.5, 20), f"{kind}_muzzle"),
        Part((-1, 21, 7.5), (1, 30, 10.5), f"{kind}_mane"),
        Part((-2.8, 29, 12), (-1.2, 29 + ears, 13), f"{kind}_hide"),
        Part((1.2, 29, 12), (2.8, 29 + ears, 13), f"{kind}_hide"),
        Part((-1.5, 9, -14.5), (1.5, 20, -12), f"{kind}_mane"),
        *_legs(1.75, 11, 3.2, -10, 8, f"{kind}_leg"),
    ]


_SHEEP_HEAD = Part((-3, 16, 6), (3, 22, 14), "sheep_skin", "sheep_face")
MODELS: Final[dict[str, list[Part]]] = {
    "cow": [
        Part((-6, 12, -10), (6, 22, 8), "cow_hide"),
        Part((-2, 11, -9), (2, 12, -3), "pig_skin"),
        Part((-4, 16, 8), (4, 24, 14), "cow_head", "cow_face"),
        Part((-5, 22, 10), (-4, 25, 11), "horn"),
        Part((4, 22, 10), (5, 25, 11), "horn"),
        *_legs(2, 12, 4, -7, 6, "cow_leg"),
    ],
    "sheep": [
        Part((-5.75, 10.5, -9.75), (5.75, 19.75, 7.75), "wool", wool=True),
        Part((-3.6, 16.4, 5), (3.6, 22.6, 11.6), "wool", wool=True),
        _SHEEP_HEAD,
        *_legs(2, 12, 3, -5, 5, "sheep_skin"),
        *[
            part._replace(
                low=(part.low[0] - 0.5, 6, part.low[2] - 0.5), high=(part.high[0] + 0.5, 12, part.high[2] + 0.5)
            )
            for part in _legs(2, 12, 3, -5, 5, "wool", wool=True)
        ],
    ],
    "sheared_sheep": [
        Part((-4, 12, -8), (4, 18, 6), "sheep_shorn"),
        _SHEEP_HEAD._replace(above="sheep_shorn"),
        *_legs(2, 12, 3, -5, 5, "sheep_skin"),
    ],
    "pig": [
        Part((-5, 6, -8), (5, 14, 8), "pig_skin"),
        Part((-4, 8, 6), (4, 16, 14), "pig_skin", "pig_face"),
        Part((-2, 9, 14), (2, 12, 15), "pig_skin", "pig_snout"),
        *_legs(2, 6, 3, -5, 7, "pig_leg"),
    ],
    "chicken": [
        Part((-3, 5, -4), (3, 11, 4), "chicken"),
        Part((-4, 7, -3), (-3, 11, 3), "chicken_wing"),
        Part((3, 7, -3), (4, 11, 3), "chicken_wing"),
        Part((-2, 9, 3), (2, 15, 6), "chicken", "chicken_face"),
        Part((-2, 11, 6), (2, 13, 8), "beak"),
        Part((-1, 9, 5.5), (1, 11, 7.5), "wattle"),
        *_legs(0.5, 5, 1.5, 0, 0, "beak"),
        Part((-2.5, 0, -0.5), (-0.5, 0.4, 2), "beak", swing=-1, hinge=(5, 0)),
        Part((0.5, 0, -0.5), (2.5, 0.4, 2), "beak", swing=1, hinge=(5, 0)),
    ],
    "zombie": [
        Part((-4, 24, -4), (4, 32, 4), "zombie_skin", "zombie_face", "zombie_hair"),
        Part((-4, 12, -2), (4, 24, 2), "shirt"),
        *_legs(2, 12, 2, 0, 0, "trousers"),
        Part((-8, 20, -2), (-4, 24, 4), "shirt"),
        Part((-8, 20, 4), (-4, 24, 10), "zombie_skin"),
        Part((4, 20, -2), (8, 24, 4), "shirt"),
        Part((4, 20, 4), (8, 24, 10), "zombie_skin"),
    ],
    "spider": [
        Part((-4, 5, 3), (4, 13, 11), "spider", "spider_face"),
        Part((-3, 6, -3), (3, 12, 3), "spider"),
        Part((-5, 5, -15), (5, 13, -3), "spider_back"),
        *_spider_legs(),
    ],
    "husk": _zombie("husk"),
    "skeleton": [
        Part((-4, 24, -4), (4, 32, 4), "bone", "skeleton_face"),
        Part((-4, 12, -2), (4, 24, 2), "skeleton_ribs"),
        *_legs(1, 12, 2, 0, 0, "bone"),
        Part((-6, 20, -1), (-4, 22, 11), "bone"),
        Part((4, 20, -1), (6, 22, 11), "bone"),
        Part((-5.4, 14, 9), (-4.6, 28, 10), "bow"),
    ],
    "creeper": [
        Part((-4, 18, -4), (4, 26, 4), "creeper_skin", "creeper_face"),
        Part((-4, 6, -2), (4, 18, 2), "creeper_skin"),
        *_legs(2, 6, 2, -4, 4, "creeper_foot"),
    ],
    "enderman": [
        Part((-4, 38, -4), (4, 46, 4), "enderman_skin", "enderman_face"),
        Part((-4, 26, -2), (4, 38, 2), "enderman_skin"),
        *_legs(1, 26, 2, 0, 0, "enderman_skin"),
        Part((-6, 8, -1), (-4, 38, 1), "enderman_skin", swing=-1, hinge=(37, 0)),
        Part((4, 8, -1), (6, 38, 1), "enderman_skin", swing=1, hinge=(37, 0)),
    ],
    "bat": [
        Part((-3, 8.5, -3), (3, 13.4, 3), "bat_fur", "bat_face"),
        Part((-2.5, 13, -0.5), (-0.7, 14.4, 0.5), "bat_fur"),
        Part((0.7, 13, -0.5), (2.5, 14.4, 0.5), "bat_fur"),
        Part((-3, 0, -3), (3, 8.5, 3), "bat_fur"),
        Part((-8, 2, -0.3), (-2, 10, 0.3), "bat_wing"),
        Part((2, 2, -0.3), (8, 10, 0.3), "bat_wing"),
    ],
    "witch": [
        Part((-4, 24, -4), (4, 34, 4), "witch_skin", "witch_face"),
        Part((-1, 23, 4), (1, 27, 6), "witch_skin"),
        Part((-4, 0, -3), (4, 24, 3), "witch_robe"),
        Part((-8, 16, 1), (8, 20, 5), "witch_robe"),
        Part((-5, 32, -5), (5, 34, 5), "witch_hat"),
        Part((-3.5, 34, -3.5), (3.5, 36.5, 3.5), "witch_hat"),
        Part((-2, 36.5, -2.5), (2, 39, 1.5), "witch_hat"),
    ],
    "wolf": [
        Part((-3, 7, -8), (3, 13, 1), "wolf_fur"),
        Part((-4, 6, 0), (4, 13.5, 6), "wolf_mane"),
        Part((-3, 8, 6), (3, 14, 10), "wolf_fur", "wolf_face"),
        Part((-1.5, 8, 10), (1.5, 11, 13.5), "wolf_muzzle", "wolf_nose"),
        Part((-3, 14, 7), (-1, 16, 8), "wolf_mane"),
        Part((1, 14, 7), (3, 16, 8), "wolf_mane"),
        Part((-1, 4, -10.5), (1, 12, -8), "wolf_mane"),
        *_legs(1, 8, 1.7, -6.5, 4, "wolf_fur"),
    ],
    "horse": _horse("horse", 3),
    "donkey": [
        part._replace(
            low=(part.low[0] * 0.87, part.low[1] * 0.87, part.low[2] * 0.87),
            high=(part.high[0] * 0.87, part.high[1] * 0.87, part.high[2] * 0.87),
            hinge=(part.hinge[0] * 0.87, part.hinge[1] * 0.87),
        )
        for part in _horse("donkey", 7)
    ],
    "rabbit": [
        Part((-2, 1.5, -4), (2, 5, 2.5), "rabbit_fur"),
        Part((-1.8, 3.6, 1.5), (1.8, 6.8, 5), "rabbit_fur", "rabbit_face"),
        Part((-1.7, 6.8, 1.8), (-0.3, 10, 2.5), "rabbit_fur", "rabbit_ear"),
        Part((0.3, 6.8, 1.8), (1.7, 10, 2.5), "rabbit_fur", "rabbit_ear"),
        Part((-1, 2.5, -5.2), (1, 4.5, -4), "rabbit_tail"),
        Part((-2.6, 0, -4), (-1.2, 3.4, -1), "rabbit_fur"),
        Part((1.2, 0, -4), (2.6, 3.4, -1), "rabbit_fur"),
        Part((-1.8, 0, 1), (-0.6, 2, 2.2), "rabbit_fur"),
        Part((0.6, 0, 1), (1.8, 2, 2.2), "rabbit_fur"),
    ],
    "llama": [
        Part((-6, 11, -9), (6, 21, 9), "llama_wool"),
        Part((-4, 15, 5), (4, 31, 11), "llama_wool", "llama_face"),
        Part((-2, 24.5, 11), (2, 28.5, 15), "llama_muzzle", "llama_nose"),
        Part((-4, 31, 7), (-1, 34, 9), "llama_wool"),
        Part((1, 31, 7), (4, 34, 9), "llama_wool"),
        Part((-1.5, 13, -11), (1.5, 19, -9), "llama_wool"),
        *_legs(2, 12, 3.6, -6.5, 6.5, "llama_leg"),
    ],
}


def _plan() -> tuple[list[Part], list[tuple[int, int]]]:
    parts: list[Part] = []
    spans = [(0, 0), (0, 0)]
    for name in mob_kinds.NAMES[1:]:
        for model in (name, f"sheared_{name}" if f"sheared_{name}" in MODELS else name):
            spans.append((len(parts), len(parts) + len(MODELS[model])))
            parts += MODELS[model]
    return parts, spans


PARTS, _SPANS = _plan()
SPANS = np.array(_SPANS)
"""``(2 * kinds, 2)``: range of boxes (end excluded) of kind ``k`` in row ``2 k``, of its sheared form in row ``2 k +
1``.
"""
BOXES = np.array([part.low + part.high for part in PARTS]) / 16.0
"""(boxes, 6), in blocks."""
SWING = np.array([part.swing for part in PARTS])
HINGE = np.array([part.hinge for part in PARTS]) / 16.0
WOOL = np.array([part.wool for part in PARTS])
WOOL_COLOURS = np.array(
    [
        *((233, 236, 236), (240, 118, 19), (189, 68, 179), (58, 175, 217), (248, 198, 39), (112, 185, 25)),
        *((237, 141, 172), (62, 68, 71), (142, 142, 134), (21, 137, 145), (121, 42, 172), (53, 57, 157)),
        *((114, 71, 40), (84, 109, 27), (161, 39, 34), (24, 24, 28)),
    ]
)
for _array in (SPANS, BOXES, SWING, HINGE, WOOL, WOOL_COLOURS):
    _array.flags.writeable = False


def faces() -> list[tuple[str, ...]]:
    """Return the names of the six tiles of each box, in the order below, above, back, front, right, left."""
    return [
        (part.around, part.above or part.around, part.around, part.front or part.around, part.around, part.around)
        for part in PARTS
    ]


def _eight(rows: Sequence[str], colours: dict[str, str]) -> Tile:
    """Draw a picture of 8 x 8 pixels, each of which covers 2 x 2 texels (pixels of a tile)."""
    return np.repeat(np.repeat(paint.stencil(rows, colours)[4:12, 4:12], 2, axis=0), 2, axis=1)


def tiles() -> dict[str, Tile]:
    """Return the tiles of all models of mobs, by the tiles' names."""
    brown, white, rose, skin = "43342a", "dcdcdc", "f0a5a2", "d8bfae"
    hide = paint.grain("cow", brown, 0.12)
    patches = (paint.field("cow_patches", 5, 5) < 0.34)[..., None]
    out = {
        "cow_hide": np.where(patches, paint.grain("cow_white", white, 0.06), hide),
        "cow_head": hide,
        "cow_leg": np.where(
            np.arange(16)[:, None, None] > 12, paint.fill("2a221c"), paint.grain("cow_leg", brown, 0.1)
        ),
        "horn": paint.grain("horn", "b8b2a6", 0.1),
        "wool": paint.grain("fleece", "f4f4f4", 0.1, 2, 2, 6),
        "sheep_skin": paint.grain("sheep", skin, 0.05),
        "sheep_shorn": paint.grain("shorn", "e8d4c8", 0.08, 3, 2),
        "pig_skin": paint.grain("pig", rose, 0.06, 2, 2),
        "pig_leg": np.where(
            np.arange(16)[:, None, None] > 11, paint.fill("d68b88"), paint.grain("pig", rose, 0.06, 2, 2)
        ),
        "chicken": paint.grain("chicken", "f2f2f2", 0.05),
        "chicken_wing": paint.grain("wing", "dcdcdc", 0.08, 1, 3),
        "beak": paint.grain("beak", "d9a32a", 0.08),
        "wattle": paint.grain("wattle", "c81e1e", 0.1),
        "hand": paint.grain("hand", "b58468", 0.05, 2, 2),
        "zombie_skin": paint.grain("zombie", "527d3c", 0.12, 2, 2),
        "zombie_hair": paint.grain("zombie_hair", "3f6330", 0.12, 2, 2),
        "shirt": paint.grain("shirt", "1f9494", 0.14, 2, 3),
        "trousers": np.where(
            np.arange(16)[:, None, None] > 13, paint.fill("4a4a4a"), paint.grain("trousers", "3a3489", 0.14, 2, 3)
        ),
        "husk_skin": paint.grain("husk", "86724a", 0.14, 2, 2),
        "husk_hair": paint.grain("husk_hair", "6b5a38", 0.14, 2, 2),
        "husk_shirt": paint.grain("husk_shirt", "6e5c48", 0.18, 2, 3),
        "husk_trousers": paint.grain("husk_trousers", "4a4038", 0.18, 2, 3),
        "bone": paint.grain("bone", "c6c6c0", 0.08, 2, 2),
        "skeleton_ribs": np.where(
            np.arange(16)[:, None, None] % 4 == 3, paint.fill("4c4c4a"), paint.grain("bone", "c6c6c0", 0.08, 2, 2)
        ),
        "bow": paint.grain("bow", "6e4a24", 0.1, 1, 3),
        "creeper_skin": paint.grain("creeper", "5aa84a", 0.28, 2, 2),
        "creeper_foot": np.where(
            np.arange(16)[:, None, None] > 11, paint.fill("2c3a28"), paint.grain("creeper", "5aa84a", 0.28, 2, 2)
        ),
        "enderman_skin": paint.grain("enderman", "161616", 0.25, 2, 2),
        "bat_fur": paint.grain("bat", "4c3e30", 0.2, 2, 2),
        "bat_wing": paint.grain("bat_wing", "2e2620", 0.15, 1, 4),
        "witch_skin": paint.grain("witch", "b08a74", 0.06, 2, 2),
        "witch_robe": paint.grain("witch_robe", "3c2450", 0.16, 2, 3),
        "witch_hat": paint.grain("witch_hat", "2a2030", 0.14, 2, 2),
        "wolf_fur": paint.grain("wolf", "cfcac4", 0.1, 1, 2),
        "wolf_mane": paint.grain("wolf_mane", "b4aca4", 0.14, 1, 2),
        "wolf_muzzle": paint.grain("wolf_muzzle", "d8cbb4", 0.06),
        "horse_hide": paint.grain("horse", "7a4a26", 0.08, 2, 2),
        "horse_mane": paint.grain("horse_mane", "2c1e14", 0.16, 1, 4),
        "horse_muzzle": paint.grain("horse_muzzle", "5a3620", 0.08),
        "horse_leg": np.where(
            np.arange(16)[:, None, None] > 12, paint.fill("2a2018"), paint.grain("horse", "7a4a26", 0.08, 2, 2)
        ),
        "donkey_hide": paint.grain("donkey", "7d6f62", 0.08, 2, 2),
        "donkey_mane": paint.grain("donkey_mane", "4a4038", 0.14, 1, 3),
        "donkey_muzzle": paint.grain("donkey_muzzle", "cfc6ba", 0.06),
        "donkey_leg": np.where(
            np.arange(16)[:, None, None] > 12, paint.fill("38302a"), paint.grain("donkey", "7d6f62", 0.08, 2, 2)
        ),
        "rabbit_fur": paint.grain("rabbit", "9a7650", 0.14, 2, 2),
        "rabbit_ear": paint.grain("rabbit_ear", "c89a88", 0.08),
        "rabbit_tail": paint.grain("rabbit_tail", "ece6dc", 0.06),
        "llama_wool": paint.grain("llama", "dccb9e", 0.12, 2, 3),
        "llama_muzzle": paint.grain("llama_muzzle", "efe2c4", 0.06),
        "llama_leg": paint.grain("llama_leg", "cbb888", 0.1, 2, 2),
        "spider": paint.grain("spider", "37302a", 0.22, 2, 2),
        "spider_back": paint.grain("spider_back", "302924", 0.3, 3, 2),
        "spider_leg": paint.grain("spider_leg", "2b241f", 0.25, 1, 2),
    }
    out["cow_face"] = _eight(
        ["bbwwwwbb", "bbwwwwbb", "bbbwwbbb", "ikbwwbki", "bbbbbbbb", "bggggggb", "bgkggkgb", "bggggggb"],
        {"b": brown, "w": white, "i": "ffffff", "k": "101010", "g": "b09c90"},
    )
    out["sheep_face"] = _eight(
        ["wwwwwwww", "wsssssww", "ssssssss", "ikssssik", "ssssssss", "sspsspss", "ssrrrrss", "ssssssss"],
        {"w": "efefef", "s": skin, "i": "ffffff", "k": "101010", "r": "c88f86", "p": "c8a898"},
    )
    out["pig_face"] = _eight(
        ["pppppppp", "pppppppp", "pppppppp", "kippppik", "pppppppp", "pppppppp", "pppppppp", "pppppppp"],
        {"p": rose, "i": "ffffff", "k": "101010"},
    )
    out["pig_snout"] = _eight(
        ["rrrrrrrr", "rrrrrrrr", "rkkrrkkr", "rkkrrkkr", "rkkrrkkr", "rrrrrrrr", "rrrrrrrr", "rrrrrrrr"],
        {"r": "e28c8a", "k": "8a4540"},
    )
    out["chicken_face"] = _eight(
        ["wwwwwwww", "wwwwwwww", "kkwwwwkk", "kkwwwwkk", "wwwwwwww", "wwwwwwww", "wwwwwwww", "wwwwwwww"],
        {"w": "f2f2f2", "k": "101010"},
    )
    out["zombie_face"] = _eight(
        ["dddddddd", "dggggggd", "gggggggg", "gggggggg", "gkkggkkg", "gggddggg", "ggddddgg", "gggggggg"],
        {"g": "527d3c", "d": "3f6330", "k": "0c0c0c"},
    )
    out["husk_face"] = _eight(
        ["dddddddd", "dssssssd", "ssssssss", "ssssssss", "skksskks", "sssddsss", "ssddddss", "ssssssss"],
        {"s": "86724a", "d": "6b5a38", "k": "120e08"},
    )
    out["skeleton_face"] = _eight(
        ["wwwwwwww", "wwwwwwww", "wwwwwwww", "wkkwwkkw", "wkkwwkkw", "wwwggwww", "wkwkkwkw", "wwwwwwww"],
        {"w": "c6c6c0", "g": "8a8a86", "k": "2a2a2a"},
    )
    out["creeper_face"] = _eight(
        ["gggggggg", "gggggggg", "gkkggkkg", "gkkggkkg", "gggkkggg", "ggkkkkgg", "ggkkkkgg", "ggkggkgg"],
        {"g": "5aa84a", "k": "0c120c"},
    )
    out["enderman_face"] = _eight(
        ["kkkkkkkk", "kkkkkkkk", "kkkkkkkk", "kkkkkkkk", "mpmkkmpm", "kkkkkkkk", "kkkkkkkk", "kkkkkkkk"],
        {"k": "161616", "m": "e080fa", "p": "cc00fa"},
    )
    out["bat_face"] = _eight(
        ["bbbbbbbb", "bbbbbbbb", "bkkbbkkb", "bkkbbkkb", "bbbppbbb", "bbbppbbb", "bbwbbwbb", "bbbbbbbb"],
        {"b": "4c3e30", "k": "080808", "p": "6e4a44", "w": "e8e0d8"},
    )
    out["witch_face"] = _eight(
        ["ssssssss", "ssssssss", "sbbssbbs", "swpsspws", "ssssssss", "ssssssss", "ssmmmmss", "ssssssss"],
        {"s": "b08a74", "b": "4a3024", "w": "ffffff", "p": "7a2a9a", "m": "6e4a3c"},
    )
    out["wolf_face"] = _eight(
        ["wwwwwwww", "wwwwwwww", "wggwwggw", "wikwwkiw", "wwwwwwww", "wwwwwwww", "wwwwwwww", "wwwwwwww"],
        {"w": "cfcac4", "g": "a8a098", "i": "ffffff", "k": "101010"},
    )
    out["wolf_nose"] = _eight(
        ["mkkkkkkm", "mkkkkkkm", "mkkkkkkm", "mmmkkmmm", "mmmkkmmm", "mkkkkkkm", "mmmmmmmm", "mmmmmmmm"],
        {"m": "d8cbb4", "k": "181414"},
    )
    for kind, coat, blaze in (("horse", "7a4a26", "f0e8e0"), ("donkey", "7d6f62", "7d6f62")):
        out[f"{kind}_face"] = _eight(
            ["hhhwwhhh", "hhhwwhhh", "khhwwhhk", "khhwwhhk", "hhhwwhhh", "hhhwwhhh", "hhhwwhhh", "hhhwwhhh"],
            {"h": coat, "w": blaze, "k": "101010"},
        )
    out["rabbit_face"] = _eight(
        ["ffffffff", "ffffffff", "ffffffff", "kffffffk", "kffffffk", "fffppfff", "ffwwwwff", "ffwwwwff"],
        {"f": "9a7650", "k": "140c08", "p": "d88a8a", "w": "d8c8b4"},
    )
    out["llama_face"] = _eight(
        ["wwwwwwww", "wwwwwwww", "wkkwwkkw", "wwwwwwww", "wwwwwwww", "wwwwwwww", "wwwwwwww", "wwwwwwww"],
        {"w": "dccb9e", "k": "181210"},
    )
    out["llama_nose"] = _eight(
        ["mmmmmmmm", "mmkkkkmm", "mmmkkmmm", "mmmkkmmm", "mmkmmkmm", "mmmmmmmm", "mmmmmmmm", "mmmmmmmm"],
        {"m": "efe2c4", "k": "4a3a30"},
    )
    out["spider_face"] = _eight(
        ["bbbbbbbb", "bbrbbrbb", "brbbbbrb", "bRRbbRRb", "bRRbbRRb", "bbbbbbbb", "bbfbbfbb", "bbfbbfbb"],
        {"b": "2a231e", "r": "8a1616", "R": "d01818", "f": "5a4a3e"},
    )
    return out
