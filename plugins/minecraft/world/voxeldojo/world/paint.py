"""Draws the textures, 16 x 16 pixels each, by rules. No picture of the game is copied.

A tile is an array float64 ``(16, 16, 4)`` with red, green, blue and opacity, each 0 to 255. Row 0 is the upper edge.
The name of a tile is the seed of its random numbers, so a texture is the same on every machine.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Tile = NDArray[np.float64]
Colour = tuple[float, float, float]
SIDE = 16


def chance(name: str) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(name.encode()))


def rgb(text: str) -> Colour:
    """Convert a hexadecimal colour to numbers, for example ``"8f563b"`` to (143, 86, 59)."""
    return int(text[:2], 16), int(text[2:4], 16), int(text[4:6], 16)


def fill(colour: str, cover: float = 255.0) -> Tile:
    tile = np.empty((SIDE, SIDE, 4))
    tile[..., :3], tile[..., 3] = rgb(colour), cover
    return tile


def clear() -> Tile:
    return np.zeros((SIDE, SIDE, 4))


def field(name: str, wide: int = 1, high: int = 1) -> NDArray[np.float64]:
    """Return a field ``(16, 16)`` of random values, uniform in [0, 1), in patches of about ``wide`` by ``high`` pixels.
    The field of random values continues without a seam at opposite edges.
    """
    noise = chance(name).random((SIDE, SIDE))
    smooth = sum(np.roll(noise, (i, j), (0, 1)) for i in range(high) for j in range(wide))
    ranks = np.empty(SIDE * SIDE)
    ranks[np.argsort(np.asarray(smooth), axis=None, kind="stable")] = np.arange(SIDE * SIDE)
    return ranks.reshape(SIDE, SIDE) / (SIDE * SIDE)


def grain(
    name: str, colour: str, contrast: float = 0.12, wide: int = 1, high: int = 1, shades: int = 5, cover: float = 255.0
) -> Tile:
    """Return a tile of one colour in a few shades. Extreme shades are rarer."""
    steps = np.floor(field(name, wide, high) * shades) / (shades - 1) * 2.0 - 1.0
    tile = fill(colour, cover)
    tile[..., :3] *= 1.0 + contrast * steps[..., None] * (0.55 + 0.45 * np.abs(steps[..., None]))
    return np.clip(tile, 0, 255)


def shade(tile: Tile, factor: float | NDArray[np.float64]) -> Tile:
    """Return a tile that is darker or lighter by ``factor``, as a whole or for each pixel."""
    out = tile.copy()
    out[..., :3] *= np.asarray(factor)[..., None] if np.ndim(factor) else factor
    return np.clip(out, 0, 255)


def tint(tile: Tile, colour: Sequence[float] | NDArray[np.float64]) -> Tile:
    """Multiply a tile by a colour, as the game tints grass and wool."""
    out = tile.copy()
    out[..., :3] *= np.asarray(colour) / 255.0
    return out


def over(under: Tile, upper: Tile) -> Tile:
    """Draw the opaque pixels of one tile over another tile."""
    cover = upper[..., 3:] / 255.0
    out = under * (1.0 - cover) + upper * cover
    out[..., 3] = np.maximum(under[..., 3], upper[..., 3])
    return out


def stencil(rows: Sequence[str], colours: dict[str, str]) -> Tile:
    """Draw a centred picture, which is given by rows of letters. Each letter of the picture stands for a colour; a
    letter without a colour is transparent.
    """
    tile = clear()
    top, left = (SIDE - len(rows)) // 2, (SIDE - max(len(row) for row in rows)) // 2
    for i, row in enumerate(rows):
        for j, letter in enumerate(row):
            if letter in colours:
                tile[top + i, left + j] = (*rgb(colours[letter]), 255.0)
    return tile


def frame(tile: Tile, factor: float, width: int = 1) -> Tile:
    """Add a darker or lighter rim to a tile."""
    out = shade(tile, factor)
    out[width:-width, width:-width] = tile[width:-width, width:-width]
    return out


LUMP = ((0, 0, 1.25), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 0.8), (0, 2, 0.75), (2, 1, 0.7), (1, 2, 0.85))


def specks(name: str, under: Tile, colour: str, places: Sequence[tuple[int, int]]) -> Tile:
    """Add lumps of another mineral to a tile at ``places`` (row, column). Each lump of mineral has a bright corner, a
    body and a shadow.
    """
    out, draw, base = under.copy(), chance(name), np.array(rgb(colour))
    for row, column in places:
        for i, j, factor in LUMP:
            if i + j < 2 or draw.random() < 0.55:
                out[(row + i) % SIDE, (column + j) % SIDE, :3] = np.clip(base * factor, 0, 255)
    return out


def bricks(name: str, colour: str, mortar: str, high: int = 4, wide: int = 8) -> Tile:
    """Paint rows of bricks; each row is shifted by half a brick."""
    out = grain(name, colour, 0.1)
    rows, columns = np.indices((SIDE, SIDE))
    moved = (columns + (rows // high % 2) * (wide // 2)) % wide
    out[(rows % high == high - 1) | (moved == wide - 1), :3] = rgb(mortar)
    lit = (rows % high == 0) & (moved < wide - 1)
    return np.clip(np.where(lit[..., None], out * [1.08, 1.08, 1.08, 1], out), 0, 255)


def cobbles(name: str, colour: str, gaps: float = 0.55) -> Tile:
    """Paint rounded stones, which are the Voronoi cells of a few points and dark at their borders."""
    draw = chance(name)
    points = (np.indices((4, 4)).reshape(2, -1).T * 4 + draw.uniform(0, 3.4, (16, 2)))[:15]
    there = np.indices((SIDE, SIDE)).transpose(1, 2, 0)[:, :, None] + 0.5
    apart = np.abs(there - points)
    near = np.sort(np.hypot(*np.minimum(apart, SIDE - apart).transpose(3, 0, 1, 2)), axis=-1)
    edge = near[..., 1] - near[..., 0]
    lightness = np.where(edge < 0.8, gaps, np.where(edge < 1.7, 0.9, 1.08))
    return shade(grain(name, colour, 0.08), lightness)


def boards(name: str, colour: str) -> Tile:
    """Paint four boards with grain along them; each board has a seam below it and a joint."""
    out = grain(name, colour, 0.1, wide=5)
    out[3::4] = shade(out, 0.7)[3::4]
    out[0::4] = shade(out, 1.06)[0::4]
    for board, joint in enumerate((7, 15, 3, 11)):
        out[4 * board : 4 * board + 3, joint] = shade(out, 0.75)[4 * board : 4 * board + 3, joint]
    return out


def rings(name: str, wood: str, bark: str) -> Tile:
    """Paint the cut end of a log."""
    rows, columns = np.indices((SIDE, SIDE)) - 7.5
    around = np.maximum(np.abs(rows), np.abs(columns))
    out = shade(grain(name, wood, 0.06), np.where(np.floor(around) % 2 == 1, 0.84, 1.0))
    rim = grain(name + "bark", bark, 0.15)
    return np.where((around > 6.6)[..., None], rim, out)


def streaks(name: str, colour: str, contrast: float = 0.25) -> Tile:
    """Paint bark, whose dark furrows and light ridges run from top to bottom."""
    return grain(name, colour, contrast, high=5)


def foliage(name: str, colour: str, holes: float) -> Tile:
    """Paint clumps of leaves with transparent holes."""
    out = grain(name, colour, 0.34, wide=2, high=2)
    gone = field(name + "holes", 2, 2) < holes
    out[..., 3] = np.where(gone, 0.0, 255.0)
    return np.where(np.roll(gone, 1, 0)[..., None], out * [0.7, 0.7, 0.7, 1.0], out)
