"""Compares RL-GPT with its baselines on a plugin's tasks. Every method has the same budget of primitive steps.

A comparison measures the following methods for each task and seed. In code and files, a compared method is called a
*row*.

==================  =================================================================================================
``rlgpt``           the whole method; steps of rehearsals, evaluations of code, training and selection all count
``rl``              PPO on base actions, the plugin's default setup
``rl_setup``        PPO on base actions, with the reward, observation and horizon of RL-GPT's final RLSetup
``code``            the coded actions of RL-GPT's best iteration, repeated in the plan's order
``untrained``       the policy of RL-GPT's best iteration before training (a fresh network)
``primitives``      PPO over the plugin's primitives as parameterised actions, without a language model
==================  =================================================================================================

By default the outer loop has one iteration (``--iterations``), so that the training gets all steps of the budget that
rehearsals, evaluations of code alone and selection do not use. The replies of the language model come from the plugin's
recordings; seed s replays recording s modulo the number of recordings. The final evaluation of a cell uses seeds that
no selection used. RL-GPT plays the code or the policy that its selection kept. The policies of the other methods have
no selection, so they play twice, with sampled and with greedy actions. A comparison prints its results as lines of JSON
at the end. An interrupted comparison resumes only with unchanged settings and at the same commit. All methods learn
with the trainer of the benchmark, which is the built-in PPO unless the benchmark or ``--trainer`` names another one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import summary
from reporting import commit
from result_table import Cell, ResultTable
from rlgpt.files import write_atomic
from rows import DERIVED, TRAINERS, RowRunner
from scheduler import measure_cells

RESULTS = Path(__file__).parent / "results"
BASELINES = ("rl", "primitives")


@dataclass(frozen=True)
class Comparison:
    """A benchmark that compares methods (*rows*) on some tasks.

    :ivar name: the name of the plugin and of the file of results.
    :ivar budget: the number of primitive steps of each cell; a mapping gives each task its own number.
    :ivar rows: the compared methods that are measured on every task.
    :ivar variants: for each method that is measured only on some tasks, the names of these tasks.
    :ivar runner: the class that measures a cell (a task, a method and a seed).
    :ivar first_seed: the first seed of the comparison; the other seeds are the next integers. A mapping gives each task
        its own first seed.
    :ivar iterations: the number of iterations of the outer loop, unless ``--iterations`` says otherwise.
    :ivar lines: a file that stores the printed results; with None, the results are only printed.
    """

    name: str
    tasks: tuple[str, ...]
    budget: int | Mapping[str, int]
    seeds: int = 5
    variants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rows: tuple[str, ...] = ("rlgpt", *BASELINES, *DERIVED)
    episodes: int = 50
    trainer: str = "ppo"
    runner: type[RowRunner] = RowRunner
    first_seed: int | Mapping[str, int] = 0
    lines: Path | None = None
    iterations: int = 1

    def main(self, script: str) -> int:
        """Run the command line of ``script``.

        :returns: the exit status of the script, which is 1 if a cell failed.
        """
        arguments = self._arguments()
        table = ResultTable(arguments.out)
        if arguments.cell:
            task, row, seed = arguments.cell
            self._measure(Cell(task, row, int(seed)), table, arguments)
            return 0
        cells = self.cells(arguments.tasks, arguments.rows, arguments.seeds)
        if arguments.table:
            self.print_table(table.load(), cells)
            return 0
        complete = True
        if not arguments.report:
            needs = {c: Cell(c.task, "rlgpt", c.seed) for c in cells if c.row in DERIVED}
            complete = measure_cells(
                script,
                cells,
                table,
                jobs=arguments.jobs,
                ray=arguments.ray,
                needs=needs,
                settings=lambda cell: self._settings(cell, arguments),
            )
        results = table.load()
        lines = list(self.report_lines(results, cells)) if results else []
        for line in lines:
            print(line, flush=True)
        if lines and self.lines is not None and arguments.out == self._table:
            write_atomic(self.lines, "".join(f"{line}\n" for line in lines))
        return 0 if complete else 1

    def report_lines(self, results: Mapping[Cell, dict[str, Any]], cells: Sequence[Cell]) -> Iterator[str]:
        """The figures as lines of JSON."""
        return summary.lines(self.name, results, cells)

    def print_table(self, results: Mapping[Cell, dict[str, Any]], cells: Sequence[Cell]) -> None:
        """Print the results of the cells as a table in Markdown."""
        summary.print_table(results, cells)

    def cells(self, tasks: Sequence[str], rows: Sequence[str], seeds: int) -> list[Cell]:
        """Return all cells. The cells of RL-GPT come before all other cells, because other methods are derived from
        RL-GPT's runs.
        """

        def first(task: str) -> int:
            return self.first_seed if isinstance(self.first_seed, int) else self.first_seed[task]

        def product(names: Sequence[str], among: Sequence[str]) -> list[Cell]:
            return [Cell(t, r, first(t) + s) for s in range(seeds) for t in among for r in names if r in rows]

        variants = [c for row, on in self.variants.items() for c in product((row,), [t for t in tasks if t in on])]
        return [*product(("rlgpt",), tasks), *product((*BASELINES, *DERIVED), tasks), *variants]

    @property
    def _table(self) -> Path:
        return RESULTS / f"{self.name}{'' if self.lines is None else '_cells'}.jsonl"

    def _arguments(self) -> argparse.Namespace:
        parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
        every = (*self.rows, *self.variants)
        parser.add_argument("--tasks", nargs="+", default=self.tasks)
        parser.add_argument("--rows", nargs="+", default=every, choices=every)
        parser.add_argument("--seeds", type=int, default=self.seeds, help="number of seeds of each task")
        parser.add_argument("--budget", type=int, help=f"primitive steps of each cell; default: {self.budget}")
        parser.add_argument(
            "--iterations", type=int, default=self.iterations, help="of the outer loop, which share the budget"
        )
        parser.add_argument("--episodes", type=int, default=self.episodes, help="of the final evaluation")
        parser.add_argument("--trainer", default=self.trainer, choices=TRAINERS)
        parser.add_argument("--jobs", type=int, default=2)
        parser.add_argument("--ray", metavar="ADDRESS", help="measure on the cluster of Ray at this address")
        parser.add_argument("--out", type=Path, default=self._table, help="the table of results")
        parser.add_argument("--report", action="store_true", help="measure nothing, print the figures of the table")
        parser.add_argument("--table", action="store_true", help="measure nothing, print the table in Markdown")
        parser.add_argument("--cell", nargs=3, metavar=("TASK", "ROW", "SEED"), help=argparse.SUPPRESS)
        arguments = parser.parse_args()
        if arguments.out.suffix != ".jsonl":
            parser.error(f"--out: {arguments.out} does not end in .jsonl; results are lines of JSON in one file")
        return arguments

    def _settings(self, cell: Cell, arguments: argparse.Namespace) -> dict[str, Any]:
        budget = self.budget if isinstance(self.budget, int) else self.budget[cell.task]
        return {
            "budget": budget if arguments.budget is None else arguments.budget,
            "iterations": arguments.iterations,
            "episodes": arguments.episodes,
            "trainer": arguments.trainer,
        }

    def _measure(self, cell: Cell, table: ResultTable, arguments: argparse.Namespace) -> None:
        start, before, settings = time.monotonic(), commit(), self._settings(cell, arguments)
        figures = self.runner(cell, table, settings).measure()
        table.add(cell, {"commit": before, **settings, **figures, "seconds": round(time.monotonic() - start, 1)})
