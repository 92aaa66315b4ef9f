"""Checks for ``rlgpt doctor``: whether the machine has the simulator and OpenGL, which a MuJoCo plugin needs."""

from __future__ import annotations

from importlib import metadata

from rlgpt.plugin.offscreen import ADVICE, find_backend
from rlgpt.plugin.types import Check


def checks(without: str) -> list[Check]:
    """Checks the simulator, and OpenGL for frames.

    :param without: text for messages about the missing function without OpenGL, for example ``"no video"``.
    """
    backend = find_backend()
    try:
        version = metadata.version("mujoco")
    except metadata.PackageNotFoundError:
        version = ""
    return [
        Check("mujoco", bool(version), version or "not installed", "pip install 'mujoco>=3.10,<3.12'"),
        Check("offscreen OpenGL", bool(backend), backend or f"none: {without}", ADVICE),
    ]
