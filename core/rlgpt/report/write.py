"""Makes an HTML page and a text table from the folders of runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from rlgpt.domain import Iteration, SubGoal, best_of
from rlgpt.errors import RunError
from rlgpt.files import Folder
from rlgpt.report import curves, graph, html
from rlgpt.report.figures import score_name
from rlgpt.report.loaded import LoadedRun, described, find
from rlgpt.report.methods import methods
from rlgpt.report.stats import Interval, spread
from rlgpt.report.values import Comparison, GraphStory, MethodRow, Page, PartStory, Story
from rlgpt.runs import Run


def write_page(folders: Sequence[Path], out: Path, *, title: str = "", note: str = "") -> Page:
    """Write the HTML page that compares the runs in ``folders``. For each method whose plans a language model wrote,
    the page shows the best run in detail.

    :raises RunError: the folders contain no run, a run is damaged, or no run has a finished iteration.
    """
    page = page_of([Run.open(folder) for folder in find(folders)], title=title, note=note)
    Folder(out.parent, RunError).write(out.name, html.render(page))
    return page


def page_of(runs: Sequence[Run], *, title: str = "", note: str = "") -> Page:
    """The values of the report's page that compares the runs ``runs``. The page leaves out runs without a finished
    iteration; a note gives the number of these runs.

    :param title: the title of the page; by default, the task or the number of tasks.
    """
    finished = [loaded for loaded in map(LoadedRun.of, runs) if loaded.began]
    if not finished:
        raise RunError("none of the runs has a finished iteration: continue a run with rlgpt resume RUN.")
    if len(finished) < len(runs):
        note = f"{note} Runs without a finished iteration, which are left out: {len(runs) - len(finished)}.".strip()
    by_task: dict[str, list[LoadedRun]] = {}
    for loaded in finished:
        by_task.setdefault(loaded.run.record.task, []).append(loaded)
    single = len(by_task) == 1
    return Page(
        title=title or (next(iter(by_task)) if single else f"{len(by_task)} tasks"),
        note=note,
        comparisons=tuple(_comparison("Methods" if single else task, group) for task, group in by_task.items()),
        stories=tuple(_story(loaded) for group in by_task.values() for loaded in _shown(group)),
    )


def table(page: Page) -> str:
    """The rows of the table of methods on the report's page, as plain text."""
    lines = []
    for comparison in page.comparisons:
        lines.append(page.title if len(page.comparisons) == 1 else comparison.title)
        width = max(len(row.method) for row in comparison.rows)
        columns = [_column("success", [row.success for row in comparison.rows])] if comparison.has_success else []
        if comparison.score_name:
            columns.append(_column("score", [row.score for row in comparison.rows]))
            lines.append(comparison.score_name)
        head, *cells = zip(*columns, strict=True)
        lines.append(f"{'method':<{width}}  {' '.join(head)} {'steps':>8} {'tokens':>8} {'cost':>9} {'runs':>5}")
        for row, given in zip(comparison.rows, cells, strict=True):
            cost = "unknown" if row.dollars is None else f"${row.dollars:.4f}"
            lines.append(
                f"{row.method:<{width}}  {' '.join(given)} {row.primitive_steps:>8,.0f} {row.tokens:>8,.0f} "
                f"{cost:>9} {row.runs:>5}"
            )
    return "\n".join(lines)


def _column(name: str, intervals: Sequence[Interval | None]) -> list[str]:
    """The title and the cells of a column of a text table, padded to the same width. If all cells of a column have the
    same kind of interval, the column's title says what the brackets mean; otherwise each cell says it.
    """
    levels = {i.level for i in intervals if i is not None and i.level is not None}
    mixed = len(levels) > 1
    title = name if len(levels) != 1 else f"{name} (range)" if levels == {1.0} else f"{name} (95 %)"
    cells = ["-" if i is None else f"{i}{' (range)' * (mixed and i.level == 1.0)}" for i in intervals]
    width = max(25 if mixed else 19, *map(len, cells))
    return [f"{cell:<{width}}" for cell in (title, *cells)]


