"""Finds an offscreen OpenGL library.

This module imports no simulator, because it must run before mujoco is imported. The statement ``import mujoco`` reads
the environment variable ``MUJOCO_GL``, and fails if the variable names a missing library or has an unknown value.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys

LIBRARIES = {"egl": "EGL", "osmesa": "OSMesa"}
HARMLESS = ("", "off", "0", "false", "disable", "disabled")
ADVICE = (
    "Install a software OpenGL (Debian: apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri); "
    "everything but video works without."
)


def loads(backend: str) -> bool:
    """Whether the OpenGL library for "egl" or "osmesa" can be loaded."""
    path = ctypes.util.find_library(LIBRARIES[backend])
    if path is None:
        return False
    try:
        ctypes.CDLL(path)
    except OSError:
        return False
    return True


def find_backend() -> str:
    """The name of an offscreen OpenGL library that can be loaded, which is "egl", "osmesa", or "" without such a
    library.

    If the variable ``MUJOCO_GL`` names one of the two libraries, this library is tried first.
    """
    asked = os.environ.get("MUJOCO_GL", "").lower()
    return next((name for name in sorted(LIBRARIES, key=lambda name: name != asked) if loads(name)), "")


def make_mujoco_importable() -> None:
    """Correct the variable ``MUJOCO_GL`` if ``import mujoco`` would fail with its value. Call
    ``make_mujoco_importable`` before the first import of mujoco.
    """
    asked = os.environ.get("MUJOCO_GL", "").lower()
    if "mujoco" in sys.modules or asked in HARMLESS:
        return
    if asked not in LIBRARIES or not loads(asked):
        os.environ["MUJOCO_GL"] = find_backend() or "disable"
