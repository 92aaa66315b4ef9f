"""What came out of a contest: lines of JSON, and a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cells import Cell, emit, load

FIGURES = ("seed", "sampled", "greedy", "steps_per_success", "primitive_steps", "selection", "commit")
"""What is told of a cell; ``selection``: success on the selection seeds, iteration by iteration."""


def summary(name: str, folder: Path, cells: Sequence[Cell]) -> None:
    """Lines of JSON: IQM and interval of each row, then RL-GPT less the best other row."""
    from rlgpt.report.stats import difference, interval

    found = load(cells, folder)
    for task in dict.fromkeys(c.task for c in cells):
        scores: dict[str, list[float]] = {}
        for row in dict.fromkeys(c.row for c in cells):
            results = [r for r in found if (r["task"], r["row"]) == (task, row)]
            if not results:
                continue
            scores[row] = [r["sampled"] for r in results]
            seen = interval(scores[row])
            emit(
                f"{name}/{task.split('/')[1]}/{row}",
                round(seen.point, 3),
                "success rate, sampled, IQM over seeds",
                interval=[round(seen.low, 3), round(seen.high, 3)],
                rows=[{k: r[k] for k in FIGURES if k in r} for r in results],
            )
        others = {row: s for row, s in scores.items() if not row.startswith("rlgpt")}
        if "rlgpt" in scores and others:
            strongest = max(others, key=lambda row: interval(others[row]).point)
            margin = difference(scores["rlgpt"], others[strongest])
            emit(
                f"{name}/{task.split('/')[1]}/margin",
                round(margin.point, 3),
                f"success rate, rlgpt minus {strongest}",
                interval=[round(margin.low, 3), round(margin.high, 3)],
            )


def table(folder: Path, cells: Sequence[Cell]) -> None:
    """Each task and row: success sampled and greedy, steps in all and for each success, seeds."""
    from itertools import product
    from statistics import median

    from rlgpt.report.stats import interval

    print("| task | row | sampled | greedy | steps in all | steps per success | seeds |")
    print("|---|---|---|---|---|---|---|")
    found = load(cells, folder)
    tasks, rows = (list(dict.fromkeys(getattr(c, name) for c in cells)) for name in ("task", "row"))
    for task, row in product(tasks, rows):
        results = [r for r in found if (r["task"], r["row"]) == (task, row)]
        if not results:
            continue
        greedy = [r["greedy"] for r in results if r["greedy"] is not None]
        each = [r["steps_per_success"] for r in results if r["steps_per_success"] is not None]
        figures = (
            task.split("/")[1],
            f"`{row}`",
            str(interval([r["sampled"] for r in results])),
            str(interval(greedy)) if greedy else "",
            f"{median(r['primitive_steps'] for r in results):,.0f}",
            f"{median(each):,.0f}" if each else "none",
            str(len(results)),
        )
        print(f"| {' | '.join(figures)} |")
