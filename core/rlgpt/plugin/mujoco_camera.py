"""Renders frames of MuJoCo without a window, for plugins that use MuJoCo. A camera imports mujoco."""

from __future__ import annotations

import atexit
import functools
import importlib
import os
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlgpt.errors import ConfigError
from rlgpt.plugin.offscreen import ADVICE, find_backend

SLOW_FLAGS = ("mjRND_SHADOW", "mjRND_REFLECTION", "mjRND_HAZE", "mjRND_SKYBOX")
"""Rendering effects that a camera switches off, because they are slow without a GPU."""


@dataclass(frozen=True)
class Viewpoint:
    """The position of a free camera, given by the distance ``distance`` (m) from the point ``look_at`` (m), and by
    azimuth and elevation in degrees. Azimuth and elevation have the directions of the fields of the same names in
    ``mujoco.MjvCamera``.
    """

    look_at: tuple[float, float, float]
    distance: float
    azimuth: float
    elevation: float


class Camera:
    """Renders one model at a time. Make a camera only when frames are needed, because the camera holds an OpenGL
    context.

    :param place: a free viewpoint, or the name of one of the MuJoCo model's own cameras.

    The camera makes its OpenGL context from EGL or OSMesa. The camera does not use ``mujoco.Renderer``, because this
    class needs a window system if the variable ``MUJOCO_GL`` was unset when mujoco was imported.
    :raises ConfigError: no offscreen OpenGL library works on this machine.
    """

    def __init__(self, model: Any, place: Viewpoint | str, width: int = 480, height: int = 480) -> None:
        backend = find_backend()
        if not backend:
            raise ConfigError(f"no frames: neither libEGL nor libOSMesa can be loaded. {ADVICE}")
        os.environ["MUJOCO_GL"] = backend
        import mujoco

        self._mujoco, self._place, self._size = mujoco, place, (height, width)
        self._gl: Any = None
        self._context: Any = None
        try:
            self._gl = importlib.import_module(f"mujoco.{backend}").GLContext(width, height)
            self._load(model)
        except Exception as error:
            # Drivers raise many types: ImportError, RuntimeError, GLError and FatalError all occurred.
            if self._gl is not None:
                self._gl.free()
            raise ConfigError(f"no frames: {backend} gives no OpenGL context ({error}). {ADVICE}") from error
        self._aim()
        # mujoco ends the EGL display when Python exits. After that, freeing a context would fail.
        self._at_exit = functools.partial(_close, weakref.ref(self))
        atexit.register(self._at_exit)

    def show(self, model: Any) -> None:
        """Render another model from now on. A change of the model is faster than a new camera, because the OpenGL
        context is reused."""
        self._load(model)
        self._aim()

    def _load(self, model: Any) -> None:
        mj, (height, width) = self._mujoco, self._size
        model.vis.quality.offsamples = 0
        # Shadows are off, because making their buffers takes most of the time of making a context.
        model.vis.quality.shadowsize = 0
        model.vis.global_.offwidth, model.vis.global_.offheight = width, height
        self._gl.make_current()
        if self._context is not None:
            self._context.free()
        self._context = mj.MjrContext(model, mj.mjtFontScale.mjFONTSCALE_150.value)
        mj.mjr_setBuffer(mj.mjtFramebuffer.mjFB_OFFSCREEN.value, self._context)
        self._model, self._scene = model, mj.MjvScene(model, maxgeom=2000)
        for flag in SLOW_FLAGS:
            self._scene.flags[getattr(mj.mjtRndFlag, flag)] = 0

    def _aim(self) -> None:
        mj, place = self._mujoco, self._place
        self._options, self._view = mj.MjvOption(), mj.MjvCamera()
        if isinstance(place, Viewpoint):
            self._view.distance, self._view.azimuth, self._view.elevation = (
                place.distance,
                place.azimuth,
                place.elevation,
            )
            self._view.lookat[:] = place.look_at
        else:
            self._view.type = mj.mjtCamera.mjCAMERA_FIXED
            self._view.fixedcamid = self._model.camera(place).id

    def frame(self, data: Any) -> NDArray[np.uint8]:
        """An image of the current scene of the simulator, uint8, (height, width, 3)."""
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
        """Free the context. A second call has no effect."""
        if self._gl is not None:
            self._gl.make_current()
            self._context.free()
            self._gl.free()
            self._gl = None
            atexit.unregister(self._at_exit)


def _close(camera: weakref.ref[Camera]) -> None:
    alive = camera()
    if alive is not None:
        alive.close()
