"""The success of fixed code on the tasks of the suite ``falls_short``, by which the suite was chosen.

    python benchmarks/falls_short_calibration.py                 # what has no result yet
    python benchmarks/falls_short_calibration.py --table         # the table in Markdown

For each recording: ``code`` plays its actions in the plan's order, ``untrained`` a fresh policy over them and the base
actions; ``primitives`` is a fresh policy over the plugin's primitives, which chooses nearly at random. The episodes
have the report seeds of a run with seed 900, which no other run uses. No policy is trained. The results are lines of
JSON in results/falls_short_calibration.jsonl; ``rate`` is primitive steps per CPU-second.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from falls_short_cases import CASES, Case
from recorded_code import recorded_code
from reporting import commit

RESULTS = Path(__file__).parent / "results" / "falls_short_calibration.jsonl"
RUN = 900
"""The seed of the run whose report seeds are used."""
ROWS = ("code", "untrained", "primitives")


def measure(case: Case, row: str, recording: int, episodes: int) -> dict[str, Any]:
    """The success of one row with one recording."""
    from rlgpt.agents.fixed import primitive_actions
    from rlgpt.loop import Seeds
    from rlgpt.rl.base import EnvSpec, Hyperparameters
    from rlgpt.rl.evaluation import evaluate, evaluate_code
    from rlgpt.rl.ppo import PPO

    plugin, task, factory, _ = case.find()
    setup, seeds = plugin.default_setup(task), Seeds(RUN).report(episodes)
    if row == "primitives":
        actions = primitive_actions(plugin.primitives(task), plugin.labels(task).actions)
    else:
        actions, _ = recorded_code(case.transcripts()[recording])
    # the plugin's own setup: a recording of other settings names keys and terms that may not exist here
    spec = EnvSpec(task, setup.model_copy(update={"coded_actions": tuple(a.name for a in actions)}), actions, factory)
    start = time.process_time()
    if row == "code":
        evaluation = evaluate_code(spec, actions, seeds=seeds)
    else:
        hyperparameters = Hyperparameters(**plugin.trainer_defaults(task))
        policy = PPO().untrained(spec, seed=Seeds(RUN).training(recording), hyperparameters=hyperparameters)
        evaluation = evaluate(policy, spec, seeds=seeds, greedy=False)
    steps = sum(e.primitive_steps for e in evaluation.episodes)
    return {
        "success": evaluation.success_rate,
        "steps": round(steps / episodes),
        "rate": round(steps / (time.process_time() - start)),
    }


def load() -> dict[tuple[str, str, int], dict[str, Any]]:
    """Task, row and recording to result."""
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    return {(r["task"], r["row"], r["recording"]): r for r in map(json.loads, lines)}


def print_table() -> None:
    """A line for each task: code for each recording and its mean, untrained, primitives."""
    results = load()
    print("| task | settings | code, by recording | mean | untrained | primitives | steps per CPU-second |")
    print("|---|---|---|---|---|---|---|")
    for name, case in CASES.items():
        rows = {row: [r for (t, w, _), r in results.items() if (t, w) == (name, row)] for row in ROWS}
        if not rows["code"]:
            continue
        by_row = {row: [r["success"] for r in found] for row, found in rows.items()}
        settings = ", ".join(f"{k}={v}" for k, v in case.settings.items())
        print(
            f"| {name} | `{case.task}` {settings} | {', '.join(f'{s:.2f}' for s in by_row['code'])} "
            f"| **{mean(by_row['code']):.2f}** | {_means(by_row['untrained'])} | {_means(by_row['primitives'])} "
            f"| {mean(r['rate'] for r in rows['code']):.0f} |"
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
            for recording in range(1 if row == "primitives" else len(case.transcripts())):
                if (name, row, recording) in load():
                    continue
                figures = measure(case, row, recording, arguments.episodes)
                result = {"task": name, "row": row, "recording": recording, "episodes": arguments.episodes, **figures}
                result |= {"settings": dict(case.settings), "commit": commit()}
                with RESULTS.open("a") as out:
                    out.write(f"{json.dumps(result)}\n")
                print(json.dumps(result), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
