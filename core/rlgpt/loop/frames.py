"""A few evenly spaced frames of an episode as PNG data URLs, for a critic whose model accepts images."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from rlgpt.agents.base import Shot
from rlgpt.domain import Trace
from rlgpt.options import OnStep

Frame = NDArray[np.uint8]
"""An RGB image, ``[height, width, 3]``."""

COUNT = 8
"""Number of frames kept of an episode."""

MAX_FRAME_SIDE_PX = 512
"""Maximal length of a frame's longer side, in pixels."""


class Frames:
    """Keeps evenly spaced frames of the first episode in bounded memory.

    Whenever twice as many frames as wanted are stored, every second one is dropped and the stride is doubled.
    """

    def __init__(self, count: int = COUNT) -> None:
        self._count, self._stride, self._received, self._episodes = count, 1, 0, 0
        self._kept: list[Frame] = []

    def add(self, frame: Frame, action: str) -> None:
        """Store the next frame, unless the stride omits it.

        :param frame: ``[height, width, 3]``, uint8.
        :param action: name of the active action; ``start`` means that an episode begins. Only the first episode is
            kept.
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
    :returns: the frames as PNG data URLs, and the reason if there are none, else "".
    """
    frames = Frames()
    try:
        play(frames.add)
    except Exception as fault:  # A renderer that fails must not end the run.
        return (), f"the critic sees no frames: {type(fault).__name__}: {' '.join(str(fault).split())[:200]}"
    return frames.urls(), ""


def moments(trace: Trace, count: int = COUNT) -> dict[int, str]:
    """Primitive step -> description in words, for each frame to take in the trace's last call. The frames are evenly
    spaced.

    The candidates are the moment before the call and the moments after each of its primitives. The first and the last
    moment are always included.
    """
    at = sum(d.duration for d in trace.decisions[:-1])
    found = {at: "before the call"}
    for number, call in enumerate(trace.decisions[-1].calls, 1):
        at += call.steps
        if call.steps:
            found[at] = f"after {call.name} (primitive {number})"
    found.setdefault(trace.primitive_steps, "at its end")
    steps = sorted(found)
    chosen = np.unique(np.linspace(0, len(steps) - 1, min(count, len(steps))).round().astype(int))
    return {steps[i]: found[steps[i]] for i in chosen}


def shots(play: Callable[[OnStep], None], trace: Trace) -> tuple[tuple[Shot, ...], str]:
    """Frames of a rehearsed call.

    :param play: plays the rehearsal of ``trace`` again, in an environment that renders.
    :returns: the frames, and the reason if there are none, else "".
    """
    wanted = moments(trace)
    taken: dict[int, Frame] = {}

    def on_step(env: gymnasium.Env[Any, Any], step: int) -> None:
        if step == 0:
            taken.clear()
        if step in wanted:
            taken[step] = np.array(env.render(), np.uint8)

    try:
        play(on_step)
        return tuple(Shot(wanted[step], _url(frame)) for step, frame in sorted(taken.items())), ""
    except Exception as fault:  # a missing renderer must not end the run
        return (), f"the critic sees no frames: {type(fault).__name__}: {' '.join(str(fault).split())[:200]}"


def _url(frame: Frame) -> str:
    from PIL import Image

    picture = Image.fromarray(frame)
    picture.thumbnail((MAX_FRAME_SIDE_PX, MAX_FRAME_SIDE_PX))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
