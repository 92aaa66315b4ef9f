"""From run folders to a page and a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rlgpt.domain import Evaluation
from rlgpt.errors import RunError
from rlgpt.files import write_atomic
from rlgpt.llm.exchange import Exchange, read_exchanges
from rlgpt.report import curves, html
from rlgpt.report.stats import spread
from rlgpt.report.values import Clip, Comparison, MethodRow, Page, Story
from rlgpt.runs import Run

METHODS = {
    "slow_fast_critic": "RL-GPT",
    "slow_fast": "RL-GPT without critic",
    "one_agent": "RL-GPT as one agent",
    "rl_only": "pure RL",
    "code_only": "pure code",
    "primitives_only": "PPO over primitives",
    "untrained": "untrained extension",
}
"""What the kinds of agents are called, in the order in which a table lists them."""

_NOT_A_METHOD = ("seed", "folder", "task", "video", "report_episodes")
_WORDS = ("call", "docs", "labels", "observations", "primitives")
"""Of a run of ``design()``: too long for a name, or told twice."""
_LONGEST = 40
"""Characters of a setting in a method's name; twice as many of them all."""
_CLIP_BYTES = 8 << 20


def find(folders: Sequence[Path]) -> list[Path]:
    """The runs in ``folders``: each is a run itself, or holds some (a sweep's folder).

    :raises RunError: a folder holds none.
    """
    runs: list[Path] = []
    for folder in folders:
        found = [folder] if (folder / "run.json").is_file() else sorted(p.parent for p in folder.rglob("run.json"))
        if not found:
            raise RunError(f"there is no run at {folder}: give a folder that holds run.json, or a sweep's folder.")
        runs += [f for f in found if f not in runs]
    return runs


def write_page(folders: Sequence[Path], out: Path, *, note: str = "") -> Page:
    """Write the page that compares the runs and tells the best one of each method that plans.

    :raises RunError: no run, a corrupt one, or none with a finished iteration.
    """
    page = page_of([Run.open(folder) for folder in find(folders)], note=note)
    write_atomic(out, html.render(page))
    return page


