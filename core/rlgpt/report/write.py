"""From run folders to a page and a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from rlgpt.domain import best_of
from rlgpt.errors import RunError
from rlgpt.files import Folder
from rlgpt.report import curves, html
from rlgpt.report.loaded import LoadedRun, find
from rlgpt.report.methods import methods
from rlgpt.report.stats import spread
from rlgpt.report.values import Comparison, MethodRow, Page, Story
from rlgpt.runs import Run


def write_page(folders: Sequence[Path], out: Path, *, note: str = "") -> Page:
    """Write the page that compares the runs and shows the best one of each method that plans.

    :raises RunError: there is no run, one is damaged, or none has a finished iteration.
    """
    page = page_of([Run.open(folder) for folder in find(folders)], note=note)
    Folder(out.parent, RunError).write(out.name, html.render(page))
    return page


def page_of(runs: Sequence[Run], *, note: str = "") -> Page:
    """The page of these runs. Runs without a finished iteration are left out and counted in its note."""
    finished = [loaded for loaded in map(LoadedRun.of, runs) if loaded.iterations]
    if not finished:
        raise RunError("no run here has finished an iteration yet: continue one with rlgpt resume RUN.")
    if len(finished) < len(runs):
        note = f"{note} {len(runs) - len(finished)} runs have no finished iteration and are left out.".strip()
    by_task: dict[str, list[LoadedRun]] = {}
    for loaded in finished:
        by_task.setdefault(loaded.run.record.task, []).append(loaded)
    single = len(by_task) == 1
    return Page(
        title=next(iter(by_task)) if single else f"{len(by_task)} tasks",
        note=note,
        comparisons=tuple(_comparison("Methods" if single else task, group) for task, group in by_task.items()),
        stories=tuple(_story(loaded) for group in by_task.values() for loaded in _shown(group)),
    )


def table(page: Page) -> str:
    """The page's rows as plain text."""
    lines = []
    for comparison in page.comparisons:
        lines.append(page.title if len(page.comparisons) == 1 else comparison.title)
        width = max(len(row.method) for row in comparison.rows)
        levels = {row.success.level for row in comparison.rows}
        success = "success (range)" if levels == {1.0} else "success" if 1.0 in levels else "success (95 %)"
        wide = 25 if success == "success" else 19
        lines.append(f"{'method':<{width}}  {success:<{wide}} {'steps':>8} {'tokens':>8} {'cost':>9} {'runs':>5}")
        for row in comparison.rows:
            cost = "unknown" if row.dollars is None else f"${row.dollars:.4f}"
            rate = f"{row.success}{' (range)' * (wide == 25 and row.success.level == 1.0)}"
            lines.append(
                f"{row.method:<{width}}  {rate:<{wide}} {row.primitive_steps:>8,.0f} {row.tokens:>8,.0f} "
                f"{cost:>9} {row.runs:>5}"
            )
    return "\n".join(lines)


def _comparison(title: str, runs: Sequence[LoadedRun]) -> Comparison:
    groups = _methods(runs)
    drawn = {name: [curves.curve(loaded.iterations) for loaded in group] for name, group in groups.items()}
    return Comparison(
        title=title,
        rows=tuple(_row(name, group) for name, group in groups.items()),
        curves=curves.svg(curves.draw(drawn)),
    )


def _methods(runs: Sequence[LoadedRun]) -> dict[str, list[LoadedRun]]:
    loaded = {id(each.run): each for each in runs}
    groups = methods([each.run for each in runs])
    return {name: [loaded[id(run)] for run in group] for name, group in groups.items()}


def _row(method: str, runs: Sequence[LoadedRun]) -> MethodRow:
    outcomes = [loaded.outcome for loaded in runs]
    wins = sum(e.success for outcome in outcomes for e in outcome.episodes)
    bills = [loaded.bill for loaded in runs]
    known = [dollars for _, dollars in bills if dollars is not None]
    return MethodRow(
        method=method,
        runs=len(runs),
        success=spread([outcome.success_rate for outcome in outcomes]),
        primitive_steps=float(np.mean([float(loaded.run.record.steps.total) for loaded in runs])),
        steps_per_success=sum(outcome.primitive_steps for outcome in outcomes) / wins if wins else None,
        tokens=float(np.mean([float(tokens) for tokens, _ in bills])),
        dollars=float(np.mean(known)) if len(known) == len(bills) else None,
    )


def _shown(runs: Sequence[LoadedRun]) -> Iterator[LoadedRun]:
    """The run with the highest success of each method whose plan a language model wrote. A single run is always
    included."""
    for group in _methods(runs).values():
        best = max(group, key=lambda loaded: loaded.outcome.success_rate)
        if len(runs) == 1 or any(i.rehearsals for i in best.iterations):
            yield best


def _story(loaded: LoadedRun) -> Story:
    record, report = loaded.run.record, loaded.report
    tokens, dollars = loaded.bill
    method = next(iter(methods([loaded.run])))
    return Story(
        title=f"{method}, seed {record.seed}",
        task=record.task,
        seed=record.seed,
        status=record.status,
        reason=record.reason,
        model=", ".join(sorted({e.reply.model for e in loaded.exchanges})),
        iterations=loaded.iterations,
        best=best_of(loaded.iterations).index,
        outcome=report.sampled if report else None,
        greedy=report.greedy if report else None,
        dead_loop_rate=report.dead_loop_rate if report else None,
        tokens=tokens,
        dollars=dollars,
        clips=tuple(loaded.clips()),
        versions=record.versions,
    )
