"""Computes the view keys of a colour picture, which describe regions of one colour, the movement of the regions in the
last step, and a coarse map.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlgpt.domain import Plain
from rlgpt.plugin.pictures import MOST, connected
from rlgpt.plugin.types import Context

COLOURS = {
    "k": "black",
    "s": "grey",
    "w": "white",
    "r": "red",
    "n": "brown",
    "o": "orange",
    "y": "yellow",
    "g": "green",
    "c": "cyan",
    "b": "blue",
    "m": "magenta",
}
"""Letter of the map -> colour."""

COLUMNS = 16
"""Maximal number of columns of the map."""

_NAMES = tuple(COLOURS.values())
_LETTERS = np.array(list(COLOURS))
_HUES = ((15, "red"), (45, "orange"), (70, "yellow"), (165, "green"), (200, "cyan"), (260, "blue"), (340, "magenta"))
"""Hue in degrees -> colour of the hues below this limit. Hues above the last limit are red."""

_REACH = 12
"""A region is recognised again if it moved in one step by at most its own size plus this number of pixels."""

Region = tuple[int, int, int, int, str]
"""A region as ``(x, y, width, height, colour)``; ``x, y`` is its centre, in pixels from the top left corner."""


@lru_cache(maxsize=1)
def _table() -> NDArray[np.uint8]:
    """A table of shape ``[32768]`` with a colour for each 15-bit value, with 5 bits each for red, green and blue."""
    red, green, blue = np.meshgrid(*[np.arange(32) * 255 / 31] * 3, indexing="ij")
    value, chroma = np.maximum(np.maximum(red, green), blue), np.ptp(np.stack([red, green, blue]), axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        hue = np.where(
            value == red,
            (green - blue) / chroma % 6,
            np.where(value == green, (blue - red) / chroma + 2, (red - green) / chroma + 4),
        )
    degrees = np.nan_to_num(hue * 60)
    number = {name: i for i, name in enumerate(_NAMES)}
    below = [degrees < top for top, _ in _HUES]
    names = np.select(below, [number[name] for _, name in _HUES], number["red"])
    names = np.where((names == number["orange"]) & (value < 160), number["brown"], names)
    plain = np.select([value < 60, value < 200], [number["black"], number["grey"]], number["white"])
    names = np.where((chroma < 24) | (chroma < 0.2 * value) | (value < 40), plain, names)
    return names.reshape(-1).astype(np.uint8)


def named(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The colour of each pixel of a picture, ``[height, width]``, as an index of :data:`COLOURS`.

    :param picture: ``[height, width, 3]``.
    """
    high = picture.astype(np.uint16) >> 3
    indices: NDArray[np.uint8] = _table()[(high[..., 0] << 10) | (high[..., 1] << 5) | high[..., 2]]
    return indices


