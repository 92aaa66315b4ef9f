"""The command ``rlgpt train`` starts one run, or a sweep of runs."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rlgpt.cli.compose import compose, plain, run_config
from rlgpt.cli.hydra_app import opened
from rlgpt.cli.overrides import check, experiment_of, parse, search_path
from rlgpt.cli.studies import refuse_conflicts, taken
from rlgpt.plugin import PluginManager


def main(arguments: argparse.Namespace) -> int:
    """Check the overrides, compose the configuration, and start the run or the sweep.

    :returns: the exit status of the run, or the highest exit status of the runs of a sweep or a study.
    """
    return launch(arguments, {})


def launch(arguments: argparse.Namespace, given: Mapping[str, Any]) -> int:
    """Start a run or a sweep, for the commands ``train`` and ``design``.

    :param given: values for keys of the configuration, which replace the defaults.
    """
    manager = PluginManager()
    overrides = list(arguments.overrides)
    if arguments.jobs is not None:
        overrides = ["executor=processes", f"executor.jobs={arguments.jobs}", *overrides]
    with opened(manager, given, search_path(overrides)) as app:
        checked = check(overrides, app.config_loader, manager, multirun=arguments.multirun or arguments.cfg)
        single = [text for text in checked if not parse(text).is_sweep_override()]
        composed = compose(app.config_loader, single)
        values = plain(composed)
        study = taken(values)
        config = run_config(values)
        if study is not None:
            refuse_conflicts(study, overrides)
        if arguments.cfg:
            _print(config, manager)
            return 0
        if arguments.multirun and study is None:
            from rlgpt.cli.sweep import sweep

            return sweep(app, checked, Path(composed.hydra.sweep.dir))
        folder = config.folder or str(composed.hydra.run.dir)
    if study is not None:
        from rlgpt.cli.run_study import run_study

        return run_study(study, values, experiment_of(overrides), manager)
    from rlgpt.cli.start import start

    return start(config.model_copy(update={"folder": str(Path(folder).resolve())}), manager).exit_status


def _print(config: Any, manager: PluginManager) -> None:
    from rlgpt.cli.show import show
    from rlgpt.config.components import factory_of
    from rlgpt.config.environment import Objects, place_of
    from rlgpt.config.settings import complete

    if config.task or config.environment:
        place = place_of(config, manager, Objects())
        config = complete(config, place.plugin, place.task, manager)
    print(show(config, factory_of("trainer", config.trainer, manager)))
