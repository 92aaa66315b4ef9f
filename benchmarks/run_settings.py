"""Stores the settings of a benchmark's run in the run folder, so that an interrupted run resumes only with the same
settings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from result_table import differences
from rlgpt.files import write_atomic

FILE = "begun.json"


def read_settings(run: Path) -> dict[str, Any]:
    """Return the settings and the commit with which a run was started. The result is empty if the run did not record
    its settings.
    """
    path = run / FILE
    return dict(json.loads(path.read_text())) if path.exists() else {}


def start_or_resume(run: Path, settings: Mapping[str, Any]) -> None:
    """Record the settings of a new benchmark run, or check that an existing run has these settings.

    :raises SystemExit: the run was started with other settings.
    """
    if not run.exists() or not any(p for p in run.iterdir() if not p.name.startswith(".")):
        write_atomic(run / FILE, json.dumps(settings, indent=1) + "\n")
    require_settings(run, settings)


def require_settings(run: Path, settings: Mapping[str, Any]) -> None:
    """Check that a benchmark run has the given settings. A setting that the run did not record is not compared.

    :raises SystemExit: the run was started with other settings.
    """
    if other := differences(read_settings(run), settings):
        raise SystemExit(f"the run in {run} was started with {other}. Name another --out, or delete that folder.")
