"""The command ``rlgpt resume`` continues a run. A resumed run reads the results of finished stages from the run folder,
and sends no answered request again.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rlgpt.cli import overrides as checks
from rlgpt.cli.compose import changed
from rlgpt.cli.hydra_app import opened
from rlgpt.config.approval import require_approval
from rlgpt.config.run_config import RunConfig
from rlgpt.config.runs import KEPT, config_of
from rlgpt.errors import ConfigError
from rlgpt.plugin import PluginManager
from rlgpt.runs import Run

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override


def main(arguments: argparse.Namespace) -> int:
    """Continue a run, optionally with changed settings."""
    folder, manager = Path(arguments.run), PluginManager()
    there = Run.open(folder)
    config = config_of(there)
    if arguments.overrides:
        config = with_overrides(config, arguments.overrides, manager)
    require_approval(there, config, checks.keys_of(arguments.overrides), manager)
    from rlgpt.cli.start import go_on

    return go_on(config, folder, manager).exit_status


def with_overrides(config: RunConfig, overrides: Sequence[str], manager: PluginManager) -> RunConfig:
    """The configuration of an existing run, changed by the user's overrides.

    :raises ConfigError: an override changes a setting that cannot change in an existing run, or its value is not valid.
    """
    for override in map(checks.parse, overrides):
        if (key := override.key_or_group.partition(".")[0]) in KEPT and not _is_kept(config, override):
            raise ConfigError(f"an existing run cannot change its {key}: start a new run instead.")
    with opened(manager) as app:
        checked = checks.check(overrides, app.config_loader, manager)
        config = changed(config, app.config_loader, overrides, checked)
    keys = [override.key_or_group.partition(".") for override in map(checks.parse, overrides)]
    now = {name for group, _, name in keys if group == "hyperparameters" and name}
    fixed = tuple(sorted({*(config.fixed_hyperparameters or ()), *now}))
    return config.model_copy(update={"fixed_hyperparameters": fixed})


def _is_kept(config: RunConfig, override: Override) -> bool:
    """Whether an override repeats a setting of the task with the value that the run already has. In this way, a user
    approves a setting of a run that somebody else made.
    """
    group, _, name = override.key_or_group.partition(".")
    known = group == "task_settings" and name in config.task_settings and not override.is_sweep_override()
    return known and bool(config.task_settings[name] == override.value())
