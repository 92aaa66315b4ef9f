"""Measures several cells of a benchmark at the same time, each in a separate process with one thread.

A benchmark that is started again measures only the cells without a result. If existing results were measured with other
settings, the benchmark ends with an error before it measures a cell.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from result_table import Cell, ResultTable, differences, settings_of
from rlgpt.config.components import Component, make
from rlgpt.executors import Executor, Job
from rlgpt.plugin import PluginManager


@dataclass(frozen=True)
class CellJob(Job):
    """The measurement of one cell by a command, whose output goes to the file ``log``."""

    cell: Cell = field(kw_only=True)
    command: tuple[str, ...] = field(kw_only=True)
    log: Path = field(kw_only=True)


def run_cell(job: CellJob) -> int:
    """Run the command of ``job``, and return its exit status."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    job.log.parent.mkdir(parents=True, exist_ok=True)
    with job.log.open("wb") as out:
        return subprocess.run(
            job.command, stdout=out, stderr=subprocess.STDOUT, env=environment, check=False
        ).returncode


def measure_cells(
    script: str,
    cells: Sequence[Cell],
    table: ResultTable,
    *,
    jobs: int,
    settings: Callable[[Cell], Mapping[str, Any]],
    needs: Mapping[Cell, Cell] | None = None,
    ray: str | None = None,
) -> bool:
    """Measure every cell without a result, ``jobs`` at a time, in their order. A cell waits for the cell that the
    argument ``needs`` names.

    The process of each cell runs ``python SCRIPT --cell TASK ROW SEED --out=TABLE --NAME=VALUE ...`` with the cell's
    settings, and adds the result to the table. If a cell fails, the failure is reported and the log of the cell is
    kept; the remaining cells are still measured.

    :param ray: the address of a Ray cluster that measures the cells, see :class:`rlgpt.executors.ray.Ray`; with None,
        processes of this machine measure the cells. The machines of the Ray cluster share the folder of the table.
    :returns: whether every cell has a result now.
    :raises SystemExit: results in the table were measured with other settings (the function then measures no cell).
    """
    results = table.load()
    _refuse_other_settings(cells, table, results, settings)
    failed: list[Cell] = []
    started = time.monotonic()
    queue = [c for c in cells if c not in results]
    running: set[Cell] = set()
    chosen = {"name": "processes"} if ray is None else {"name": "ray", "address": ray}
    part = Component.model_validate({**chosen, "jobs": jobs})
    with make("executor", part, Executor, PluginManager(), run_cell) as executor:

        def start() -> None:
            ready = [c for c in queue if (needs or {}).get(c) not in {*queue, *running}]
            for cell in ready[: jobs - len(running)]:
                queue.remove(cell)
                running.add(cell)
                options = [f"--out={table.path}", *(f"--{name}={value}" for name, value in settings(cell).items())]
                command = (sys.executable, script, "--cell", cell.task, cell.row, str(cell.seed), *options)
                executor.submit(CellJob(cells.index(cell), "", cell=cell, command=command, log=table.log(cell)))

        start()
        for job, _ in executor.as_completed():
            cell = job.cell
            running.remove(cell)
            if cell in table.load():
                table.log(cell).unlink(missing_ok=True)
            else:
                failed.append(cell)
            state = "done" if cell not in failed else f"FAILED, see {table.log(cell)}"
            minutes = (time.monotonic() - started) / 60
            print(f"[{minutes:6.1f} min] {cell.task} {cell.row} seed {cell.seed}: {state}", file=sys.stderr, flush=True)
            start()
    return not failed


def _refuse_other_settings(
    cells: Sequence[Cell],
    table: ResultTable,
    results: Mapping[Cell, Mapping[str, Any]],
    settings: Callable[[Cell], Mapping[str, Any]],
) -> None:
    """:raises SystemExit: existing results were measured with settings other than the wanted settings."""
    measured = [c for c in cells if c in results]
    others = {c: other for c in measured if (other := differences(settings_of(results[c]), settings(c)))}
    if others:
        cell, other = next(iter(others.items()))
        raise SystemExit(
            f"{len(others)} of the {len(measured)} results in {table.path} were measured with other settings: "
            f"{cell.task} {cell.row} seed {cell.seed} with {other}. Use the settings they were measured with, name "
            "another --out, or delete their lines. (--report and --table print what is there.)"
        )