def _comparison(title: str, runs: Sequence[LoadedRun]) -> Comparison:
    groups = _methods(runs)
    scored = [loaded.outcome for loaded in runs if loaded.outcome.score is not None]
    name = score_name(scored[0]) if scored else ""
    judged = [loaded for loaded in runs if loaded.outcome.has_success]
    has_success = bool(judged) or not scored
    # Runs of one task may have a success or a score: design() may be called with success= or with score=.
    alike = {id(loaded) for loaded in (judged or runs)}
    drawn = {
        method: shown
        for method, group in groups.items()
        if (shown := [loaded.curve for loaded in group if id(loaded) in alike])
    }
    return Comparison(
        title=title,
        rows=tuple(_row(method, group) for method, group in groups.items()),
        curves=curves.svg(curves.draw(drawn, score="" if has_success else name)),
        score_name=name,
        has_success=has_success,
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
    scores = [score for outcome in outcomes if (score := outcome.mean_score) is not None and math.isfinite(score)]
    rates = [outcome.success_rate for outcome in outcomes if outcome.has_success]
    return MethodRow(
        method=method,
        runs=len(runs),
        success=spread(rates) if rates else None,
        score=spread(scores) if scores else None,
        primitive_steps=float(np.mean([float(loaded.run.record.steps.total) for loaded in runs])),
        steps_per_success=sum(outcome.primitive_steps for outcome in outcomes) / wins if wins else None,
        tokens=float(np.mean([float(tokens) for tokens, _ in bills])),
        dollars=float(np.mean(known)) if len(known) == len(bills) else None,
    )


def _shown(runs: Sequence[LoadedRun]) -> Iterator[LoadedRun]:
    """The runs that the page shows in detail: the best run of each method whose plans a language model wrote. If the
    page compares only a single run, the page always shows this run in detail.
    """
    for group in _methods(runs).values():
        best = max(group, key=lambda loaded: loaded.outcome.rank)
        if len(runs) == 1 or best.graph is not None or any(i.rehearsals for i in best.iterations):
            yield best


def _story(loaded: LoadedRun) -> Story:
    record, report = loaded.run.record, loaded.report
    tokens, dollars = loaded.bill
    method = next(iter(methods([loaded.run])))
    return Story(
        title=f"{method}, seed {record.seed}",
        task=record.task,
        **described(record.config),
        seed=record.seed,
        status=record.status,
        reason=record.reason,
        model=", ".join(sorted({e.reply.model for e in loaded.exchanges})),
        iterations=loaded.iterations,
        best=best_of(loaded.iterations).index if loaded.iterations else None,
        outcome=report.evaluation if report else None,
        dead_loop_rate=report.dead_loop_rate if report else None,
        tokens=tokens,
        dollars=dollars,
        clips=tuple(loaded.clips()),
        versions=record.versions,
        steps=record.steps.total,
        graph=_graph(loaded),
    )


def _graph(loaded: LoadedRun) -> GraphStory | None:
    if loaded.graph is None:
        return None
    return GraphStory(
        thoughts=loaded.graph.graph.thoughts,
        drawing=graph.markup(graph.drawing(graph.boxes(loaded.graph))),
        evidence=loaded.graph.evidence,
        parts=tuple(_part(*part) for part in loaded.parts()),
    )


def _part(node: SubGoal, iterations: tuple[Iteration, ...], tokens: int) -> PartStory:
    facts = [f"needs {', '.join(node.needs)}"] if node.needs else []
    facts += [f"kind {node.kind}", f"horizon {node.horizon:,}", *(["standing"] if node.standing else [])]
    return PartStory(
        name=node.name,
        goal=node.goal,
        facts="; ".join(facts),
        done=node.done,
        iterations=iterations,
        best=best_of(iterations).index if iterations else None,
        steps=sum(i.steps.total for i in iterations),
        tokens=tokens,
    )
