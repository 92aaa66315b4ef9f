"""Plays a sequence of tasks with and without a library of skills, and compares tokens, primitive steps and success.

    python benchmarks/skills.py kitchen llm.model=openai/gpt-5 llm.budget.dollars=5   # asks a model
    python benchmarks/skills.py kitchen --recordings FOLDER                           # replays; run it again to resume
    python benchmarks/skills.py kitchen --report                                      # plays nothing, prints the table

A row of this benchmark is a sequence of different tasks. The script plays each sequence twice, once in each of two
*arms*. In the arm `with`, all runs share one skill library, so that a run can use the skills that earlier runs have
added. In the arm `without`, the runs have no skill library. All other settings of the runs are those of `rlgpt train`.
With --recordings, a run replays its recording FOLDER/ROW/ARM/NUMBER-TASK.jsonl if this file exists. A run without a
recording needs the settings of a language model, and its recording is stored in FOLDER. The script does not repeat
finished runs, and continues interrupted runs.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rlgpt.files import write_atomic
from rlgpt.llm.exchange import read_exchanges
from rlgpt.runs import Run
from run_settings import start_or_resume

ROWS: Mapping[str, tuple[str, ...]] = {
    "kitchen": tuple(
        f"kitchen/{name}"
        for name in (
            *("light_switch", "slide_cabinet", "microwave", "kettle", "bottom_burner", "top_burner"),
            *("hinge_cabinet", "sequence_a", "sequence_b"),
        )
    ),
    "car": tuple(
        f"mujoco_car/{name}"
        for name in ("winding_road", "winding_road_slope", "winding_road_wet", "hill", "parking", "blocked_start")
    ),
    "minecraft": tuple(
        f"minecraft/{name}"
        for name in (
            *("harvest_log", "crafting_table", "stick", "wooden_pickaxe", "harvest_wool", "harvest_mutton"),
            *("harvest_milk", "stone_pickaxe", "furnace", "iron_ingot", "bed"),
        )
    ),
}
ARMS = ("with", "without")
FIFTH = 4
"""Index of the fifth task. From this task on, the library is expected to contain most skills that a task needs."""


def name_of(number: int, task: str) -> str:
    return f"{number}-{task.partition('/')[2]}"


def play(row: str, tasks: Sequence[str], arm: str, out: Path, recordings: Path | None, settings: Sequence[str]) -> bool:
    """Play the tasks of one arm of the benchmark in order.

    :returns: whether all tasks of the arm of the benchmark are finished.
    """
    from rlgpt.cli.main import main

    for number, task in enumerate(tasks):
        folder = out / row / arm / name_of(number, task)
        recording = None if recordings is None else recordings / row / arm / f"{name_of(number, task)}.jsonl"
        replayed = recording is not None and recording.exists()
        if not is_finished(folder):
            model = ["llm=replay", f"llm.transcript={recording}"] if replayed else []
            if Run.exists(folder):
                status = main(["resume", str(folder)])
            else:
                library = [f"skills={out / row / 'library'}"] if arm == "with" else []
                own = [s for s in settings if not (replayed and s.partition("=")[0].partition(".")[0] == "llm")]
                status = main(["train", f"task={task}", f"folder={folder}", "video=false", *library, *own, *model])
            if not is_finished(folder):
                print(f"{folder} is not finished (status {status}), so the later tasks of the row are not played")
                return False
        made = folder / "transcript.jsonl"
        if recording is not None and not replayed and made.exists():
            recording.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(made, recording)
    return True


def is_finished(folder: Path) -> bool:
    """Return whether a run has a report and has ended. A run that ended early, at the end of its recording or because a
    budget was spent, also counts as finished.
    """
    if not Run.exists(folder):
        return False
    run = Run.open(folder)
    return run.record.status in ("finished", "stopped") and run.report() is not None


def figures(folder: Path) -> dict[str, Any]:
    """Return success, tokens, requests and primitive steps of a finished run, and how many skills the run kept or
    changed.
    """
    run = Run.open(folder)
    report = run.report()
    assert report is not None, "the run is finished"
    exchanges = read_exchanges(folder / "llm.jsonl")
    usage = [e.reply.usage for e in exchanges]
    best = run.iterations()[report.iteration]
    offered = json.loads((folder / "skills.json").read_text())["offered"] if (folder / "skills.json").exists() else []
    known = {action["name"] for skill in offered for action in skill["actions"]}
    return {
        "task": run.record.task,
        "success": report.evaluation.success_rate,
        "episodes": len(report.evaluation.episodes),
        "requests": len(exchanges),
        "prompt_tokens": sum(u.prompt_tokens for u in usage),
        "completion_tokens": sum(u.completion_tokens for u in usage),
        "steps": run.record.steps.total,
        "offered": len(offered),
        "kept": sum(s.keep and s.name in known for s in best.plan.sub_actions),
        "changed": sum(not s.keep and s.name in known for s in best.plan.sub_actions),
        "versions": dict(run.record.versions),
    }


def collect(row: str, tasks: Sequence[str], out: Path) -> list[dict[str, Any]]:
    """Return the figures of all finished runs of a sequence of tasks (row), each with its row, its arm and its number
    in the row.
    """
    return [
        {"row": row, "arm": arm, "number": number, **figures(folder)}
        for arm in ARMS
        for number, task in enumerate(tasks)
        if is_finished(folder := out / row / arm / name_of(number, task))
    ]


def table(results: Sequence[Mapping[str, Any]]) -> str:
    """Return a table with one line for each run. Two lines below the table compare the two arms, first over all tasks
    that the two arms have finished, and then over the finished tasks from the fifth on.
    """
    by = {(r["arm"], r["number"]): r for r in results}
    lines = [
        "| task | arm | success | requests | tokens | replies | steps | offered, kept, changed |",
        "|" + "---|" * 8,
    ]
    for number in sorted({r["number"] for r in results}):
        for arm in ARMS:
            if (r := by.get((arm, number))) is not None:
                tokens = r["prompt_tokens"] + r["completion_tokens"]
                lines.append(
                    f"| {r['task']} | {arm} | {r['success']:.2f} | {r['requests']} | {tokens:,} | "
                    f"{r['completion_tokens']:,} | {r['steps']:,} | {r['offered']}, {r['kept']}, {r['changed']} |"
                )
    for title, least in (("all tasks", 0), ("from the fifth on", FIFTH)):
        both = [n for n in range(least, 1_000) if ("with", n) in by and ("without", n) in by]
        if both:
            ratios = ", ".join(
                f"{name} {_ratio([by['with', n] for n in both], [by['without', n] for n in both], keys)}"
                for name, keys in (
                    ("tokens", ("prompt_tokens", "completion_tokens")),
                    ("tokens of replies", ("completion_tokens",)),
                    ("steps", ("steps",)),
                )
            )
            success = [sum(by[arm, n]["success"] for n in both) / len(both) for arm in ARMS]
            lines.append(
                f"\n{title} ({len(both)}): with / without: {ratios}; success {success[0]:.2f} and {success[1]:.2f}"
            )
    return "\n".join(lines)


def _ratio(ours: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> str:
    one, other = (sum(r[key] for r in results for key in keys) for results in (ours, theirs))
    return f"{one / other:.2f}" if other else "-"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("row", choices=ROWS)
    parser.add_argument("settings", nargs="*", metavar="KEY=VALUE", help="settings of all runs, as for rlgpt train")
    parser.add_argument(
        "--tasks", help="the tasks of the row in their order, separated by commas; default: those of the row"
    )
    parser.add_argument("--arm", choices=ARMS, action="append", help="default: both")
    parser.add_argument("--recordings", type=Path)
    parser.add_argument("--out", type=Path, default=Path("runs/skills"))
    parser.add_argument("--report", action="store_true", help="print the table of the finished runs; play nothing")
    given = parser.parse_intermixed_args(argv)
    tasks = tuple(given.tasks.split(",")) if given.tasks else ROWS[given.row]
    out, done = given.out.resolve(), True
    if not given.report:
        start_or_resume(out / given.row, {"tasks": list(tasks), "settings": _without_model(given.settings)})
        recordings = None if given.recordings is None else given.recordings.resolve()
        arms = given.arm or ARMS
        for arm in arms:  # If a run of one arm fails, the other arm is played nevertheless.
            done = play(given.row, tasks, arm, out, recordings, given.settings) and done
    results = collect(given.row, tasks, out)
    if results:
        write_atomic(out / f"{given.row}.jsonl", "".join(f"{json.dumps(r)}\n" for r in results))
        print(table(results))
    return 0 if done else 1


def _without_model(settings: Sequence[str]) -> list[str]:
    """Return the settings on which the figures of a row depend. The result does not contain the address and the key of
    the language model, which may change between two sessions.
    """
    return [s for s in settings if not s.startswith(("llm.api_base=", "llm.key_env=", "llm.timeout="))]


if __name__ == "__main__":
    sys.exit(main())
