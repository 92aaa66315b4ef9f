"""What of the furniture's world is missing on this machine."""

from __future__ import annotations

from importlib import metadata

from rlgpt.plugin.base import Check
from rlgpt.plugin.offscreen import ADVICE, find_backend


def checks() -> list[Check]:
    """The simulator, and an OpenGL for frames."""
    backend = find_backend()
    try:
        version = metadata.version("mujoco")
    except metadata.PackageNotFoundError:
        version = ""
    return [
        Check("mujoco", bool(version), version or "not installed", "pip install 'mujoco>=3.10,<3.12'"),
        Check("offscreen OpenGL", bool(backend), backend or "none: no video and no cameras", ADVICE),
    ]
