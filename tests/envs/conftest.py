"""Recipes for the environments beside the tests, and what is left of processes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rlgpt.envs import Recipe, WorkerTimeouts

HERE = Path(__file__).parent
Recipes = Callable[..., Recipe]


@pytest.fixture
def recipe() -> Recipes:
    """``recipe("trouble", how="die")``; what belongs to the recipe itself is given as ``of={...}``."""

    def made(name: str, *, file: str = "worlds.py", of: dict[str, Any] | None = None, **arguments: Any) -> Recipe:
        return Recipe(
            **{
                "factory": f"{HERE / file}:{name}",
                "arguments": arguments,
                "timeouts": WorkerTimeouts(close=5.0),
                **(of or {}),
            }
        )

    return made


def gone(pid: int) -> bool:
    """Whether that process is no more (or only waits to be reaped)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def handles() -> set[str]:
    """What this process holds open."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            found.add(f"{name} {os.readlink(f'/proc/self/fd/{name}')}")
        except FileNotFoundError:
            continue
    return found
