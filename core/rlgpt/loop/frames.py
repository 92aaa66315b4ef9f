"""Renders a few evenly spaced frames of an episode as PNG data URLs, for a critic whose model accepts images."""

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
"""An RGB image, a uint8 array of shape ``[height, width, 3]``."""

COUNT = 8
"""Maximal number of frames of an episode that the critic gets."""

MAX_FRAME_SIDE_PX = 512
"""Maximal length of a frame's longer side, in pixels."""


class Frames:
    """Stores evenly spaced frames of the first episode in bounded memory.

    When twice as many frames as needed are stored, every second stored frame is removed, and from then on half as many
    frames are added.
    """

    def __init__(self, count: int = COUNT) -> None:
        self._count, self._stride, self._received, self._episodes = count, 1, 0, 0
        self._kept: list[Frame] = []

    def add(self, frame: Frame, action: str) -> None:
        """Receive the next frame of the episode. Only every n-th frame is stored.

        :param frame: the frame, a uint8 array of shape ``[height, width, 3]``.
        :param action: name of the action in progress; ``start`` means that an episode begins. Frames of later episodes
            are not stored.
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
        """At most ``count`` of the stored frames as PNG data URLs, in order of time. The first and the last stored
        frame are always among the returned frames.
        """
        if not self._kept:
            return ()
        chosen = np.unique(np.linspace(0, len(self._kept) - 1, min(self._count, len(self._kept))).round().astype(int))
        return tuple(_url(self._kept[i]) for i in chosen)


def film(play: Callable[[Callable[[Frame, str], None]], object]) -> tuple[tuple[str, ...], str]:
    """Collect frames of the episode that ``play`` plays.

    :param play: a function that plays one episode, and calls its argument with each frame and the name of the action in
        progress.
    :returns: the frames as PNG data URLs, and a message for the user. The message to the user says why there are no
        frames; it is empty if there are frames.
    """
    frames = Frames()
    try:
        play(frames.add)
    except Exception as fault:  # A renderer that fails must not end the run.
        return (), f"the critic sees no frames: {type(fault).__name__}: {' '.join(str(fault).split())[:200]}"
    return frames.urls(), ""


def moments(trace: Trace, count: int = COUNT) -> dict[int, str]:
    """Choose the moments of the trace's last call at which a frame is rendered. Return a dict from the primitive step
    of each chosen moment to a description of the moment in words.

    The moments to choose from are the moment before the call and the moment after each primitive of the call. The first
    and the last of these moments are always chosen, and the other chosen moments are evenly spaced.
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
    """Render frames of a rehearsed call of a coded action.

    :param play: a function that plays the rehearsal of ``trace`` again, in an environment that renders frames.
    :returns: the frames, and a message for the user. The message to the user says why there are no frames; it is empty
        if there are frames.
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
    except Exception as fault:  # A renderer that fails must not end the run.
        return (), f"the critic sees no frames: {type(fault).__name__}: {' '.join(str(fault).split())[:200]}"


def _url(frame: Frame) -> str:
    from PIL import Image

    picture = Image.fromarray(frame)
    picture.thumbnail((MAX_FRAME_SIDE_PX, MAX_FRAME_SIDE_PX))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
