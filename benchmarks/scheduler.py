"""Measures several cells of a benchmark at the same time, each in a separate process with one thread.

A benchmark that is started again measures only the cells without a result. If existing results were measured with other
settings, the benchmark stops at once.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from result_table import Cell, ResultTable, differences, settings_of

POLL_SECONDS = 0.2


def measure_cells(
    script: str,
    cells: Sequence[Cell],
    table: ResultTable,
    *,
    jobs: int,
    settings: Callable[[Cell], Mapping[str, Any]],
    needs: Mapping[Cell, Cell] | None = None,
) -> bool:
    """Measure every cell without a result, ``jobs`` at a time, in their order. A cell waits for the cell that it
    ``needs``.

    Each process is ``python SCRIPT --cell TASK ROW SEED --out=TABLE --NAME=VALUE ...`` with the cell's settings; it
    adds the result to the table. A cell that fails is reported and its log is kept; the remaining cells are still
    measured.

    :returns: whether every cell has a result now.
    :raises SystemExit: results in the table were measured with other settings. In this case, nothing is measured.
    """
    results = table.load()
    _refuse_other_settings(cells, table, results, settings)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    failed: list[Cell] = []
    started = time.monotonic()
    queue = [c for c in cells if c not in results]
    running: dict[subprocess.Popen[bytes], Cell] = {}
    while queue or running:
        unfinished = {*queue, *running.values()}
        ready = [c for c in queue if (needs or {}).get(c) not in unfinished]
        for cell in ready[: jobs - len(running)]:
            queue.remove(cell)
            log = table.log(cell)
            log.parent.mkdir(parents=True, exist_ok=True)
            options = [f"--out={table.path}", *(f"--{name}={value}" for name, value in settings(cell).items())]
            command = [sys.executable, script, "--cell", cell.task, cell.row, str(cell.seed), *options]
            with log.open("wb") as out:
                running[subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=environment)] = cell
        finished = next((p for p in running if p.poll() is not None), None)
        if finished is None:
            time.sleep(POLL_SECONDS)
            continue
        cell = running.pop(finished)
        if cell in table.load():
            table.log(cell).unlink(missing_ok=True)
        else:
            failed.append(cell)
        state = "done" if cell not in failed else f"FAILED, see {table.log(cell)}"
        minutes = (time.monotonic() - started) / 60
        print(f"[{minutes:6.1f} min] {cell.task} {cell.row} seed {cell.seed}: {state}", file=sys.stderr, flush=True)
    return not failed


def _refuse_other_settings(
    cells: Sequence[Cell],
    table: ResultTable,
    results: Mapping[Cell, Mapping[str, Any]],
    settings: Callable[[Cell], Mapping[str, Any]],
) -> None:
    """:raises SystemExit: results were measured with other settings than those wanted now."""
    measured = [c for c in cells if c in results]
    others = {c: other for c in measured if (other := differences(settings_of(results[c]), settings(c)))}
    if others:
        cell, other = next(iter(others.items()))
        raise SystemExit(
            f"{len(others)} of the {len(measured)} results in {table.path} were measured with other settings: "
            f"{cell.task} {cell.row} seed {cell.seed} with {other}. Use the settings they were measured with, name "
            "another --out, or delete their lines. (--report and --table print what is there.)"
        )
