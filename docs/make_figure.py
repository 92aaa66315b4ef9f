"""Draws the figure of the suite falls_short in the README: the success of RL-GPT and of its code on each task.

    python docs/make_figure.py docs/assets/falls-short.svg

The values are those of benchmarks/results/falls_short.jsonl, which `python benchmarks/falls_short.py --report` writes.
The figure has the tasks with five seeds; tasks that are no longer in the suite are left out.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot

RESULTS = Path(__file__).resolve().parents[1] / "benchmarks" / "results" / "falls_short.jsonl"
ROWS = {"code": ("code alone", "#8a8f98", -0.14), "rlgpt": ("RL-GPT: code and learning", "#1f6feb", 0.14)}
"""Compared method -> its label, its colour, and its offset from the middle of the line of a task."""


def read(path: Path) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Return the lines of each task of the results, by the name of the method."""
    tasks: dict[str, dict[str, Mapping[str, Any]]] = {}
    for text in path.read_text().splitlines():
        line = json.loads(text)
        _, task, *row = line["name"].split("/")
        if len(row) == 1 and "interval" in line:
            tasks.setdefault(task, {})[row[0]] = line
    return {task: rows for task, rows in tasks.items() if task != "all" and ROWS.keys() <= rows.keys()}


def draw(tasks: Mapping[str, Mapping[str, Mapping[str, Any]]], path: Path) -> None:
    """Draw one line for each task, sorted by the difference between RL-GPT and its code."""
    names = sorted(tasks, key=lambda task: tasks[task]["rlgpt"]["value"] - tasks[task]["code"]["value"])
    figure, axes = pyplot.subplots(figsize=(7.6, 0.42 * len(names) + 1.0), layout="constrained")
    for row, (label, colour, offset) in ROWS.items():
        for place, name in enumerate(names):
            low, high = tasks[name][row]["interval"]
            axes.plot([low, high], [place + offset] * 2, color=colour, linewidth=2.5, solid_capstyle="round")
        values = [tasks[name][row]["value"] for name in names]
        axes.scatter(values, [place + offset for place in range(len(names))], color=colour, s=42, zorder=3, label=label)
    axes.set_yticks(range(len(names)), [name.replace("_", " ") for name in names])
    axes.set_xlim(0, 1.01)
    axes.set_xlabel("success rate of 50 fresh episodes: interquartile mean over five seeds, 95 % interval")
    axes.grid(axis="x", color="#d8dbe0", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    figure.legend(loc="outside upper left", ncols=2, frameon=False)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("figure", type=Path, help="the file to write, in the format of its ending")
    matplotlib.rcParams.update({"svg.hashsalt": "rlgpt", "font.size": 10})
    options = parser.parse_args()
    draw(read(RESULTS), options.figure)


if __name__ == "__main__":
    main()
