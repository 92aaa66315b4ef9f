"""What code sees of a picture: the shapes that stand out from its background."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

CONTRAST = 16
"""Grey levels (of 255) by which a pixel differs from the background to belong to a shape."""

MOST = 24
"""Maximal number of shapes of one picture."""

SMALL = 512
"""An array of bytes with at most this many numbers is data (the cells of a grid, say), not a picture."""

CHANNELS = 16
"""Channels. An array with more channels is not a picture, unless its numbers are bytes."""

SIDE = 16
"""Pixels of a side. A smaller array is not a picture, unless its numbers are bytes."""

Shape = list[int]
"""``[x, y, width, height, brightness]``: the centre from the top left corner, sizes in pixels, brightness 0 to 255."""


def is_image(space: spaces.Space[Any]) -> bool:
    """uint8, height x width x channels or channels x height x width: what a convolutional encoder takes."""
    return isinstance(space, spaces.Box) and len(space.shape) == 3 and space.dtype == np.uint8


def is_picture(space: spaces.Space[Any]) -> bool:
    """Whether ``space`` is a picture. It is too large for code to see every number, and it is one of two kinds. The
    first are bytes with two or three axes, or with four: frames of colours, ``[n, height, width, 1 or 3]``. The second
    are other numbers with three axes and the same finite bounds for all: the first or last axis has at most
    :data:`CHANNELS` channels, the others at least :data:`SIDE` pixels."""
    if not isinstance(space, spaces.Box) or int(np.prod(space.shape)) <= SMALL:
        return False
    if space.dtype == np.uint8:
        return len(space.shape) in (2, 3) or _is_colours(space.shape)
    if len(space.shape) != 3 or min(_ends(space.shape)) > CHANNELS or sorted(space.shape)[1] < SIDE:
        return False
    low, high = space.low.min(), space.high.max()
    return bool(-np.inf < low == space.low.max() < high == space.high.min() < np.inf)


def is_stack(space: spaces.Space[Any]) -> bool:
    """A picture of several frames, the newest last, instead of one of colours."""
    if not is_picture(space) or not space.shape:
        return False
    return _is_colours(space.shape) or (len(space.shape) == 3 and min(_ends(space.shape)) not in (1, 3))


def as_bytes(space: spaces.Space[Any]) -> Callable[[Any], NDArray[np.uint8]]:
    """A function that converts a picture of ``space`` to bytes: its bounds become 0 and 255."""
    assert isinstance(space, spaces.Box)
    if space.dtype == np.uint8:
        return np.asarray
    low, span = float(space.low.min()), float(space.high.max()) - float(space.low.min())

    def turn(picture: Any) -> NDArray[np.uint8]:
        share = np.clip((np.asarray(picture, np.float64) - low) / span, 0, 1)
        bytes_: NDArray[np.uint8] = np.rint(255 * np.nan_to_num(share)).astype(np.uint8)
        return bytes_

    return turn


def as_image(space: spaces.Space[Any]) -> tuple[spaces.Box, Callable[[Any], NDArray[np.uint8]]]:
    """The space of a picture as an encoder takes it (:func:`is_image`), and how to turn a picture into a member of it.

    A picture without channels gets an axis for them; frames of colours are stacked as further channels.
    """
    if is_image(space):
        assert isinstance(space, spaces.Box)
        return space, np.asarray
    turn = as_bytes(space)

    def arrange(picture: Any) -> NDArray[np.uint8]:
        pixels = turn(picture)
        if pixels.ndim == 2:
            return pixels[..., None]
        return np.concatenate(list(pixels), axis=-1) if pixels.ndim == 4 else pixels

    shape = arrange(np.zeros(space.shape or (), np.uint8)).shape
    return spaces.Box(0, 255, shape, np.uint8), arrange


def _is_colours(shape: tuple[int, ...]) -> bool:
    return len(shape) == 4 and shape[-1] in (1, 3)


def _ends(shape: tuple[int, ...]) -> tuple[int, int]:
    return shape[0], shape[-1]


def frame(image: NDArray[Any], back: int = 0) -> NDArray[np.int64]:
    """One frame in grey, ``[height, width]``. From a stack: the newest, or the one ``back`` frames before it."""
    pixels = np.asarray(image, np.int64)
    if pixels.ndim == 4:
        return frame(pixels[-1 - back])
    if pixels.ndim == 2:
        return pixels
    if pixels.shape[-1] > pixels.shape[0]:
        pixels = np.moveaxis(pixels, 0, -1)
    colours = pixels.shape[-1] in (1, 3)
    grey: NDArray[np.int64] = pixels.mean(axis=-1).astype(np.int64) if colours else pixels[..., -1 - back]
    return grey


def shapes(grey: NDArray[np.int64]) -> list[Shape]:
    """Connected regions that differ from the most common grey level by more than :data:`CONTRAST`, largest first.

    Pixels are connected along rows and columns. Found from runs: a run of a row joins those it touches in the row above
    (Rosenfeld and Pfaltz 1966, with union-find).
    """
    background = int(np.bincount(grey.reshape(-1), minlength=256).argmax())
    standing = np.abs(grey - background) > CONTRAST
    edges = np.diff(np.pad(standing, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    rows, starts = np.nonzero(edges == 1)
    stops = np.nonzero(edges == -1)[1]
    parents = list(range(len(rows)))

    def root(run: int) -> int:
        while parents[run] != run:
            parents[run] = parents[parents[run]]
            run = parents[run]
        return run

    above: list[int] = []
    current: list[int] = []
    row_of_current = -2
    spans = list(zip(rows.tolist(), starts.tolist(), stops.tolist(), strict=True))
    for run, (row, start, stop) in enumerate(spans):
        if row != row_of_current:
            above, current, row_of_current = current if row == row_of_current + 1 else [], [], row
        current.append(run)
        for other in above:
            if spans[other][1] < stop and start < spans[other][2]:
                parents[root(run)] = root(other)
    found: dict[int, list[int]] = {}
    for run in range(len(spans)):
        found.setdefault(root(run), []).append(run)
    told = [_told(grey, [spans[run] for run in runs]) for runs in found.values()]
    return [shape for _, shape in sorted(told, key=lambda t: (-t[0], t[1]))[:MOST]]


def _told(grey: NDArray[np.int64], spans: list[tuple[int, int, int]]) -> tuple[int, Shape]:
    """The number of pixels of a region, and its shape."""
    left, right = min(s[1] for s in spans), max(s[2] for s in spans)
    top, bottom = min(s[0] for s in spans), max(s[0] for s in spans) + 1
    area = sum(stop - start for _, start, stop in spans)
    light = sum(int(grey[row, start:stop].sum()) for row, start, stop in spans)
    return area, [(left + right - 1) // 2, (top + bottom - 1) // 2, right - left, bottom - top, light // area]
