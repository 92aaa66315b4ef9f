"""Stores the settings of a benchmark's run in its folder, so that an interrupted run resumes only with
the same settings.
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
    them.
    """
    path = run / FILE
    return dict(json.loads(path.read_text())) if path.exists() else {}


def start_or_resume(run: Path, settings: Mapping[str, Any]) -> None:
    """Record the settings of a new run, or check those of an existing run.

    :raises SystemExit: the run was started with other settings.
    """
    if not run.exists() or not any(p for p in run.iterdir() if not p.name.startswith(".")):
        write_atomic(run / FILE, json.dumps(settings, indent=1) + "\n")
    require_settings(run, settings)


def require_settings(run: Path, settings: Mapping[str, Any]) -> None:
    """Check that a run has these settings. A setting that is not recorded is not compared.

    :raises SystemExit: the run was started with other settings.
    """
    if other := differences(read_settings(run), settings):
        raise SystemExit(f"the run in {run} was started with {other}. Name another --out, or delete that folder.")
