"""The checks of ``rlgpt doctor`` for a MuJoCo plugin, which show whether this machine has the simulator and OpenGL."""

from __future__ import annotations

from importlib import metadata

from rlgpt.plugin.offscreen import ADVICE, find_backend
from rlgpt.plugin.types import Check


def checks(without: str) -> list[Check]:
    """Check whether MuJoCo is installed, and whether OpenGL can render frames.

    :param without: words for the message that say what does not work without OpenGL, for example ``"no video"``.
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
