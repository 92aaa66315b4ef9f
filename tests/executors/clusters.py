"""Helpers for all tests that use a cluster of Ray."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MODULES = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "loop")]
"""Folders of the modules with jobs, and of the story that runs play."""


@contextmanager
def ray_environment() -> Iterator[pytest.MonkeyPatch]:
    """The environment of the processes of a cluster: they ask for a token, and they find the modules with jobs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", "0123456789abcdef" * 4)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("PYTHONPATH", os.pathsep.join([*MODULES, os.environ.get("PYTHONPATH", "")]))
        yield patch
