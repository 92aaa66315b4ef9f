"""The Hydra launcher of ``rlgpt train -m``, which runs the jobs of a sweep on the executor that the configuration
names.

This launcher is in a module of the namespace package ``hydra_plugins``, because Hydra finds launchers only in this
package.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher

ConfigStore.instance().store(
    group="hydra/launcher",
    name="rlgpt",
    node={"_target_": "hydra_plugins.rlgpt_launcher.RlgptLauncher"},
    provider="rlgpt",
)


class RlgptLauncher(Launcher):
    """Passes the jobs of a sweep to an executor."""

    def __init__(self) -> None:
        self._context: Any = None
        self._config: Any = None

    def setup(self, *, hydra_context: Any, task_function: Any, config: Any) -> None:
        self._context, self._config = hydra_context, config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> list[JobReturn]:
        """Run the jobs.

        :returns: a ``JobReturn`` of Hydra for each job. The return value in a ``JobReturn`` is the objective of the
            job's run, or NaN if the run has no objective.
        """
        from rlgpt.cli.sweep import run_jobs

        values = run_jobs(self._config, self._context.config_loader, job_overrides, initial_job_idx)
        return [
            JobReturn(overrides=given, status=JobStatus.COMPLETED, _return_value=value)
            for given, value in zip(job_overrides, values, strict=True)
        ]
