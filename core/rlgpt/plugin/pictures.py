"""Describes a picture for code by its shapes, which are the regions that differ from the background."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

CONTRAST = 16
"""A pixel belongs to a shape if its grey level (0 to 255) differs from that of the background by more than this number.
"""

MOST = 24
"""Maximal number of shapes of one picture."""

SMALL = 512
"""Maximal number of elements of a bytes array that counts as data, for example as the cells of a grid. A larger array
counts as a picture.
"""

CHANNELS = 16
"""Maximal number of channels of a picture whose numbers are not bytes."""

SIDE = 16
"""Minimal side length, in pixels, of a picture whose numbers are not bytes."""

Shape = list[int]
"""A shape: ``[x, y, width, height, brightness]``. The centre ``(x, y)`` is measured from the top left corner of the
picture. Positions and sizes are in pixels; the brightness is 0 to 255.
"""

Span = tuple[int, int, int, int]
"""A span: successive pixels of one kind in a row, as ``(row, first column, last column + 1, kind)``."""


def is_image(space: spaces.Space[Any]) -> bool:
    """Whether ``space`` is an image for a convolutional encoder, which is uint8, height x width x channels or channels
    x height x width.
    """
    return isinstance(space, spaces.Box) and len(space.shape) == 3 and space.dtype == np.uint8


def is_picture(space: spaces.Space[Any]) -> bool:
    """Whether ``space`` is a picture. A picture has more than :data:`SMALL` elements, and consists either of bytes or
    of other numbers. A picture of bytes has two or three axes, or four axes if it is a stack of frames, ``[n, height,
    width, 1 or 3]``. A picture of other numbers has three axes, and all its numbers have the same finite bounds. Its
    first or last axis has at most :data:`CHANNELS` channels, and each other axis has at least :data:`SIDE` pixels.
    """
    if not isinstance(space, spaces.Box) or int(np.prod(space.shape)) <= SMALL:
        return False
    if space.dtype == np.uint8:
        return len(space.shape) in (2, 3) or _is_colours(space.shape)
    if len(space.shape) != 3 or min(_ends(space.shape)) > CHANNELS or sorted(space.shape)[1] < SIDE:
        return False
    low, high = space.low.min(), space.high.max()
    return bool(-np.inf < low == space.low.max() < high == space.high.min() < np.inf)


def is_stack(space: spaces.Space[Any]) -> bool:
    """Whether the channels of a picture are several frames in order of time (the newest frame last) and not colours."""
    if not is_picture(space) or not space.shape:
        return False
    return _is_colours(space.shape) or (len(space.shape) == 3 and min(_ends(space.shape)) not in (1, 3))


def is_colour(space: spaces.Space[Any]) -> bool:
    """Whether ``space`` is a picture with red, green and blue channels, or a stack of such pictures."""
    if not is_picture(space) or not space.shape:
        return False
    return 3 in _ends(space.shape) if len(space.shape) == 3 else len(space.shape) == 4 and space.shape[-1] == 3


def as_bytes(space: spaces.Space[Any]) -> Callable[[Any], NDArray[np.uint8]]:
    """A function that converts a picture of the space ``space`` to bytes. In the converted picture, the bounds of
    ``space`` become 0 and 255.
    """
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
    """The space of images (:func:`is_image`) for pictures of ``space``, and a function that converts a picture to such
    an image.

    A picture without channels gets a channel axis. In a stack of frames, the channels of all frames become one axis.
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


def rgb(image: NDArray[np.uint8], back: int = 0) -> NDArray[np.uint8]:
    """One frame of the image ``image`` in colour, ``[height, width, 3]``.

    :param back: for a stack of frames, the age of the returned frame; 0 is the newest frame.
    """
    pixels = image[-1 - back] if image.ndim == 4 else image
    return np.moveaxis(pixels, 0, -1) if pixels.shape[-1] != 3 else pixels


def frame(image: NDArray[Any], back: int = 0) -> NDArray[np.int64]:
    """One frame of the image ``image`` in grey levels, ``[height, width]``.

    :param back: for a stack of frames, the age of the returned frame; 0 is the newest frame.
    """
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
    """The connected regions of a picture that differ from the most common grey level by more than :data:`CONTRAST`. The
    largest region is first.

    Pixels of a region are connected along rows and columns.
    """
    background = int(np.bincount(grey.reshape(-1), minlength=256).argmax())
    standing = np.abs(grey - background) > CONTRAST
    edges = np.diff(np.pad(standing, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    rows, starts = np.nonzero(edges == 1)
    stops = np.nonzero(edges == -1)[1]
    spans = list(zip(rows.tolist(), starts.tolist(), stops.tolist(), [0] * len(rows), strict=True))
    measured = [_measured(grey, region) for region in connected(spans)]
    return [shape for _, shape in sorted(measured, key=lambda t: (-t[0], t[1]))[:MOST]]


def connected(spans: Sequence[Span]) -> list[list[Span]]:
    """The spans (runs of pixels in a row) of each region, in the order of the regions' first spans.

    Each span is joined with the touching spans of the same kind in the row above (Rosenfeld and Pfaltz 1966, with
    union-find).

    :param spans: the spans (runs of pixels in a row) of a picture, in the order of their rows and first columns.
    """
    parents = list(range(len(spans)))

    def root(run: int) -> int:
        while parents[run] != run:
            parents[run] = parents[parents[run]]
            run = parents[run]
        return run

    above: list[int] = []
    current: list[int] = []
    at = 0
    row_of_current = -2
    for run, (row, start, stop, kind) in enumerate(spans):
        if row != row_of_current:
            above, current, row_of_current, at = current if row == row_of_current + 1 else [], [], row, 0
        current.append(run)
        while at < len(above) and spans[above[at]][2] <= start:
            at += 1
        for other in above[at:]:
            if spans[other][1] >= stop:
                break
            if spans[other][3] == kind:
                parents[root(run)] = root(other)
    found: dict[int, list[Span]] = {}
    for run, span in enumerate(spans):
        found.setdefault(root(run), []).append(span)
    return list(found.values())


def _measured(grey: NDArray[np.int64], spans: Sequence[Span]) -> tuple[int, Shape]:
    """The number of pixels of a region, and a description of its shape."""
    left, right = min(s[1] for s in spans), max(s[2] for s in spans)
    top, bottom = min(s[0] for s in spans), max(s[0] for s in spans) + 1
    area = sum(stop - start for _, start, stop, _ in spans)
    light = sum(int(grey[row, start:stop].sum()) for row, start, stop, _ in spans)
    return area, [(left + right - 1) // 2, (top + bottom - 1) // 2, right - left, bottom - top, light // area]
