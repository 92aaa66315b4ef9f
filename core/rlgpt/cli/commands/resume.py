"""``rlgpt resume``: finished stages are read, what was paid for is not asked again."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rlgpt.cli import overrides as checks
from rlgpt.cli.hydra_app import opened
from rlgpt.errors import ConfigError, RunError
from rlgpt.plugin import PluginManager
from rlgpt.runs import Run

KEPT = ("task", "task_settings", "seed", "folder")


def main(arguments: argparse.Namespace) -> int:
    """Go on with a run, perhaps with settings changed."""
    folder = Path(arguments.run)
    config = Run.open(folder).record.config
    if not config:
        raise RunError(f"{folder} has no configuration in run.json: it was not started by rlgpt train.")
    if "design" in config:
        return _design(folder, arguments.overrides)
    changed = change(config, arguments.overrides) if arguments.overrides else dict(config)
    from rlgpt.cli.start import go_on

    return go_on(folder, {**changed, "folder": str(folder.resolve())})


def _design(folder: Path, overrides: Sequence[str]) -> int:
    from rlgpt.cli.commands.design import told
    from rlgpt.design.resume import go_on

    pairs = [text.partition("=") for text in overrides]
    for text, (key, _, value) in zip(overrides, pairs, strict=True):
        if not (key and value):
            raise ConfigError(f"cannot read {text!r}: write KEY=VALUE, such as budget=90000.")
    print(told(go_on(folder, {key: value for key, _, value in pairs})))
    return 0


def change(config: Mapping[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """A run's configuration with overrides: groups are taken whole from ``conf/``, keys set one by one.

    :raises ConfigError: a key that a run keeps for its whole life, or a value that cannot be used.
    """
    from hydra.core.object_type import ObjectType
    from omegaconf import OmegaConf

    parsed = [checks.parse(text) for text in overrides]
    for override in parsed:
        if (key := override.key_or_group.partition(".")[0]) in KEPT:
            raise ConfigError(f"a run keeps its {key} for its whole life: start a new run instead.")
    with opened() as app:
        loader = app.config_loader
        groups = [o for o in parsed if loader.get_group_options(o.key_or_group, ObjectType.CONFIG)]
        given = checks.check(overrides, loader, PluginManager(), multirun=False, base=config)
        base = OmegaConf.create(dict(config))
        chosen = checks.compose(loader, [t for t, o in zip(given, parsed, strict=True) if o in groups])
        for override in groups:
            base[override.key_or_group] = chosen[override.key_or_group]
        for override in parsed:
            if override not in groups:
                OmegaConf.update(base, override.key_or_group, override.value(), force_add=True)
    plain = OmegaConf.to_container(base, resolve=True)
    assert isinstance(plain, dict)
    return {str(key): value for key, value in plain.items()}
