"""Helpers for all tests that use a cluster of Ray."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

MODULES = [str(Path(__file__).parents[1] / folder) for folder in ("executors", "loop", "rl")]
"""Folders of the modules with jobs, of the story that runs play, and of the environments that trainings use."""


@contextmanager
def ray_environment() -> Iterator[pytest.MonkeyPatch]:
    """The environment of the processes of a cluster: they ask for a token, and they find the modules with jobs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", "0123456789abcdef" * 4)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("PYTHONPATH", os.pathsep.join([*MODULES, os.environ.get("PYTHONPATH", "")]))
        yield patch


def pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


def lose(cluster: Any, node: Any) -> None:
    """Remove ``node`` without notice, and wait until its processes have ended."""
    workers = psutil.Process(node.all_processes["raylet"][0].process.pid).children(recursive=True)
    cluster.remove_node(node, allow_graceful=False)
    psutil.wait_procs(workers)
