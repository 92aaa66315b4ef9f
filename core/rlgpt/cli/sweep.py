"""Runs sweeps. Hydra expands the overrides of a sweep into jobs, and an executor runs the jobs."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlgpt.cli.compose import CONFIG, explain, hydra_errors, plain
from rlgpt.cli.jobs import work
from rlgpt.config.components import Component, make
from rlgpt.errors import ConfigError
from rlgpt.executors import Executor, JobResult, RunJob
from rlgpt.plugin import PluginManager
from rlgpt.terminal import say

if TYPE_CHECKING:
    from hydra._internal.hydra import Hydra


class JobValue(float):
    """The objective of a job's run, as the number that Hydra gets; NaN if the run has no objective. A sweeper of Hydra
    may maximise it.

    :ivar exit_status: the exit status of the run.
    """

    exit_status: int = 0

    @classmethod
    def of(cls, result: JobResult) -> JobValue:
        value = cls(math.nan if result.objective is None else result.objective)
        value.exit_status = result.exit_status
        return value


def sweep(app: Hydra, overrides: Sequence[str], folder: Path) -> int:
    """Start one run for each combination of the values that the overrides list. If a run fails, the sweep continues.

    :param folder: the folder of the sweep.
    :returns: the highest exit status of the runs.
    :raises ConfigError: Hydra refuses an override, or the sweep has no runs.
    """
    quoted = str(folder).replace("'", "\\'")
    there = f"hydra.sweep.dir='{quoted}'"
    try:
        batches = app.multirun(CONFIG, hydra_job, [*overrides, there], with_log_configuration=False)
    except hydra_errors() as error:
        raise ConfigError(explain(error)) from error
    except KeyboardInterrupt as interrupt:
        raise type(interrupt)(
            f"interrupted; to continue, repeat the command with {shlex.quote(f'hydra.sweep.dir={folder}')}"
        ) from None
    jobs = list(_jobs(batches))
    if batches is not None and not jobs:
        raise ConfigError("the sweep has no runs, because a setting has no values. Give each setting a value.")
    say(f"sweep {folder}; rlgpt report {shlex.quote(str(folder))} compares its runs")
    return max((job.return_value.exit_status for job in jobs), default=0)


def hydra_job(config: Any) -> JobValue:
    """Run one job of a sweep with the composed configuration ``config``. Launchers of Hydra, such as joblib and
    submitit, call the function ``hydra_job``.
    """
    from hydra.core.hydra_config import HydraConfig

    hydra = HydraConfig.get()
    folder = Path(hydra.runtime.output_dir).resolve()
    return JobValue.of(work(_job(config, 0, hydra.job.override_dirname, folder)))


def run_jobs(master: Any, loader: Any, overrides: Sequence[Sequence[str]], first: int) -> list[JobValue]:
    """Run the jobs of a sweep on the executor that the configuration names.

    :param master: the composed configuration of the sweep.
    :param overrides: a list of overrides for each job.
    :param first: number of the first job.
    """
    part = Component.model_validate(plain(master)["executor"])
    jobs = [_composed(master, loader, list(given), number) for number, given in enumerate(overrides, first)]
    results: dict[int, JobResult] = {}
    with make("executor", part, Executor, PluginManager(), work) as executor:  # type: ignore[type-abstract]
        for job in jobs:
            executor.submit(job)
        for job, result in executor.as_completed():
            results[job.number] = JobResult.of(result)
    return [JobValue.of(results[job.number]) for job in jobs]


def _composed(master: Any, loader: Any, overrides: list[str], number: int) -> RunJob:
    from hydra.core.hydra_config import HydraConfig
    from omegaconf import open_dict

    name = " ".join(text.lstrip("+") for text in overrides)
    config = loader.load_sweep_config(master, overrides)
    with open_dict(config):
        config.hydra.job.id, config.hydra.job.num = str(number), number
    HydraConfig.instance().set_config(config)  # With this, ${hydra:...} can be resolved.
    folder = (Path(config.hydra.sweep.dir) / str(config.hydra.sweep.subdir)).resolve()
    return _job(config, number, name, folder)


def _job(config: Any, number: int, name: str, folder: Path) -> RunJob:
    try:
        return RunJob(number, name, folder, plain(config))
    except ConfigError as error:
        return RunJob(number, name, folder, fault=str(error))


def _jobs(batches: Any) -> Iterator[Any]:
    """The results that a sweeper of Hydra returns, as a flat list. Most sweepers return batches of jobs; a sweeper that
    optimises returns nothing.
    """
    for batch in batches or ():
        yield from batch if isinstance(batch, list | tuple) else (batch,)
