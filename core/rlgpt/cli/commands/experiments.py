"""The command ``rlgpt experiments`` lists the experiments that are studies, or shows one of these experiments."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rlgpt.cli.compose import compose, plain, run_config
from rlgpt.cli.hydra_app import opened
from rlgpt.cli.overrides import options_of
from rlgpt.cli.studies import folder_of, taken
from rlgpt.errors import RlgptError, UnknownNameError
from rlgpt.plugin import PluginManager
from rlgpt.studies.plan import is_done, planned, recorded
from rlgpt.studies.study import Study
from rlgpt.terminal import say

NOT_MEASURED = "not measured"


def main(arguments: argparse.Namespace) -> int:
    """List all experiments, or show one experiment with its tables. If an experiment cannot be read, the command prints
    the error to stderr.

    :raises UnknownNameError: no experiment has the given name.
    """
    manager = PluginManager()
    with opened(manager) as app:
        names = sorted(options_of(app.config_loader, "experiment"))
        if arguments.name is not None and arguments.name not in names:
            raise UnknownNameError("experiment", arguments.name, names)
        chosen = names if arguments.name is None else [arguments.name]
        settings, status = [], 0
        for name in chosen:
            try:
                values = plain(compose(app.config_loader, [f"experiment={name}"]))
                study = taken(values)
                if study is None:
                    settings.append(name)
                    continue
                for line in described(name, study, values, manager):
                    say(line)
                if arguments.name is not None:
                    _show(name, study, values, manager)
            except RlgptError as error:
                say(f"rlgpt: experiment {name}: {error}", sys.stderr)
                status = error.exit_status
    if settings:
        say(f"Settings for one run: experiment={', experiment='.join(settings)}")
    return status


def described(name: str, study: Study, values: Mapping[str, Any], manager: PluginManager) -> Iterator[str]:
    """Lines of text about an experiment, with its purpose, its recordings, its cost and its progress."""
    folder = folder_of(study, name)
    runs = list(planned(study, values, folder, manager))
    done = sum(r.runnable and is_done(r) for r in runs)
    steps = sum(r.config.budget for r in runs)
    counts = f"{len(study.tasks)} tasks, {len(study.all_methods)} methods, {study.seeds} seeds"
    yield f"{name}: {study.title}"
    yield f"  {study.about}"
    yield f"  runs: {len(runs)} ({counts}), at most {steps:,} primitive steps in all"
    yield from _recordings(study, values, manager)
    yield f"  cost: {study.cost or NOT_MEASURED}"
    possible = sum(r.runnable for r in runs)
    yield f"  state: {done} of {len(runs)} runs done in {folder}, {possible - done} can be done now"
    yield f"  command: rlgpt train experiment={name}"
    yield ""


def _recordings(study: Study, values: Mapping[str, Any], manager: PluginManager) -> Iterator[str]:
    """A line of text for each kind of agents, which says how many recordings each task has for these agents."""
    kinds: dict[str, dict[str, str]] = {}
    for found in recorded(study, values, manager):
        if isinstance(found, str):
            yield f"  {found}"
            continue
        label = found.task if found.task not in kinds.get(str(found.need), {}) else f"{found.task} ({found.method})"
        kinds.setdefault(str(found.need), {})[label] = str(len(found.paths) or "none")
    for kind, tasks in kinds.items():
        yield f"  recordings of {kind}: {'; '.join(f'{task}: {count}' for task, count in tasks.items())}"


def _show(name: str, study: Study, values: Mapping[str, Any], manager: PluginManager) -> None:
    from rlgpt.cli.run_study import absences, advice, results_of
    from rlgpt.studies.tables import render

    run_config(values)
    runs = list(planned(study, values, Path(folder_of(study, name)), manager))
    for line in advice(study, runs, name):
        say(line)
    say("")
    say(render(study, results_of(runs), absences(runs, {})))
