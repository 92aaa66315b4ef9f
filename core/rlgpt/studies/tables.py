"""Renders the tables of a study in Markdown, with the results of the runs and the paper's figures beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from rlgpt.report.stats import spread
from rlgpt.studies.result import Bill, CellResult, Part, Repairs, pooled
from rlgpt.studies.study import Cell, Study, Table

Results = Mapping[Cell, CellResult]

DIRECTION = (
    "The columns *paper* have figures that the paper or its sources give for other worlds, budgets and models. They "
    "show a direction. They are not a comparison."
)


def render(study: Study, results: Results, absent: Mapping[Cell, str]) -> str:
    """All tables of the study as Markdown.

    :param results: a dict from a run to its result, for the runs that have a report.
    :param absent: a dict from a run to the reason why it has no result, in a few words.
    """
    parts = [f"# {study.title}", study.about]
    for name in study.tables:
        parts += _RENDERED[name](study, results, absent)
    parts += _notes(study, results)
    return "\n\n".join(parts) + "\n"


def success(study: Study, results: Results, absent: Mapping[Cell, str]) -> list[str]:
    """The table of results, with a line for each task, the paper's columns, and a column for each method."""
    paper = _paper_columns(study)
    head = ["task", *(f"paper: {c}" for c in paper), *study.all_methods]
    lines = []
    for task in study.tasks:
        known = study.paper.get(task, {})
        ours = [_outcome(study, task, method, results, absent) for method in study.all_methods]
        lines.append([task, *(_number(known.get(c)) for c in paper), *ours])
    return [markdown(head, lines), _means("Success rate, or mean score, on fresh seeds", study)]


def iterations(study: Study, results: Results, absent: Mapping[Cell, str]) -> list[str]:
    """The table of iterations, with a line for each task and method, and a column for each iteration."""
    count = max((len(r.by_iteration) for r in results.values()), default=0)
    if not count:
        return ["No run with iterations has a result yet."]
    lines = []
    for task, method in _groups(results):
        runs = _of(results, task, method)
        cells = []
        for index in range(count):
            known = [f for r in runs if index < len(r.by_iteration) and (f := r.by_iteration[index]) is not None]
            cells.append(_spread(known) + (f" ({len(known)})" if known else ""))
        lines.append([task, method, *cells])
    text = (
        "Success rate, or mean score, of each iteration on the selection seeds; in brackets, the number of runs that "
    )
    text += "had this iteration. A run ends early if an iteration succeeds."
    return ["## By iteration", markdown(["task", "method", *(f"iteration {i}" for i in range(count))], lines), text]


def models(study: Study, results: Results, absent: Mapping[Cell, str]) -> list[str]:
    """The table of language models, with a line for each method. Tokens and dollars by role and iteration follow."""
    lines = []
    for method in study.all_methods:
        runs = [r for c, r in results.items() if c.method == method]
        if not runs:
            why = next((text for cell, text in absent.items() if cell.method == method), "not run")
            lines.append([method, why, *[""] * 5])
            continue
        repairs = sum((r.repairs for r in runs), Repairs())
        loops, bill = pooled(r.dead_loops for r in runs), sum((r.bill for r in runs), Bill())
        lines.append(
            [
                method,
                _spread([r.outcome for r in runs if r.outcome is not None]),
                f"{_number(repairs.rate)} ({repairs.repaired} of {repairs.failed})",
                f"{_number(loops.rate)} ({loops.repeated} of {loops.repairs})",
                f"{bill.tokens / len(runs):,.0f}",
                _dollars(bill, len(runs)),
                str(len(runs)),
            ]
        )
    head = ["model", "success", "repaired", "dead loops", "tokens a run", "dollars a run", "runs"]
    text = (
        "*Repaired*: of the coded actions whose first version failed, the share whose last version works. *Dead "
        "loops*: of all repairs, the share that failed in the same way as before. Replayed replies count with the "
        "tokens and dollars of their recording."
    )
    return ["## Models", markdown(head, lines), text, *_by_role(study, results)]


