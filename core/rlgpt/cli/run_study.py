"""Runs the study of an experiment, and writes its tables."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rlgpt.cli.jobs import work
from rlgpt.cli.studies import folder_of
from rlgpt.config.components import make
from rlgpt.config.run_config import RunConfig
from rlgpt.domain.validated import validated
from rlgpt.executors import Executor, JobResult, RunJob
from rlgpt.files import write_atomic
from rlgpt.plugin import PluginManager
from rlgpt.runs import Run
from rlgpt.studies.plan import Planned, check_existing, is_done, planned
from rlgpt.studies.result import CellResult, result_of
from rlgpt.studies.study import Cell, Study
from rlgpt.studies.tables import render
from rlgpt.terminal import say

TABLES = "tables.md"


def run_study(study: Study, values: Mapping[str, Any], name: str, manager: PluginManager) -> int:
    """Do the runs of a study that have no result yet, then print the study's tables and write them into its folder.

    :param values: the part of the configuration that all runs of the study share.
    :param name: the name of the experiment.
    :returns: 0, or the highest exit status among the runs without a report.
    """
    folder = folder_of(study, name)
    runs = list(planned(study, values, folder, manager))
    check_existing(runs, manager)
    for line in advice(study, runs, name):
        say(line, sys.stderr)
    todo = [run for run in runs if run.runnable and not is_done(run)]
    left = sum(not run.runnable for run in runs)
    say(
        f"{name}: {len(runs)} runs: {len(runs) - len(todo) - left} done, {len(todo)} to do, {left} not possible",
        sys.stderr,
    )
    jobs = [RunJob(i, f"{r.cell.label} seed={r.cell.seed}", r.folder, r.config.plain()) for i, r in enumerate(todo)]
    failed: dict[Cell, JobResult] = {}
    shared = validated(RunConfig, values)
    try:
        with make("executor", shared.executor, Executor, manager, work) as executor:  # type: ignore[type-abstract]
            for job in jobs:
                executor.submit(job)
            for job, outcome in executor.as_completed():
                result = JobResult.of(outcome)
                if result.exit_status and result.objective is None:
                    failed[todo[job.number].cell] = result
    except KeyboardInterrupt as interrupt:
        raise type(interrupt)("interrupted; to continue, repeat the command") from None
    _finish(study, runs, failed, folder)
    return max((result.exit_status for result in failed.values()), default=0)


def advice(study: Study, runs: Iterable[Planned], name: str) -> list[str]:
    """Lines of text about the runs of the study that are not possible on this machine. A line says which recording or
    plugin is missing, and which command makes the recording.
    """
    fixed = {method for method, settings in study.all_methods.items() if "kind" in _mapping(settings.get("llm"))}
    lines: dict[str, None] = {}
    for run in runs:
        if run.uninstalled:
            lines[f"not run: {run.uninstalled}."] = None
        elif run.lacks is not None:
            given = " ".join(f"task_settings.{key}={value}" for key, value in run.config.task_settings.items())
            chosen = f"experiment={name} 'study.only={run.cell.label}'"
            if run.cell.method in fixed:
                chosen = f"task={run.config.task} {given}".rstrip()
            command = f"rlgpt train {chosen} llm=record llm.model=PROVIDER/MODEL"
            lines[
                f"not run: {run.cell.label}: there is no recording of {run.lacks} for {run.config.task}. Make it with "
                f"your model: {command}"
            ] = None
    return list(lines)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def results_of(runs: Iterable[Planned]) -> dict[Cell, CellResult]:
    """The results of the study's runs that have a report."""
    found = {r.cell: result_of(Run.open(r.folder)) for r in runs if Run.exists(r.folder)}
    return {cell: result for cell, result in found.items() if result is not None}


def absences(runs: Iterable[Planned], failed: Mapping[Cell, JobResult]) -> dict[Cell, str]:
    """The reason, as text, for each run of the study that has no result."""
    return {
        **{run.cell: "no recording" if run.lacks else "not installed" for run in runs if not run.runnable},
        **dict.fromkeys(failed, "failed"),
    }


def _finish(study: Study, runs: Sequence[Planned], failed: Mapping[Cell, JobResult], folder: Path) -> None:
    results = results_of(runs)
    text = render(study, results, absences(runs, failed))
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(folder / TABLES, text)
    say(text)
    say(f"tables {folder / TABLES}")
    if results:
        from rlgpt.report.write import write_page

        done = [run.folder for run in runs if run.cell in results]
        write_page(done, folder / "report.html", title=study.title, note=study.about)
        say(f"report {folder / 'report.html'}")
