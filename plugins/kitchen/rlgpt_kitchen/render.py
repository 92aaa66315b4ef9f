"""Frames without a window. The only module that makes an OpenGL context."""

from __future__ import annotations

import atexit
import importlib
import os
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rlgpt.errors import ConfigError

from rlgpt_kitchen.gl import ADVICE, find_backend

WIDTH, HEIGHT = 480, 480
LOOK_AT, DISTANCE, AZIMUTH, ELEVATION = (-0.4, 0.4, 2.1), 2.0, 60.0, -22.0
"""The counter, the knobs and the cabinets; the arm comes in from the right."""
SLOW_FLAGS = ("mjRND_SHADOW", "mjRND_REFLECTION", "mjRND_HAZE", "mjRND_SKYBOX")
"""What makes rendering slow in software: off."""


class Camera:
    """Renders one model from one place. Made late: it holds an OpenGL context.

    It makes that context itself, from EGL or OSMesa: ``mujoco.Renderer`` takes what ``MUJOCO_GL`` said when mujoco was
    imported, which is a window system where it was unset.

    :raises ConfigError: no offscreen OpenGL library works here.
    """

    def __init__(self, model: Any, width: int = WIDTH, height: int = HEIGHT) -> None:
        backend = find_backend()
        if not backend:
            raise ConfigError(f"no frames: neither libEGL nor libOSMesa can be loaded. {ADVICE}")
        os.environ["MUJOCO_GL"] = backend
        import mujoco

        self._mujoco, self._model = mujoco, model
        self._size = (height, width)
        model.vis.quality.offsamples = 0
        model.vis.global_.offwidth, model.vis.global_.offheight = width, height
        try:
            self._gl: Any = importlib.import_module(f"mujoco.{backend}").GLContext(width, height)
            self._gl.make_current()
            self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_150.value)
        except Exception as error:
            # What a driver raises is its own affair: ImportError, RuntimeError, GLError, FatalError were all seen.
            raise ConfigError(f"no frames: {backend} gives no OpenGL context ({error}). {ADVICE}") from error
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._context)
        self._scene = mujoco.MjvScene(model, maxgeom=2000)
        for flag in SLOW_FLAGS:
            self._scene.flags[getattr(mujoco.mjtRndFlag, flag)] = 0
        self._options = mujoco.MjvOption()
        self._view = mujoco.MjvCamera()
        self._view.distance, self._view.azimuth, self._view.elevation = DISTANCE, AZIMUTH, ELEVATION
        self._view.lookat[:] = LOOK_AT
        # mujoco ends the EGL display at exit: a context that is freed after that fails.
        atexit.register(_close, weakref.ref(self))

    def frame(self, data: Any) -> NDArray[np.uint8]:
        """The scene now, (height, width, 3)."""
        mj, (height, width) = self._mujoco, self._size
        mj.mjv_updateScene(
            self._model, data, self._options, None, self._view, mj.mjtCatBit.mjCAT_ALL.value, self._scene
        )
        self._gl.make_current()
        area = mj.MjrRect(0, 0, width, height)
        picture = np.empty((height, width, 3), np.uint8)
        mj.mjr_render(area, self._scene, self._context)
        mj.mjr_readPixels(picture, None, area, self._context)
        return np.ascontiguousarray(picture[::-1])

    def close(self) -> None:
        """Free the context. Closing twice is fine."""
        if self._gl is not None:
            self._gl.make_current()
            self._context.free()
            self._gl.free()
            self._gl = None


def _close(camera: weakref.ref[Camera]) -> None:
    alive = camera()
    if alive is not None:
        alive.close()