def sub_goals(study: Study, results: Results, absent: Mapping[Cell, str]) -> list[str]:
    """The table of sub-goals, with a line for each sub-goal of the runs whose task a planner divided."""
    lines = []
    for task, method in _groups(results):
        runs = [r for r in _of(results, task, method) if r.reached]
        for name in dict.fromkeys(name for r in runs for name in r.reached):
            shares = [r.reached[name] for r in runs if name in r.reached]
            lines.append([task, method, name, _spread(shares), f"{len(shares)} of {len(runs)}"])
    if not lines:
        return ["No run with a graph of sub-goals has a result yet."]
    text = "The share of the report's episodes in which a sub-goal was reached. Each run has its own graph."
    return ["## Sub-goals", markdown(["task", "method", "sub-goal", "reached", "runs with it"], lines), text]


_RENDERED: Mapping[Table, Callable[[Study, Results, Mapping[Cell, str]], list[str]]] = {
    "success": success,
    "iterations": iterations,
    "models": models,
    "sub_goals": sub_goals,
}


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A text table in Markdown, with columns of equal width."""
    cells = [[text.replace("|", "\\|").replace("\n", " ") for text in line] for line in (head, *lines)]
    widths = [max(3, *(len(line[i]) for line in cells)) for i in range(len(head))]
    rows = ["| " + " | ".join(t.ljust(w) for t, w in zip(line, widths, strict=True)) + " |" for line in cells]
    return "\n".join([rows[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *rows[1:]])


def _by_role(study: Study, results: Results) -> Iterator[str]:
    lines = []
    for method in study.all_methods:
        runs = [r for c, r in results.items() if c.method == method]
        total: dict[Part, Bill] = {}
        for run in runs:
            for part, bill in run.bills.items():
                total[part] = total.get(part, Bill()) + bill
        for (role, iteration), bill in sorted(total.items(), key=lambda item: (item[0][1], item[0][0])):
            share = [f"{bill.calls / len(runs):.1f}", f"{bill.tokens / len(runs):,.0f}", _dollars(bill, len(runs))]
            lines.append([method, str(iteration), role, *share])
    if lines:
        yield "Means over the runs of a model, by iteration and role:"
        yield markdown(["model", "iteration", "role", "calls", "tokens", "dollars"], lines)


def _groups(results: Results) -> dict[tuple[str, str], None]:
    return dict.fromkeys((cell.task, cell.method) for cell in results)


def _of(results: Results, task: str, method: str) -> list[CellResult]:
    return [r for c, r in results.items() if (c.task, c.method) == (task, method)]


def _outcome(study: Study, task: str, method: str, results: Results, absent: Mapping[Cell, str]) -> str:
    runs = _of(results, task, method)
    if not runs:
        return next((why for c, why in absent.items() if (c.task, c.method) == (task, method)), "not run")
    known = [r.outcome for r in runs if r.outcome is not None]
    return _spread(known) + (f" ({len(known)} of {study.seeds} seeds)" if len(known) < study.seeds else "")


def _notes(study: Study, results: Results) -> Iterator[str]:
    if study.paper:
        yield DIRECTION
    if study.source:
        yield study.source
    names = sorted({name for r in results.values() for name in r.models})
    if names:
        yield f"Language models that replied: {', '.join(names)}."
    early = [r.stopped for r in results.values() if r.stopped]
    if early:
        yield f"{len(early)} of {len(results)} runs ended early, for example: {early[0]}"


def _means(what: str, study: Study) -> str:
    many = f" Each figure is the interquartile mean over {study.seeds} seeds with its 95 % interval." * (
        study.seeds > 4
    )
    return f"{what}.{many} With fewer than five runs, the brackets have the range."


def _paper_columns(study: Study) -> list[str]:
    return list(dict.fromkeys(column for figures in study.paper.values() for column in figures))


def _spread(values: Sequence[float]) -> str:
    return str(spread(values)) if values else "-"


def _number(value: float | str | None) -> str:
    return "-" if value is None else value if isinstance(value, str) else f"{value:.2f}"


def _dollars(bill: Bill, runs: int) -> str:
    return "unknown" if bill.dollars is None else f"{bill.dollars / runs:.4f}"