def regions(colours: NDArray[np.uint8]) -> list[Region]:
    """Connected regions of one colour in a picture, the largest region first. Regions of the most common colour (the
    background) are left out.

    Pixels are connected along rows and columns, as in :func:`rlgpt.plugin.pictures.shapes`.
    """
    background = int(np.bincount(colours.reshape(-1)).argmax())
    flat = np.pad(colours.astype(np.int16), ((0, 0), (0, 1)), constant_values=-1).reshape(-1)
    starts = np.flatnonzero(np.diff(flat, prepend=-2))
    kinds = flat[starts]
    stops = np.append(starts[1:], flat.size)
    kept = (kinds >= 0) & (kinds != background)
    width = colours.shape[1] + 1
    spans = list(
        zip(
            (starts[kept] // width).tolist(),
            (starts[kept] % width).tolist(),
            (stops[kept] - starts[kept] // width * width).tolist(),
            kinds[kept].tolist(),
            strict=True,
        )
    )
    boxes = [
        (
            sum(stop - start for _, start, stop, _ in region),
            min(start for _, start, _, _ in region),
            max(stop for _, _, stop, _ in region),
            region[0][0],
            region[-1][0] + 1,
            region[0][3],
        )
        for region in connected(spans)
    ]
    ordered = sorted(boxes, key=lambda b: -b[0])
    return [
        ((left + right - 1) // 2, (top + bottom - 1) // 2, right - left, bottom - top, _NAMES[kind])
        for _, left, right, top, bottom, kind in ordered
    ]


def parted(now: list[Region], before: list[Region] | None) -> tuple[list[list[Any]], list[list[Any]]]:
    """Two lists of a picture's regions: those that did not move, and those that moved. A region that moved also has
    ``dx, dy``, its movement in pixels since the previous step.

    A region is identified with the nearest region of the previous step that has the same colour and a similar size; a
    new region has the movement 0, 0. Each list has at most :data:`MOST` regions.

    :param before: the regions of the previous step; None if the previous regions are unknown. With None, no region has
        moved.
    """
    if before is None:
        return [list(region) for region in now[:MOST]], []
    places = {region[:2] + region[4:] for region in before}
    still = [list(region) for region in now if region[:2] + region[4:] in places]
    moved: list[list[Any]] = []
    for x, y, width, height, colour in now:
        if (x, y, colour) in places:
            continue
        reach = max(width, height) + _REACH
        near = [
            (abs(x - u) + abs(y - v), x - u, y - v)
            for u, v, w, h, c in before
            if c == colour and abs(x - u) <= reach and abs(y - v) <= reach and _alike(width, w) and _alike(height, h)
        ]
        _, dx, dy = min(near, default=(0, 0, 0))
        moved.append([x, y, width, height, colour, dx, dy])
        if len(moved) == MOST:
            break
    return still[:MOST], moved


def _alike(a: int, b: int) -> bool:
    return abs(a - b) <= 2 + min(a, b) // 2


def rows_of(height: int, width: int) -> tuple[int, int]:
    """The numbers of rows and columns of the coarse map, each at most :data:`COLUMNS`. Cells are about as high as
    wide.
    """
    cell = max(1, -(-max(height, width) // COLUMNS))
    return max(1, height // cell), max(1, width // cell)


def drawn(colours: NDArray[np.uint8]) -> list[str]:
    """A coarse map of a picture as one text for each row of cells, with one letter for the most common colour of each
    cell.
    """
    height, width = colours.shape
    rows, columns = rows_of(height, width)
    cell = np.add.outer(np.arange(height) * rows // height * columns, np.arange(width) * columns // width)
    counts = np.bincount((cell * len(_NAMES) + colours).reshape(-1), minlength=rows * columns * len(_NAMES))
    most = counts.reshape(rows, columns, -1).argmax(axis=-1)
    return ["".join(row) for row in _LETTERS[most]]


class ColourView:
    """The view keys of one colour picture. The regions of a step are computed once for all keys.

    :param newest: a function that returns the newest picture in an observation, ``[height, width, 3]``, uint8.
    :param second: a function that returns the second newest picture in an observation. If ``second`` is None, an
        observation contains only one picture, and the previous picture is taken from the observation of the previous
        step.
    """

    def __init__(
        self,
        name: str,
        newest: Callable[[Any], NDArray[np.uint8]],
        second: Callable[[Any], NDArray[np.uint8]] | None = None,
    ) -> None:
        self._cache, self._newest, self._second = f"_colours_{name}", newest, second

    def still(self, ctx: Context) -> Plain:
        return self._seen(ctx)[0]

    def moving(self, ctx: Context) -> Plain:
        return self._seen(ctx)[1]

    def map(self, ctx: Context) -> Plain:
        return self._seen(ctx)[2]

    def _seen(self, ctx: Context) -> Sequence[Plain]:
        kept: Any = ctx.memory.get(self._cache)
        if kept is None or kept[0] is not ctx.observation or kept[1] != ctx.step:
            colours = named(self._newest(ctx.observation))
            now = regions(colours)
            still, moving = parted(now, self._regions_before(ctx, kept))
            kept = ctx.memory[self._cache] = (ctx.observation, ctx.step, now, (still, moving, drawn(colours)))
        seen: Sequence[Plain] = kept[3]
        return seen

    def _regions_before(self, ctx: Context, kept: Any) -> list[Region] | None:
        if self._second is not None:
            return regions(named(self._second(ctx.observation)))
        if ctx.previous is None or ctx.previous is ctx.observation:  # Some environments reuse one array.
            return None
        if kept is not None and kept[0] is ctx.previous and kept[1] == ctx.step - 1:
            found: list[Region] = kept[2]
            return found
        return regions(named(self._newest(ctx.previous)))
