"""Frames of an episode for a critic whose model supports vision: a few, evenly spread, as PNG data URLs."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Frame = NDArray[np.uint8]
"""An RGB image, ``[height, width, 3]``."""

COUNT = 8
"""Frames kept of an episode."""

MAX_FRAME_SIDE_PX = 512
"""Length of a frame's longer side, at most."""


class Frames:
    """Keeps frames of the first episode, evenly spread, in bounded memory.

    Whenever twice as many frames as wanted are stored, every second one is dropped and the stride is doubled.
    """

    def __init__(self, count: int = COUNT) -> None:
        self._count, self._stride, self._received, self._episodes = count, 1, 0, 0
        self._kept: list[Frame] = []

    def add(self, frame: Frame, action: str) -> None:
        """Receive the next frame.

        :param frame: ``[height, width, 3]``, uint8.
        :param action: the active action; ``start`` begins an episode. Only the first episode is kept.
        """
        self._episodes += action == "start"
        if self._episodes > 1:
            return
        if self._received % self._stride == 0:
            self._kept.append(frame.copy())
        self._received += 1
        if len(self._kept) >= 2 * self._count:
            self._kept = self._kept[::2]
            self._stride *= 2

    def urls(self) -> tuple[str, ...]:
        """At most ``count`` frames as PNG data URLs, in order of time, with the first and the last one kept."""
        if not self._kept:
            return ()
        chosen = np.unique(np.linspace(0, len(self._kept) - 1, min(self._count, len(self._kept))).round().astype(int))
        return tuple(_url(self._kept[i]) for i in chosen)


def film(play: Callable[[Callable[[Frame, str], None]], object]) -> tuple[tuple[str, ...], str]:
    """Frames of the episode that ``play`` plays.

    :param play: plays one episode and calls the given function with each frame and the active action.
    :returns: the frames as PNG data URLs, and why there are none, or "".
    """
    frames = Frames()
    try:
        play(frames.add)
    except Exception as fault:  # a missing renderer must not end the run
        return (), f"the critic sees no frames: {type(fault).__name__}: {' '.join(str(fault).split())[:200]}"
    return frames.urls(), ""


def _url(frame: Frame) -> str:
    from PIL import Image

    picture = Image.fromarray(frame)
    picture.thumbnail((MAX_FRAME_SIDE_PX, MAX_FRAME_SIDE_PX))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
