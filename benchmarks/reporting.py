"""Prints the figures of a benchmark as lines of JSON. Each printed line has one figure and the commit at which the
figure was measured.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any


def commit() -> str:
    """Return the 12-digit hash of the working tree's commit, followed by ``+`` if tracked files have changes. The files
    of the folder ``benchmarks/results`` do not count, because a benchmark appends its results there.
    """
    git = ["git", "-C", str(Path(__file__).parents[1])]
    head = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False)
    status = [*git, "status", "--porcelain", "-uno", "--", ".", ":!benchmarks/results"]
    dirty = subprocess.run(status, capture_output=True, text=True, check=False)
    return head.stdout.strip() + ("+" if dirty.stdout.strip() else "")


def emit(name: str, value: float | None, unit: str, **more: Any) -> None:
    """Print one figure as a line of JSON."""
    print(line(name, value, unit, **more), flush=True)


def line(name: str, value: float | None, unit: str, **more: Any) -> str:
    """Format one figure as a line of JSON."""
    return json.dumps({"name": name, "value": value, "unit": unit, **more})
