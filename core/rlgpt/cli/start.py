"""Starting a run, or going on with one, and what is written at its end."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rlgpt.cli.compose import context, task_of, without_keys
from rlgpt.loop import LoopContext, Result, run
from rlgpt.loop.progress import ProgressReporter, progress_reporter
from rlgpt.loop.reserve import check_budget
from rlgpt.plugin import PluginManager
from rlgpt.runs import Run, RunRecord
from rlgpt.terminal import say


def start(config: Mapping[str, Any]) -> int:
    """A new run in ``config["folder"]``. Nothing is written before every setting was found usable.

    :returns: the exit status.
    """
    manager = PluginManager()
    folder = Path(config["folder"])
    without_keys(config)
    record = RunRecord(task=task_of(config, manager), seed=config["seed"], created="")
    with progress_reporter() as watching:
        first = context(config, Run(folder, record), watching, manager)
        check_budget(first.settings, first.task, first.agents)
        created = Run.create(folder, task=record.task, seed=record.seed, config=config)
        return finish(context(config, created, watching, manager), watching)


def go_on(folder: Path, config: Mapping[str, Any]) -> int:
    """A run that exists, with a configuration that may have changed."""
    manager = PluginManager()
    without_keys(config)
    with progress_reporter() as watching:
        there = Run.open(folder)
        made = context(config, there, watching, manager)
        if dict(there.record.config) != dict(config):
            with there.lock():
                there.update(config=config)
        return finish(made, watching)


def finish(made: LoopContext, watching: ProgressReporter) -> int:
    """Run the loops, then write the video and the page.

    :returns: 0, or the exit status of what stopped the run.
    """
    folder = made.run.folder
    watching.message(f"run {folder}")
    try:
        result = run(made)
    except KeyboardInterrupt:
        say(f"rlgpt: interrupted; go on with: rlgpt resume {folder}", sys.stderr)
        raise
    if result.report is not None:
        _show(made, result, watching)
    if result.stopped is not None:
        say(f"rlgpt: stopped: {result.stopped}", sys.stderr)
        return result.stopped.exit_status
    return 0


def _show(made: LoopContext, result: Result, watching: ProgressReporter) -> None:
    from rlgpt.cli.film import film
    from rlgpt.report.write import table, write_page

    folder = made.run.folder
    if made.run.record.config.get("video"):
        watching.stage("video")
        watching.message(f"  {film(made, 'videos/best.mp4')}")
    page = write_page([folder], folder / "report.html")
    say(table(page))
    say(f"report {folder / 'report.html'}")
