"""The folder of a design: begun, or gone on with where it is of the same environment and goal."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rlgpt.domain import Task
from rlgpt.errors import RunError
from rlgpt.runs import Run

KEPT = ("task", "seed", "docs", "labels", "observations", "primitives", "idle", "agents")
"""Of a design's configuration what its folder keeps for its whole life; the rest (budgets, say) may change."""


def new_folder(task: Task, *, root: Path = Path("runs")) -> Path:
    """``runs/DAY/TIME-ENVIRONMENT``, as ``rlgpt train`` names its folders."""
    now = datetime.datetime.now()
    return root / f"{now:%Y-%m-%d}" / f"{now:%H-%M-%S-%f}-{task.id.partition('/')[2]}"


def run_in(folder: Path, task: Task, seed: int, config: Mapping[str, Any]) -> Run:
    """The run in ``folder``, new or gone on with.

    :param config: plain values; what the run was told, for its record.
    :raises RunError: a run of something else lives there.
    """
    if not (folder / "run.json").exists():
        return Run.create(folder, task=task.id, seed=seed, config={"design": config})
    run = Run.open(folder)
    before = run.record.config.get("design")
    if before is None:
        raise RunError(f"{folder} holds a run that was not started by design(); choose another folder.")
    now = json.loads(json.dumps(config))
    changed = [key for key in KEPT if before.get(key) != now.get(key)]
    if changed:
        told = "; ".join(f"{key} was {_short(before.get(key))} and is now {_short(now.get(key))}" for key in changed)
        raise RunError(f"{folder} holds another design: {told}. Give what it began with, or choose another folder.")
    with run.lock():
        run.update(config={"design": now})
    return run


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
