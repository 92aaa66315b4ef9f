"""Plays tasks in a row, with and without a library of skills, and compares tokens, primitive steps and success.

    python benchmarks/skills.py kitchen llm.model=openai/gpt-5 llm.budget.dollars=5   # asks a model
    python benchmarks/skills.py kitchen --recordings FOLDER                           # replays; run it again to resume
    python benchmarks/skills.py kitchen --report                                      # plays nothing, prints the table

A row is a list of tasks, none of which occurs before in it. The arm `with` has one library: each task is offered what
the tasks before it proved. The arm `without` has none. All other settings are those of `rlgpt train`. With
--recordings, a run whose recording FOLDER/ROW/ARM/NUMBER-TASK.jsonl exists is replayed; any other run needs the
settings of a model, and its recording is stored there. A finished run is not repeated, an interrupted one continues.
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
"""Index of the first task at which the library is expected to have most of what a task needs."""


def name_of(number: int, task: str) -> str:
    return f"{number}-{task.partition('/')[2]}"


def play(row: str, tasks: Sequence[str], arm: str, out: Path, recordings: Path | None, settings: Sequence[str]) -> bool:
    """Play the tasks of one arm in order.

    :returns: whether all of them are finished.
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
                print(f"{folder} is not finished (status {status}); the tasks after it wait for it")
                return False
        made = folder / "transcript.jsonl"
        if recording is not None and not replayed and made.exists():
            recording.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(made, recording)
    return True


def is_finished(folder: Path) -> bool:
    """Whether a run has ended with a report. A run that its recording or a budget ended early counts, too."""
    if not Run.exists(folder):
        return False
    run = Run.open(folder)
    return run.record.status in ("finished", "stopped") and run.report() is not None


def figures(folder: Path) -> dict[str, Any]:
    """Success, tokens, requests and primitive steps of a finished run, and the skills that it kept or changed."""
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
        "success": report.kept.success_rate,
        "episodes": len(report.kept.episodes),
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
    """The figures of all finished runs of a row; each has its arm and number."""
    return [
        {"row": row, "arm": arm, "number": number, **figures(folder)}
        for arm in ARMS
        for number, task in enumerate(tasks)
        if is_finished(folder := out / row / arm / name_of(number, task))
    ]


def table(results: Sequence[Mapping[str, Any]]) -> str:
    """A line for each task, and a line for the tasks from the fifth on that both arms have finished."""
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
    parser.add_argument("--tasks", help="other tasks, separated by commas, in this order")
    parser.add_argument("--arm", choices=ARMS, action="append", help="default: both")
    parser.add_argument("--recordings", type=Path)
    parser.add_argument("--out", type=Path, default=Path("runs/skills"))
    parser.add_argument("--report", action="store_true", help="play nothing")
    given = parser.parse_intermixed_args(argv)
    tasks = tuple(given.tasks.split(",")) if given.tasks else ROWS[given.row]
    out, done = given.out.resolve(), True
    if not given.report:
        start_or_resume(out / given.row, {"tasks": list(tasks), "settings": _without_model(given.settings)})
        recordings = None if given.recordings is None else given.recordings.resolve()
        arms = given.arm or ARMS
        for arm in arms:  # the arms do not wait for each other
            done = play(given.row, tasks, arm, out, recordings, given.settings) and done
    results = collect(given.row, tasks, out)
    if results:
        write_atomic(out / f"{given.row}.jsonl", "".join(f"{json.dumps(r)}\n" for r in results))
        print(table(results))
    return 0 if done else 1


def _without_model(settings: Sequence[str]) -> list[str]:
    """The settings that a row's figures depend on: the address of a model may change."""
    return [s for s in settings if not s.startswith(("llm.api_base=", "llm.key_env=", "llm.timeout="))]


if __name__ == "__main__":
    sys.exit(main())
