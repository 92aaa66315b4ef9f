"""``rlgpt resume``: finished stages are read, and no request that was paid for is repeated."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rlgpt.cli import overrides as checks
from rlgpt.cli.compose import changed
from rlgpt.cli.hydra_app import opened
from rlgpt.config.run_config import RunConfig
from rlgpt.config.runs import KEPT, config_of
from rlgpt.errors import ConfigError
from rlgpt.plugin import PluginManager
from rlgpt.runs import Run


def main(arguments: argparse.Namespace) -> int:
    """Continue a run, perhaps with settings changed."""
    folder, manager = Path(arguments.run), PluginManager()
    config = config_of(Run.open(folder))
    if arguments.overrides:
        config = with_overrides(config, arguments.overrides, manager)
    from rlgpt.cli.start import go_on

    return go_on(config, folder, manager).exit_status


def with_overrides(config: RunConfig, overrides: Sequence[str], manager: PluginManager) -> RunConfig:
    """The configuration of a run that exists, changed.

    :raises ConfigError: a run keeps this setting for its whole life, or a value cannot be used.
    """
    for override in map(checks.parse, overrides):
        if (key := override.key_or_group.partition(".")[0]) in KEPT:
            raise ConfigError(f"a run keeps its {key} for its whole life: start a new run instead.")
    with opened(manager) as app:
        checked = checks.check(overrides, app.config_loader, manager)
        return changed(config, app.config_loader, overrides, checked)
