"""Prints the results of a comparison as lines of JSON, or as a table in Markdown."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import mean, median
from textwrap import fill
from typing import TYPE_CHECKING, Any

from reporting import line
from result_table import SETTINGS, Cell, outcome
from rows import DERIVED

if TYPE_CHECKING:
    from rlgpt.report.stats import Interval, Statistic

FIGURES = (
    *("seed", "kept", "sampled", "greedy", "steps_per_success", "primitive_steps", "selection"),
    *(*SETTINGS, "commit", "run_commit"),
)
"""Columns that are printed for each cell that has them. ``selection`` is the success rate on the
selection seeds, for each iteration.
"""
Grid = dict[str, dict[str, dict[int, dict[str, Any]]]]
"""(task, row, seed) -> result."""


def lines(name: str, results: Mapping[Cell, dict[str, Any]], cells: Sequence[Cell]) -> Iterator[str]:
    """Return the results of a comparison as lines of JSON. The lines have the IQM and interval of each method on each
    task, RL-GPT minus each other method, and each method over all tasks.
    """
    grid = _grid(results, cells)
    if mixed := _mixed_settings(grid):
        print(mixed, file=sys.stderr)
    unit = "success rate, IQM over seeds"
    for task, rows in grid.items():
        scores = {row: {seed: outcome(r) for seed, r in by_seed.items()} for row, by_seed in rows.items()}
        for row, by_seed in scores.items():
            figures = [{k: r[k] for k in FIGURES if k in r} for r in rows[row].values()]
            yield interval_line(
                f"{name}/{task.split('/')[1]}/{row}", unit, _iqm(by_seed), worst=min(by_seed.values()), rows=figures
            )
        others = {row: s for row, s in scores.items() if not row.startswith("rlgpt")}
        if "rlgpt" in scores and others:
            best = max(others, key=lambda row: _iqm(others[row]).point)
            for end, row in [("", best), *((f"/{row}", row) for row in others)]:
                difference, how = margin(scores["rlgpt"], others[row], derived=row in DERIVED)
                yield interval_line(
                    f"{name}/{task.split('/')[1]}/margin{end}", f"success rate, rlgpt minus {row}, {how}", difference
                )
    complete, intervals = aggregates(grid, cells)
    for row, interval in intervals.items():
        scores = [outcome(r) for task in complete for r in grid[task][row].values()]
        more = {"mean": round(mean(scores), 3), "worst": min(scores), "tasks": complete}
        yield interval_line(f"{name}/all/{row}", f"{unit} and tasks", interval, **more)


def print_table(results: Mapping[Cell, dict[str, Any]], cells: Sequence[Cell]) -> None:
    """Print a caption and the table of a comparison. The table has the result of each method on each task, and then of
    each method over all tasks.
    """
    grid = _grid(results, cells)
    complete, intervals = aggregates(grid, cells)
    print(fill(_caption(grid, complete), 120), end="\n\n")
    print("| task | method | success | worst | greedy | steps in all | steps per success | seeds |")
    print("|---|---|---|---|---|---|---|---|")
    for task, rows in grid.items():
        for row, by_seed in rows.items():
            success = {seed: outcome(r) for seed, r in by_seed.items()}
            greedy = {seed: r["greedy"] for seed, r in by_seed.items() if r.get("greedy") is not None}
            figures = (
                task.split("/")[1],
                f"`{row}`",
                str(_iqm(success)),
                f"{min(success.values()):.2f}",
                f"{_iqm(greedy)}{_count(len(greedy), len(by_seed))}" if greedy else "",
                f"{median(r['primitive_steps'] for r in by_seed.values()):,.0f}",
                _steps_per_success(list(by_seed.values())),
                str(len(by_seed)),
            )
            print(f"| {' | '.join(figures)} |")
    for row, interval in intervals.items():
        scores = [outcome(r) for task in complete for r in grid[task][row].values()]
        seeds = len(scores) // len(complete)
        print(f"| *{len(complete)} tasks* | `{row}` | {interval} | {min(scores):.2f} | | | | {seeds} each |")


def margin(
    ours: Mapping[int, float], theirs: Mapping[int, float], *, derived: bool, statistic: Statistic | None = None
) -> tuple[Interval, str]:
    """Return the difference between two methods with its interval, and a note on how the difference was computed. If
    two methods have too few seeds for an interval, the range of the difference is returned instead.

    :param derived: whether ``theirs`` was derived from the run of ``ours`` with the same seed. With True, seeds are
        resampled in pairs, and only the seeds of both methods are used.
    :param statistic: the statistic of a method's seeds; by default the IQM.
    """
    from rlgpt.report.stats import FEW, difference, iqm

    both = [seed for seed in ours if seed in theirs]
    paired = derived and bool(both)
    a, b = ([side[s] for s in (both if paired else side)] for side in (ours, theirs))
    interval = difference(a, b, paired=paired, statistic=statistic or iqm)
    how = "paired by seed" if paired else "unpaired"
    if min(len(a), len(b)) >= FEW:
        return interval, how
    extremes = [x - y for x, y in zip(a, b, strict=True)] if paired else [min(a) - max(b), max(a) - min(b)]
    return interval.model_copy(update={"low": min(extremes), "high": max(extremes), "level": 1.0}), how


def aggregates(grid: Grid, cells: Sequence[Cell]) -> tuple[list[str], dict[str, Interval]]:
    """Return the IQM over seeds and tasks, with its stratified interval, of each method that is measured on every task.

    The aggregated tasks are the tasks that have a result for every seed of each aggregated method. The result is empty
    if only one task has a result for every seed.

    :returns: the aggregated tasks, and the IQM and interval of each method.
    """
    from rlgpt.report.stats import interval

    tasks = list(dict.fromkeys(c.task for c in cells))
    seeds = {c.seed for c in cells}
    every = [row for row in dict.fromkeys(c.row for c in cells) if {c.task for c in cells if c.row == row} == {*tasks}]
    rows = [row for row in every if any(row in grid[task] for task in grid)]
    complete = [t for t in grid if all(grid[t].get(row, {}).keys() == seeds for row in rows)]
    if len(complete) < 2:
        return [], {}
    scores = {row: [[outcome(grid[t][row][s]) for t in complete] for s in sorted(seeds)] for row in rows}
    return complete, {row: interval(s) for row, s in scores.items()}


def _iqm(by_seed: Mapping[int, float]) -> Interval:
    """Return the IQM over seeds and its interval or range (see :func:`rlgpt.report.stats.spread`)."""
    from rlgpt.report import stats

    return stats.spread(list(by_seed.values()))


def interval_line(name: str, unit: str, value: Interval, **more: Any) -> str:
    """Return one figure as a line of JSON. The line has ``range`` instead of ``interval`` if a method has too few seeds
    for an interval.
    """
    around = {"range" if value.level in (1.0, None) else "interval": [round(value.low, 3), round(value.high, 3)]}
    return line(name, round(value.point, 3), unit, **around, **more)


def _grid(results: Mapping[Cell, dict[str, Any]], cells: Sequence[Cell]) -> Grid:
    """Return the results by task and method, in the order of ``cells``; tasks and methods without a result are left
    out.
    """
    grid: Grid = {}
    tasks, rows = (list(dict.fromkeys(getattr(c, name) for c in cells)) for name in ("task", "row"))
    for task in tasks:
        for row in rows:
            seeds = sorted(c.seed for c in set(cells) if (c.task, c.row) == (task, row) and c in results)
            if seeds:
                grid.setdefault(task, {})[row] = {seed: results[Cell(task, row, seed)] for seed in seeds}
    return grid


def _steps_per_success(results: Sequence[Mapping[str, Any]]) -> str:
    """Return the number of evaluation steps divided by the number of successes, over all seeds with at least one
    success. The steps are those of the policy with sampled actions, or those of what a run kept.
    """
    some = [r for r in results if r["steps_per_success"] is not None]
    if not some:
        return "none"
    successes = [r.get("sampled", r.get("kept")) * r["episodes"] for r in some]
    steps = sum(r["steps_per_success"] * n for r, n in zip(some, successes, strict=True))
    return f"{steps / sum(successes):,.0f}{_count(len(some), len(results))}"


def _count(some: int, total: int) -> str:
    return "" if some == total else f" ({some} of {total})"


def _caption(grid: Grid, complete: Sequence[str]) -> str:
    from rlgpt.report.stats import FEW

    counts = {len(by_seed) for rows in grid.values() for by_seed in rows.values()}
    most = max(counts, default=0)
    if most < FEW:
        around = f"in brackets the range over the {most} seeds (no interval: they are fewer than {FEW})"
    else:
        around = f"in brackets its 95 % bootstrap interval, or the range if there are fewer than {FEW} seeds"
    sentences = [
        f"Success is the IQM over seeds, {around}; *worst* is the success of the worst seed.",
        "Success is that of the code or policy that a run of RL-GPT keeps, and of the sampled policy of other methods.",
        "Steps in all are the median over seeds; steps per success are the steps of the evaluation divided by the "
        "number of successes, over the seeds that have at least one success.",
        "*(2 of 5)*: only this many seeds have the figure. The others have no policy (greedy) or no success (steps).",
    ]
    if complete:
        names = "" if len(complete) == len(grid) else f" ({', '.join(t.split('/')[1] for t in complete)})"
        sentences.append(
            f"*{len(complete)} tasks*{names}: the IQM over all seeds of all tasks, in brackets its 95 % bootstrap "
            "interval, stratified by task."
        )
    if mixed := _mixed_settings(grid):
        sentences.append(mixed)
    return " ".join(sentences)


def _mixed_settings(grid: Grid) -> str:
    """Return the settings that differ among the results as text, or an empty text if no setting differs. Tasks may have
    different budgets.
    """
    by_task = [[r for by_seed in rows.values() for r in by_seed.values()] for rows in grid.values()]
    everything = [[r for results in by_task for r in results]]
    parts = []
    for name in SETTINGS:
        for results in by_task if name == "budget" else everything:
            counts = Counter(r[name] for r in results if name in r)
            if len(counts) > 1:
                parts.append(f"{name} {' and '.join(f'{value} ({n} results)' for value, n in counts.items())}")
    return f"Not all cells were measured with the same settings: {'; '.join(parts)}." if parts else ""
