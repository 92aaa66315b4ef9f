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
    out["spider_face"] = _eight(
        ["bbbbbbbb", "bbrbbrbb", "brbbbbrb", "bRRbbRRb", "bRRbbRRb", "bbbbbbbb", "bbfbbfbb", "bbfbbfbb"],
        {"b": "2a231e", "r": "8a1616", "R": "d01818", "f": "5a4a3e"},
    )
    return out