def page_of(runs: Sequence[Run], *, note: str = "") -> Page:
    """The page of these runs; those without a finished iteration are left out and counted in its note."""
    told = [run for run in runs if run.iterations()]
    if not told:
        raise RunError("no run here has finished an iteration yet: go on with rlgpt resume RUN.")
    if len(told) < len(runs):
        note = f"{note} {len(runs) - len(told)} runs have no finished iteration and are left out.".strip()
    by_task: dict[str, list[Run]] = {}
    for run in told:
        by_task.setdefault(run.record.task, []).append(run)
    single = len(by_task) == 1
    return Page(
        title=next(iter(by_task)) if single else f"{len(by_task)} tasks",
        note=note,
        comparisons=tuple(_comparison("Methods" if single else task, group) for task, group in by_task.items()),
        stories=tuple(_story(run) for group in by_task.values() for run in _worth_telling(group)),
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


def _comparison(title: str, runs: Sequence[Run]) -> Comparison:
    groups = methods(runs)
    drawn = {name: [curves.curve(run.iterations()) for run in group] for name, group in groups.items()}
    return Comparison(
        title=title,
        rows=tuple(_row(name, group) for name, group in groups.items()),
        curves=curves.svg(curves.draw(drawn)),
    )


def methods(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Runs that differ in seed alone, by what their method is called.

    Where two methods share a name, what their configurations differ in is added to it; where that is too long for a
    name or is words (docs, a goal), the folder of the method's first run.
    """
    flat = [_settings(run.record.config) for run in runs]
    names = [METHODS.get(str(f.get("agents.kind")), "a run") for f in flat]
    order = list(METHODS.values())
    groups: dict[str, list[Run]] = {}
    for name in sorted(set(names), key=lambda n: order.index(n) if n in order else len(order)):
        alike = [(f, run) for f, n, run in zip(flat, names, runs, strict=True) if n == name]
        keys = sorted({k for f, _ in alike for k in f})
        differ = [k for k in keys if len({repr(f.get(k)) for f, _ in alike}) > 1]
        apart: dict[str, list[tuple[dict[str, Any], Run]]] = {}
        for f, run in alike:
            apart.setdefault(repr([f.get(k) for k in differ]), []).append((f, run))
        told = [_told(members[0][0], differ) for members in apart.values()]
        for more, members in zip(told, apart.values(), strict=True):
            first = members[0][1].folder
            short = more if more and len(more) <= 2 * _LONGEST and told.count(more) == 1 else _cut(first.name)
            called = f"{name} ({short})" if differ else name
            if called in groups:
                called = f"{name} ({_cut(first.parent.name)}/{_cut(first.name)})"
            groups.setdefault(called, []).extend(run for _, run in members)
    return groups


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """What tells one method from another, flat; the words of a ``design()`` count, and are never told."""
    design = config.get("design")
    if not isinstance(design, Mapping):
        return {k: v for k, v in _leaves(config) if k.split(".")[0] not in _NOT_A_METHOD}
    kept = {k: v for k, v in design.items() if k not in (*_NOT_A_METHOD, *_WORDS, "agents")}
    words = {k: design.get(k) for k in ("task", *_WORDS) if k != "call"}
    return {**dict(_leaves(kept)), "agents.kind": design.get("agents"), "words": words}


def _told(settings: Mapping[str, Any], differ: Sequence[str]) -> str:
    return ", ".join(_cut(f"{k}={settings.get(k)}") for k in differ if k != "words")


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _row(method: str, runs: Sequence[Run]) -> MethodRow:
    judged = [outcome(run) for run in runs]
    wins = sum(e.success for j in judged for e in j.episodes)
    bills = [bill(read_exchanges(run.folder / "llm.jsonl")) for run in runs]
    known = [dollars for _, dollars in bills if dollars is not None]
    return MethodRow(
        method=method,
        runs=len(runs),
        success=spread([j.success_rate for j in judged]),
        primitive_steps=float(np.mean([run.record.steps.total for run in runs])),
        steps_per_success=sum(j.primitive_steps for j in judged) / wins if wins else None,
        tokens=float(np.mean([tokens for tokens, _ in bills])),
        dollars=float(np.mean(known)) if len(known) == len(bills) else None,
    )


def outcome(run: Run) -> Evaluation:
    """What the run reports, on fresh seeds; before there is a report, its best selection."""
    report = run.report()
    if report is not None:
        return report.sampled
    iterations = run.iterations()
    return iterations[run.record.best or 0].evaluation


def bill(exchanges: Sequence[Exchange]) -> tuple[int, float | None]:
    """Tokens and dollars of a run's exchanges: what replayed ones cost when they were recorded counts too.

    Dollars are None where the price of any is unknown.
    """
    usages = [e.reply.usage for e in exchanges]
    dollars = [u.dollars for u in usages]
    return sum(u.tokens for u in usages), None if None in dollars else sum(d for d in dollars if d is not None)


def _worth_telling(runs: Sequence[Run]) -> Iterator[Run]:
    """Of each method whose plan a language model wrote, the run with the highest success; a lone run always."""
    for group in methods(runs).values():
        best = max(group, key=lambda run: outcome(run).success_rate)
        if len(runs) == 1 or any(i.rehearsals for i in best.iterations()):
            yield best


def _story(run: Run) -> Story:
    record, report = run.record, run.report()
    exchanges = read_exchanges(run.folder / "llm.jsonl")
    tokens, dollars = bill(exchanges)
    method = next(iter(methods([run])))
    return Story(
        title=f"{method}, seed {record.seed}",
        task=record.task,
        seed=record.seed,
        status=record.status,
        reason=record.reason,
        model=", ".join(sorted({e.reply.model for e in exchanges})),
        iterations=run.iterations(),
        best=record.best,
        outcome=report.sampled if report else None,
        greedy=report.greedy if report else None,
        dead_loop_rate=report.dead_loop_rate if report else None,
        tokens=tokens,
        dollars=dollars,
        clips=tuple(_clips(run.folder)),
        versions=record.versions,
    )


def _clips(folder: Path) -> Iterator[Clip]:
    for path in sorted((folder / "videos").glob("*.mp4")):
        if path.stat().st_size <= _CLIP_BYTES:
            caption = "A fresh episode of the best iteration; the active action stands at the upper edge."
            yield Clip(caption=caption, mp4=path.read_bytes())


def _leaves(node: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(node, Mapping) and node:
        for key, value in node.items():
            yield from _leaves(value, f"{prefix}.{key}" if prefix else str(key))
    else:
        yield prefix, node
