"""Starts or resumes a run from the command line, and writes a video and a report at the end of the run."""

from __future__ import annotations

import sys
from pathlib import Path

from rlgpt.config.build import build
from rlgpt.config.run_config import RunConfig
from rlgpt.config.runs import begin, begin_or_resume, new_folder, resume, with_record
from rlgpt.executors import JobResult
from rlgpt.loop import LoopContext
from rlgpt.planner import run
from rlgpt.plugin import PluginManager
from rlgpt.terminal import say


def start(config: RunConfig, manager: PluginManager) -> JobResult:
    """Start a new run. The function checks all settings before it writes a file.

    If the environment has no plugin and the folder already contains a run, this run is resumed.
    """
    name = config.task or (config.environment.id if config.environment else None) or "run"
    folder = Path(config.folder).resolve() if config.folder else new_folder(name).resolve()
    config = config.model_copy(update={"folder": str(folder)})
    context = build(with_record(config, folder), folder, manager)
    return finish((begin if config.environment is None else begin_or_resume)(context, option))


def go_on(config: RunConfig, folder: Path, manager: PluginManager) -> JobResult:
    """Resume an existing run, whose configuration may have changed."""
    return finish(resume(build(config, folder, manager), option))


def option(name: str, value: object = "") -> str:
    """The spelling of an argument of ``design()`` on the command line."""
    return f"--{name} {value}".rstrip()


def finish(context: LoopContext) -> JobResult:
    """Do the inner loop and the outer loop of a run, then write the video and the report.

    :returns: the run's objective (the success rate or the score of the report) and the exit status, which is 0 or that
        of the error that stopped the run.
    """
    folder = context.run.folder
    with context.observer:
        context.observer.message(f"run {folder}")
        try:
            result = run(context)
        except KeyboardInterrupt as interrupt:
            raise type(interrupt)(f"interrupted; continue with: rlgpt resume {folder}") from None
        if result.report is not None:
            _show(context)
    objective = None if result.report is None else result.report.evaluation.objective
    if result.stopped is not None:
        say(f"rlgpt: stopped: {result.stopped}", sys.stderr)
        return JobResult(result.stopped.exit_status, objective, str(result.stopped))
    return JobResult(0, objective)


def _show(context: LoopContext) -> None:
    from rlgpt.cli.film import film
    from rlgpt.report.write import table, write_page

    folder = context.run.folder
    if context.run.record.config.get("video"):
        context.observer.stage("video")
        context.observer.message(f"  {film(context, 'videos/best.mp4')}")
    page = write_page([folder], folder / "report.html")
    say(table(page))
    say(f"report {folder / 'report.html'}")
