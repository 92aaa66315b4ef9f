"""Benchmarks that are many independent cells: done side by side, each once, resumed where they stopped.

A cell is a small value that names itself; its result is a JSON file. A benchmark that is started again does only the
cells that have no result yet, and refuses to go on where those that are there were measured with other settings. Each
cell runs in a process of its own with one thread.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rlgpt.files import write_atomic

BEGUN = "begun.json"


@dataclass(frozen=True)
class Cell:
    """One row of one task with one seed."""

    task: str
    row: str
    seed: int

    def path(self, folder: Path) -> Path:
        return folder / self.task.replace("/", "__") / self.row / f"{self.seed}.json"


def commit() -> str:
    """The commit the working tree stands on, with ``+`` where it has changes."""
    git = ["git", "-C", str(Path(__file__).parent)]
    head = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False)
    dirty = subprocess.run([*git, "status", "--porcelain", "-uno"], capture_output=True, text=True, check=False)
    return head.stdout.strip() + ("+" if dirty.stdout.strip() else "")


def save(cell: Cell, folder: Path, result: Mapping[str, Any], *, commit: str) -> None:
    """Write a cell's result, whole, with the cell beside it and the commit its measuring began at."""
    write_atomic(cell.path(folder), json.dumps({**asdict(cell), "commit": commit, **result}, indent=1) + "\n")


def settings(result: Mapping[str, Any]) -> dict[str, Any]:
    """What a cell was asked for: ``asked``; of older cells, which lack it, what they tell of it."""
    return {**{k: result[k] for k in ("trainer", "episodes") if result.get(k)}, **result.get("asked", {})}


def begun(run: Path) -> dict[str, Any]:
    """What the run in this folder was begun with; empty where it does not say, as older ones do not."""
    path = run / BEGUN
    return dict(json.loads(path.read_text())) if path.exists() else {}


def begin(run: Path, asked: Mapping[str, Any]) -> None:
    """Write down what a run is begun with, before anything else is in its folder. One that is there goes on.

    :raises SystemExit: it was begun with something else.
    """
    if not run.exists() or not any(p for p in run.iterdir() if not p.name.startswith(".")):
        write_atomic(run / BEGUN, json.dumps(asked, indent=1) + "\n")
    same(run, asked)


def same(run: Path, asked: Mapping[str, Any]) -> None:
    """That a run is of the settings ``asked``. What either side does not tell is not compared.

    :raises SystemExit: it was begun with others.
    """
    if other := _otherwise(begun(run), asked):
        raise SystemExit(f"the run in {run} was begun with {other}. Name another --out, or delete that folder.")


def _otherwise(told: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
    """Where the two differ, in words; empty where they agree."""
    return ", ".join(f"{k}={told[k]} (now {v})" for k, v in asked.items() if k in told and told[k] != v)


def load(cells: Iterable[Cell], folder: Path) -> list[dict[str, Any]]:
    """The results that are there."""
    return [json.loads(c.path(folder).read_text()) for c in cells if c.path(folder).exists()]


def run(
    script: str,
    cells: Sequence[Cell],
    folder: Path,
    *,
    jobs: int,
    needs: Mapping[Cell, Cell] | None = None,
    asked: Mapping[str, Any] | None = None,
) -> bool:
    """Do every cell that has no result, ``jobs`` at a time, in their order, but none before the cell it ``needs``.

    Each is ``python SCRIPT --cell TASK ROW SEED --out=FOLDER --NAME=VALUE ...`` with the settings ``asked``, which is
    to :func:`save` it. A cell that fails is named, its log is kept beside where its result would be, and the others
    go on.

    :returns: whether every cell has a result now.
    :raises SystemExit: some have a result that was measured with other settings; nothing is measured then.
    """
    asked, needs = asked or {}, needs or {}
    _refuse_others(cells, folder, asked)
    extra = [f"--out={folder}", *(f"--{name}={value}" for name, value in asked.items())]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    failed: list[Cell] = []
    started = time.monotonic()
    queue = [c for c in cells if not c.path(folder).exists()]
    running: dict[subprocess.Popen[bytes], Cell] = {}
    while queue or running:
        ahead = {*queue, *running.values()}
        ready = [c for c in queue if needs.get(c) not in ahead]
        for cell in ready[: jobs - len(running)]:
            queue.remove(cell)
            log = cell.path(folder).with_suffix(".log")
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("wb") as out:
                command = [sys.executable, script, "--cell", cell.task, cell.row, str(cell.seed), *extra]
                running[subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=environment)] = cell
        done = next((p for p in running if p.poll() is not None), None)
        if done is None:
            time.sleep(0.2)
            continue
        cell = running.pop(done)
        if cell.path(folder).exists():
            cell.path(folder).with_suffix(".log").unlink(missing_ok=True)
        else:
            failed.append(cell)
        state = "done" if cell not in failed else f"FAILED, see {cell.path(folder).with_suffix('.log')}"
        minutes = (time.monotonic() - started) / 60
        print(f"[{minutes:6.1f} min] {cell.task} {cell.row} seed {cell.seed}: {state}", file=sys.stderr, flush=True)
    return not failed


def _refuse_others(cells: Sequence[Cell], folder: Path, asked: Mapping[str, Any]) -> None:
    """:raises SystemExit: results are there that were measured with other settings than ``asked``."""
    found = [(c, _otherwise(settings(r), asked)) for c in cells for r in load([c], folder)]
    others = [(c, other) for c, other in found if other]
    if others:
        cell, other = others[0]
        raise SystemExit(
            f"{len(others)} of the {len(found)} results in {folder} were measured with other settings: "
            f"{cell.path(folder)} with {other}. Ask for what they were measured with, name another --out, or delete "
            "them. (--report and --table tell what is there.)"
        )


def emit(name: str, value: float | None, unit: str, **more: Any) -> None:
    """One line of JSON: what was measured."""
    print(json.dumps({"name": name, "value": value, "unit": unit, **more}), flush=True)
