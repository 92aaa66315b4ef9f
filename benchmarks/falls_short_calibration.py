"""Measures the success of recorded code on the tasks of the suite ``falls_short``. The tasks of the suite were chosen
by this success.

    python benchmarks/falls_short_calibration.py                 # measures the missing results
    python benchmarks/falls_short_calibration.py --table         # prints the table in Markdown

The calibration measures three methods with each recording, and trains no policy. The method ``code`` plays the
recording's coded actions in the plan's order. The method ``untrained`` is an untrained policy over the recording's
coded actions and the base actions. The method ``primitives`` is an untrained policy over the plugin's primitives, which
chooses nearly at random. The episodes of the calibration have the report seeds of a run with seed 900, which no other
run uses. The results are lines of JSON in results/falls_short_calibration.jsonl.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from falls_short import CaseRunner
from falls_short_cases import CASES
from reporting import commit
from result_table import Cell, ResultTable

RESULTS = Path(__file__).parent / "results" / "falls_short_calibration.jsonl"
RUN = 900
"""The seed of the run whose report seeds are used."""
BUDGET = 20_000
"""Primitive steps: enough for rehearsals and the selection episodes."""
KINDS = {"code": "code_only", "untrained": "untrained"}
ROWS = (*KINDS, "primitives")


def measure(name: str, row: str, recording: int, episodes: int) -> dict[str, Any]:
    """Measure the success of one method (``row``) with one recording of a task."""
    settings = {"budget": BUDGET, "iterations": 1, "episodes": episodes, "trainer": "ppo"}
    with tempfile.TemporaryDirectory() as folder:
        runner = CaseRunner(Cell(f"falls_short/{name}", row, RUN), ResultTable(Path(folder) / "cells.jsonl"), settings)
        if row == "primitives":
            return {"success": untrained_primitives(runner)}
        runner.transcripts = (CASES[name].find()[3][recording],)
        return {"success": runner.run_loops(KINDS[row])["kept"]}


def untrained_primitives(runner: CaseRunner) -> float:
    from rlgpt.agents.fixed import primitive_actions
    from rlgpt.rl.base import EnvSpec
    from rlgpt.rl.evaluation import evaluate

    plugin, task = runner.plugin, runner.task
    actions = primitive_actions(plugin.primitives(task), plugin.labels(task).actions)
    setup = plugin.default_setup(task).model_copy(update={"coded_actions": tuple(a.name for a in actions)})
    spec = EnvSpec(task, setup, tuple(actions), runner.factory)
    seed = runner.seeds.training(0)
    policy = runner.trainer.untrained(spec, seed=seed, hyperparameters=runner.hyperparameters)
    seeds = runner.seeds.report(runner.settings.report_episodes)
    return float(evaluate(policy, spec, seeds=seeds, greedy=False).success_rate)


def load() -> dict[tuple[str, str, int], dict[str, Any]]:
    """Return the stored result of each task, method (row) and recording."""
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    return {(r["task"], r["row"], r["recording"]): r for r in map(json.loads, lines)}


def print_table() -> None:
    """Print a table with a line for each task. The line of a task has the success of ``code`` for each recording and
    its mean, and the success of ``untrained`` and of ``primitives``.
    """
    results = load()
    print("| task | settings | code, by recording | mean | untrained | primitives |")
    print("|---|---|---|---|---|---|")
    for name, case in CASES.items():
        rows = {row: [r for (t, w, _), r in results.items() if (t, w) == (name, row)] for row in ROWS}
        if not rows["code"]:
            continue
        by_row = {row: [r["success"] for r in found] for row, found in rows.items()}
        settings = ", ".join(f"{k}={v}" for k, v in case.differences.items())
        print(
            f"| {name} | `{case.task}` {settings} | {', '.join(f'{s:.2f}' for s in by_row['code'])} "
            f"| **{mean(by_row['code']):.2f}** | {_means(by_row['untrained'])} | {_means(by_row['primitives'])} |"
        )


def _means(scores: Sequence[float]) -> str:
    return f"{mean(scores):.2f}" if scores else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--tasks", nargs="+", default=tuple(CASES), choices=tuple(CASES))
    parser.add_argument("--rows", nargs="+", default=ROWS, choices=ROWS)
    parser.add_argument("--episodes", type=int, default=50)
    parser.add_argument("--table", action="store_true", help="measure nothing, print the table in Markdown")
    arguments = parser.parse_args()
    if arguments.table:
        print_table()
        return 0
    for row in arguments.rows:
        for name in arguments.tasks:
            case = CASES[name]
            for recording in range(1 if row == "primitives" else len(case.find()[3])):
                if (name, row, recording) in load():
                    continue
                figures = measure(name, row, recording, arguments.episodes)
                result = {"task": name, "row": row, "recording": recording, "episodes": arguments.episodes, **figures}
                result |= {"settings": case.differences, "commit": commit()}
                with RESULTS.open("a") as out:
                    out.write(f"{json.dumps(result)}\n")
                print(json.dumps(result), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
