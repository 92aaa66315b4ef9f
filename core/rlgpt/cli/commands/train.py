"""``rlgpt train``: one run, or a sweep of them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rlgpt.cli import overrides as checks
from rlgpt.cli.hydra_app import opened
from rlgpt.errors import ConfigError, RlgptError
from rlgpt.plugin import PluginManager
from rlgpt.terminal import say


def main(arguments: argparse.Namespace) -> int:
    """Check the overrides, let Hydra compose them, run.

    :returns: 0; or the highest exit status among the runs of a sweep, which goes on after a run that fails.
    """
    manager = PluginManager()
    with opened() as app:
        given = checks.check(arguments.overrides, app.config_loader, manager, multirun=arguments.multirun)
        if arguments.cfg:
            _print(checks.compose(app.config_loader, [o for o in given if not checks.parse(o).is_sweep_override()]))
            return 0
        if not arguments.multirun:
            checks.compose(app.config_loader, given)
            return int(app.run(checks.CONFIG, job, given, with_log_configuration=False).return_value)
        if arguments.jobs > 1:
            given = [*given, "hydra/launcher=processes", f"hydra.launcher.jobs={arguments.jobs}"]
        try:
            batches = app.multirun(checks.CONFIG, sweep_job, given, with_log_configuration=False)
        except _hydra_errors() as error:
            raise ConfigError(checks.explain(error)) from error
    return max((int(done.return_value) for done in _jobs(batches)), default=0)


def job(config: Any) -> int:
    """One run, from its composed configuration; an error ends this run, not the sweep it may be part of."""
    from rlgpt.cli.start import start

    folder = None
    try:
        plain = _plain(config)
        folder = Path(plain["folder"])
        return start(plain)
    except RlgptError as error:
        if folder is not None and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
        say(f"rlgpt: {error}", sys.stderr)
        return error.exit_status


def sweep_job(config: Any) -> int:
    """One run of a sweep, announced."""
    from hydra.core.hydra_config import HydraConfig

    say(f"== {HydraConfig.get().job.override_dirname or 'one run'}", sys.stderr)
    return job(config)


def _jobs(batches: Any) -> Iterator[Any]:
    """Sweepers answer with batches of jobs; some (optimisers) with nothing."""
    for batch in batches or ():
        yield from batch if isinstance(batch, list | tuple) else (batch,)


def _plain(config: Any) -> dict[str, Any]:
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        plain = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        raise ConfigError(checks.explain(error)) from error
    assert isinstance(plain, dict)
    plain["folder"] = str(Path(plain["folder"]).resolve())
    return {str(key): value for key, value in plain.items()}


def _print(config: Any) -> None:
    from omegaconf import OmegaConf, open_dict

    with open_dict(config):
        del config["hydra"]
    print(OmegaConf.to_yaml(config, resolve=False), end="")


def _hydra_errors() -> tuple[type[Exception], ...]:
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    return HydraException, OmegaConfBaseException
