"""Recipes for the test environments, and functions that find running processes and open file descriptors."""

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
    """A function that makes recipes, for example ``recipe("trouble", how="die")``. The dict ``of`` has the fields of
    the recipe itself.
    """

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
    """Return whether the process has ended. A zombie process has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def handles() -> set[str]:
    """Return the open file descriptors of this process."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            found.add(f"{name} {os.readlink(f'/proc/self/fd/{name}')}")
        except FileNotFoundError:
            continue
    return found
