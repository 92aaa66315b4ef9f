"""Frames of an episode for a critic with supports_vision: a few, spread over the episode, as PNG data URLs."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

COUNT = 8
"""Frames kept of an episode."""

LONGEST = 512
"""Pixels of a frame's longer side, at most."""


class Frames:
    """Keeps about evenly spread frames of the first episode it is shown; memory stays bounded.

    Every second frame is dropped, and the stride doubled, whenever twice as many as wanted are held.
    """

    def __init__(self, count: int = COUNT) -> None:
        self._count, self._stride, self._seen, self._episodes = count, 1, 0, 0
        self._kept: list[NDArray[np.uint8]] = []

    def add(self, frame: NDArray[np.uint8], action: str) -> None:
        """:param frame: uint8, (height, width, 3). :param action: the active one; ``start`` begins an episode."""
        self._episodes += action == "start"
        if self._episodes > 1:
            return
        if self._seen % self._stride == 0:
            self._kept.append(frame.copy())
        self._seen += 1
        if len(self._kept) >= 2 * self._count:
            self._kept = self._kept[::2]
            self._stride *= 2

    def urls(self) -> tuple[str, ...]:
        """At most ``count`` of them, the first and the last included, in order."""
        if not self._kept:
            return ()
        chosen = np.unique(np.linspace(0, len(self._kept) - 1, min(self._count, len(self._kept))).round().astype(int))
        return tuple(_url(self._kept[i]) for i in chosen)


def _url(frame: NDArray[np.uint8]) -> str:
    from PIL import Image

    picture = Image.fromarray(frame)
    picture.thumbnail((LONGEST, LONGEST))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def shots(judge: Callable[[Callable[[NDArray[np.uint8], str], None]], object]) -> tuple[tuple[str, ...], str]:
    """Frames of what ``judge`` plays.

    :param judge: plays one episode and hands each frame to the function it is given.
    :returns: the frames, and why there are none where nothing can be rendered here.
    """
    frames = Frames()
    try:
        judge(frames.add)
    except Exception as fault:  # rendering is a driver's affair and no reason to lose a run: tell why, and go on
        return (), f"the critic sees no frames: {type(fault).__name__}: {' '.join(str(fault).split())[:200]}"
    return frames.urls(), ""
