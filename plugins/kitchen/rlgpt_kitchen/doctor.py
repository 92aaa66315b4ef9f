"""What of the kitchen's world is missing on this machine."""

from __future__ import annotations

from importlib import metadata

from rlgpt.plugin.offscreen import ADVICE, find_backend
from rlgpt.plugin.types import Check

TRIED = {"mujoco": ((3, 10), (3, 12)), "gymnasium-robotics": ((1, 4, 2), (1, 5)), "numpy": ((1, 26), (2, 4))}
"""Version ranges this plugin is tried with: [low, high)."""


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:3] if part.isdigit())


def _package(name: str, low: tuple[int, ...], high: tuple[int, ...]) -> Check:
    wanted = f">={'.'.join(map(str, low))},<{'.'.join(map(str, high))}"
    try:
        found = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Check(name, False, "not installed", f"pip install '{name}{wanted}'")
    return Check(name, low <= _version(found) < high, found, f"pip install '{name}{wanted}'")


def checks() -> list[Check]:
    """Packages in the ranges that were tried, and an OpenGL for frames."""
    backend = find_backend()
    return [
        *(_package(name, low, high) for name, (low, high) in TRIED.items()),
        Check("offscreen OpenGL", bool(backend), backend or "none: no video", ADVICE),
    ]
