"""Frames without a window. The only module that needs an OpenGL library."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rlgpt.errors import ConfigError

WIDTH, HEIGHT = 480, 480
LOOK_AT, DISTANCE, AZIMUTH, ELEVATION = (-0.35, 0.4, 2.15), 1.9, 60.0, -20.0
"""A view of the counter, the knobs and the cabinets, the arm coming in from the right."""
SLOW_FLAGS = ("mjRND_SHADOW", "mjRND_REFLECTION", "mjRND_HAZE", "mjRND_SKYBOX")
"""What makes rendering slow in software: off."""
LIBRARIES = {"egl": "EGL", "osmesa": "OSMesa"}
ADVICE = (
    "Install a software OpenGL (Debian: apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri); "
    "everything but video works without."
)


def find_backend() -> str:
    """The offscreen OpenGL that loads here: "egl", "osmesa", or "" where there is none.

    A ``MUJOCO_GL`` that names one of the two is tried first; another value (or a broken library) is passed over.
    """
    asked = os.environ.get("MUJOCO_GL", "").lower()
    for name in sorted(LIBRARIES, key=lambda name: name != asked):
        path = ctypes.util.find_library(LIBRARIES[name])
        if path is None:
            continue
        try:
            ctypes.CDLL(path)
        except OSError:
            continue
        return name
    return ""


class Camera:
    """Renders one model from one place. Made late: it holds an OpenGL context.

    :raises ConfigError: no offscreen OpenGL library works here.
    """

    def __init__(self, model: Any, width: int = WIDTH, height: int = HEIGHT) -> None:
        backend = find_backend()
        if not backend:
            raise ConfigError(f"no frames: neither libEGL nor libOSMesa can be loaded. {ADVICE}")
        os.environ["MUJOCO_GL"] = backend
        import mujoco

        model.vis.quality.offsamples = 0
        model.vis.global_.offwidth = max(int(model.vis.global_.offwidth), width)
        model.vis.global_.offheight = max(int(model.vis.global_.offheight), height)
        try:
            self._renderer = mujoco.Renderer(model, height, width)
        except Exception as error:
            # mujoco's backends raise what their platform gives them: RuntimeError, AttributeError, EGLError.
            raise ConfigError(f"no frames: {backend} gives no OpenGL context ({error}). {ADVICE}") from error
        self._view = mujoco.MjvCamera()
        self._view.distance, self._view.azimuth, self._view.elevation = DISTANCE, AZIMUTH, ELEVATION
        self._view.lookat[:] = LOOK_AT
        for flag in SLOW_FLAGS:
            self._renderer.scene.flags[getattr(mujoco.mjtRndFlag, flag)] = 0

    def frame(self, data: Any) -> NDArray[np.uint8]:
        """The scene now, (height, width, 3)."""
        self._renderer.update_scene(data, self._view)
        picture: NDArray[np.uint8] = self._renderer.render()
        return picture

    def close(self) -> None:
        self._renderer.close()
