"""Checks for ``rlgpt doctor`` whether this machine can run the kitchen. The kitchen needs packages in certain versions,
and OpenGL for frames.
"""

from __future__ import annotations

from importlib import metadata

from rlgpt.plugin.offscreen import ADVICE, find_backend
from rlgpt.plugin.types import Check

TESTED_VERSIONS = {"mujoco": ((3, 10), (3, 12)), "gymnasium-robotics": ((1, 4, 2), (1, 5)), "numpy": ((1, 26), (2, 4))}
"""Package -> range of versions with which this plugin is tested, [low, high)."""


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:3] if part.isdigit())


def _package(name: str, low: tuple[int, ...], high: tuple[int, ...]) -> Check:
    advice = f"pip install '{name}>={'.'.join(map(str, low))},<{'.'.join(map(str, high))}'"
    try:
        installed = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Check(name, False, "not installed", advice)
    return Check(name, low <= _version(installed) < high, installed, advice)


def checks() -> list[Check]:
    """Check that packages are within the tested version ranges, and that an OpenGL library can render frames."""
    backend = find_backend()
    return [
        *(_package(name, low, high) for name, (low, high) in TESTED_VERSIONS.items()),
        Check("offscreen OpenGL", bool(backend), backend or "none: no video", ADVICE),
    ]
