"""What came out of a contest: lines of JSON, and a table."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from textwrap import fill
from typing import TYPE_CHECKING, Any

from cells import Cell, emit, load, settings
from rows import DERIVED

if TYPE_CHECKING:
    from rlgpt.report.stats import Interval

FIGURES = (
    *("seed", "sampled", "greedy", "steps_per_success", "primitive_steps", "selection"),
    *("asked", "commit", "run_commit"),
)
"""What is told of a cell where it has it; ``selection``: success on the selection seeds, iteration by iteration."""
Results = dict[str, dict[str, dict[int, dict[str, Any]]]]
"""Task, row and seed to result."""


def summary(name: str, folder: Path, cells: Sequence[Cell]) -> None:
    """Lines of JSON: IQM and interval of each row, RL-GPT less each other row, rows over all tasks."""
    found = _results(folder, cells)
    if mixed := _mixed(found):
        print(mixed, file=sys.stderr)
    unit = "success rate, sampled, IQM over seeds"
    for task, rows in found.items():
        scores = {row: {seed: r["sampled"] for seed, r in results.items()} for row, results in rows.items()}
        for row, by_seed in scores.items():
            told = [{k: r[k] for k in FIGURES if k in r} for r in rows[row].values()]
            line(f"{name}/{task.split('/')[1]}/{row}", unit, spread(by_seed), worst=min(by_seed.values()), rows=told)
        others = {row: s for row, s in scores.items() if not row.startswith("rlgpt")}
        if "rlgpt" in scores and others:
            best = max(others, key=lambda row: spread(others[row]).point)
            for end, row in [("", best), *((f"/{row}", row) for row in others)]:
                apart, how = margin(scores["rlgpt"], others[row], derived=row in DERIVED)
                line(f"{name}/{task.split('/')[1]}/margin{end}", f"success rate, rlgpt minus {row}, {how}", apart)
    whole, together = aggregates(found, cells)
    for row, over in together.items():
        scores = [found[task][row][seed]["sampled"] for task in whole for seed in found[task][row]]
        more = {"mean": round(mean(scores), 3), "worst": min(scores), "tasks": whole}
        line(f"{name}/all/{row}", f"{unit} and tasks", over, **more)


def table(folder: Path, cells: Sequence[Cell]) -> None:
    """A caption, and a table in Markdown: each task and row, then each row over all tasks."""
    found = _results(folder, cells)
    whole, together = aggregates(found, cells)
    print(fill(_caption(found, whole), 120), end="\n\n")
    print("| task | row | sampled | worst | greedy | steps in all | steps per success | seeds |")
    print("|---|---|---|---|---|---|---|---|")
    for task, rows in found.items():
        for row, by_seed in rows.items():
            results = list(by_seed.values())
            sampled = {seed: r["sampled"] for seed, r in by_seed.items()}
            greedy = {seed: r["greedy"] for seed, r in by_seed.items() if r["greedy"] is not None}
            figures = (
                task.split("/")[1],
                f"`{row}`",
                str(spread(sampled)),
                f"{min(sampled.values()):.2f}",
                f"{spread(greedy)}{_of(len(greedy), len(results))}" if greedy else "",
                f"{median(r['primitive_steps'] for r in results):,.0f}",
                _steps(results),
                str(len(results)),
            )
            print(f"| {' | '.join(figures)} |")
    for row, over in together.items():
        scores = [r["sampled"] for task in whole for r in found[task][row].values()]
        seeds = len(scores) // len(whole)
        print(f"| *{len(whole)} tasks* | `{row}` | {over} | {min(scores):.2f} | | | | {seeds} each |")


def spread(by_seed: Mapping[int, float]) -> Interval:
    """See :func:`rlgpt.report.stats.spread`."""
    from rlgpt.report import stats

    return stats.spread(list(by_seed.values()))


def margin(ours: Mapping[int, float], theirs: Mapping[int, float], *, derived: bool) -> tuple[Interval, str]:
    """IQM less IQM, with its interval or, of too few seeds, range; and how it was made.

    :param derived: ``theirs`` was made of the outcome of ``ours``, seed by seed: seeds are drawn together then, and
        only those that both have.
    """
    from rlgpt.report.stats import FEW, difference

    both = [seed for seed in ours if seed in theirs]
    paired = derived and bool(both)
    a, b = ([side[s] for s in (both if paired else side)] for side in (ours, theirs))
    found, how = difference(a, b, paired=paired), "paired by seed" if paired else "unpaired"
    if min(len(a), len(b)) >= FEW:
        return found, how
    apart = [x - y for x, y in zip(a, b, strict=True)] if paired else [min(a) - max(b), max(a) - min(b)]
    return found.model_copy(update={"low": min(apart), "high": max(apart), "level": 1.0}), how


def aggregates(found: Results, cells: Sequence[Cell]) -> tuple[list[str], dict[str, Interval]]:
    """For each row that is asked of every task and has results, the IQM over seeds and tasks with its stratified
    interval. All are over the same tasks: those that have every seed of each such row; none where that is only one.

    :returns: the tasks, and row to interval.
    """
    from rlgpt.report.stats import interval

    tasks = list(dict.fromkeys(c.task for c in cells))
    seeds = {c.seed for c in cells}
    every = [row for row in dict.fromkeys(c.row for c in cells) if {c.task for c in cells if c.row == row} == {*tasks}]
    rows = [row for row in every if any(row in found[task] for task in found)]
    whole = [t for t in found if all(found[t].get(row, {}).keys() == seeds for row in rows)]
    if len(whole) < 2:
        return [], {}
    scores = {row: [[found[t][row][s]["sampled"] for t in whole] for s in sorted(seeds)] for row in rows}
    return whole, {row: interval(s) for row, s in scores.items()}


def line(name: str, unit: str, value: Interval, **more: Any) -> None:
    """One line of JSON; ``range`` in place of ``interval`` where the seeds are too few for one."""
    around = {"range" if value.level == 1.0 else "interval": [round(value.low, 3), round(value.high, 3)]}
    emit(name, round(value.point, 3), unit, **around, **more)


def _results(folder: Path, cells: Sequence[Cell]) -> Results:
    """What is there, in the order of ``cells``; tasks and rows without a result are left out."""
    found: Results = {}
    tasks, rows = (list(dict.fromkeys(getattr(c, name) for c in cells)) for name in ("task", "row"))
    by_name = {(r["task"], r["row"], r["seed"]): r for r in load(cells, folder)}
    seeds = sorted({c.seed for c in cells})
    for task in tasks:
        for row in rows:
            there = {seed: by_name[task, row, seed] for seed in seeds if (task, row, seed) in by_name}
            if there:
                found.setdefault(task, {})[row] = there
    return found


def _steps(results: Sequence[Mapping[str, Any]]) -> str:
    """Steps of the evaluations over their successes. A seed without any tells no steps: the cell then says of how many
    seeds it is."""
    some = [r for r in results if r["steps_per_success"] is not None]
    if not some:
        return "none"
    wins = [r["sampled"] * r["episodes"] for r in some]
    steps = sum(r["steps_per_success"] * won for r, won in zip(some, wins, strict=True))
    return f"{steps / sum(wins):,.0f}{_of(len(some), len(results))}"


def _of(some: int, all_of_them: int) -> str:
    return "" if some == all_of_them else f" ({some} of {all_of_them})"


def _caption(found: Results, whole: Sequence[str]) -> str:
    from rlgpt.report.stats import FEW

    counts = {len(by_seed) for rows in found.values() for by_seed in rows.values()}
    most = max(counts, default=0)
    if most < FEW:
        around = f"in brackets the range over the {most} seeds (no interval: they are fewer than {FEW})"
    else:
        around = f"in brackets its 95 % bootstrap interval, or, of fewer than {FEW} seeds, their range"
    parts = [
        f"Success is the IQM over seeds, {around}; *worst* is the lowest seed, sampled.",
        "Steps in all are the median over seeds; steps per success are all steps of the evaluation over all successes, "
        "of seeds that have any.",
        "*(2 of 5)*: only so many seeds have the figure, for want of a policy (greedy) or of any success (steps).",
    ]
    if whole:
        names = "" if len(whole) == len(found) else f" ({', '.join(t.split('/')[1] for t in whole)})"
        parts.append(
            f"*{len(whole)} tasks*{names}: the IQM over all seeds of all tasks, in brackets its 95 % bootstrap "
            "interval, stratified by task."
        )
    if mixed := _mixed(found):
        parts.append(mixed)
    return " ".join(parts)


def _mixed(found: Results) -> str:
    """Which settings differ among the results; empty where none does."""
    told = [settings(r) for rows in found.values() for by_seed in rows.values() for r in by_seed.values()]
    values = {name: Counter(t[name] for t in told if name in t) for name in dict.fromkeys(k for t in told for k in t)}
    parts = [
        f"{name} {' and '.join(f'{v} ({n} results)' for v, n in seen.items())}"
        for name, seen in values.items()
        if len(seen) > 1
    ]
    return f"Not measured alike: {'; '.join(parts)}." if parts else ""
