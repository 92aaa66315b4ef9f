"""Several runs of a sweep at once, each a process of its own: ``hydra/launcher=processes``, or ``rlgpt train -m -j N``.

Hydra takes launchers from the namespace package ``hydra_plugins`` alone, so this module lies there.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher

ConfigStore.instance().store(
    group="hydra/launcher",
    name="processes",
    node={"_target_": "hydra_plugins.rlgpt_processes.Processes", "jobs": 2},
    provider="rlgpt",
)


class Processes(Launcher):
    """Every job is ``rlgpt train`` with its own overrides; what it prints goes to ``output.txt`` in its folder.

    :param jobs: how many run at once.
    """

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._config: Any = None

    def setup(self, *, hydra_context: Any, task_function: Any, config: Any) -> None:
        self._config = config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> list[JobReturn]:
        """Run the jobs.

        :returns: Hydra's ``JobReturn`` of each, whose value is the exit status.
        """
        with ThreadPoolExecutor(self.jobs) as pool:
            numbered = enumerate(job_overrides, initial_job_idx)
            waiting = [pool.submit(self._run, number, list(overrides)) for number, overrides in numbered]
            try:
                return [done.result() for done in waiting]
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def _run(self, number: int, overrides: list[str]) -> JobReturn:
        folder = (Path(self._config.hydra.sweep.dir) / str(number)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        tell = f"[{number}] {' '.join(overrides)}"
        print(f"{tell}: begins", file=sys.stderr, flush=True)
        command = [sys.executable, "-m", "rlgpt", "train", *overrides, f"hydra.run.dir={folder}"]
        with (folder / "output.txt").open("w") as out:
            status = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, env=os.environ).returncode
        if status:
            last = (folder / "output.txt").read_text().strip().rpartition("\n")[2]
            print(f"{tell}: ended with status {status}: {last}", file=sys.stderr, flush=True)
        else:
            print(f"{tell}: finished", file=sys.stderr, flush=True)
        return JobReturn(overrides=overrides, status=JobStatus.COMPLETED, _return_value=status)
