"""An executor that runs jobs on a Ray cluster, which consists of this machine or of several machines."""

from __future__ import annotations

import os
import socket
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

import ray
from filelock import FileLock

from rlgpt.errors import ConfigError
from rlgpt.executors.base import Executor, J, Lost, R, T, Work
from rlgpt.executors.output import begins, ended, with_output
from rlgpt.executors.ray_homes import Homes

LOCAL = "local"
CONNECT_SECONDS = 10
"""Maximal time in seconds until the head of a cluster accepts a connection."""

_LOCK = ".job.lock"
"""Name of a file in a job's folder. An execution of the job locks this file."""
_ENVIRONMENT = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
"""Environment variables of a cluster that this process starts. With these variables, Ray sends no statistics to its
authors, and does not change the environment variables of a job without GPUs (as in the next version of Ray).
"""


class Ray(Executor[J, R]):
    """Runs the jobs on a Ray cluster. If the process or the machine of a job is lost, the job is executed again on a
    remaining machine. Two executions of a job with a folder never overlap.

    The process that makes this executor connects to the Ray cluster once and stays connected until the process ends.

    :param address: the cluster. The address ``local`` means a new cluster of this machine alone, which ends with this
        process. The address ``auto`` means the Ray cluster to which this machine belongs. ``HOST:PORT`` is the address
        of the head node of a Ray cluster.
    :param jobs: maximal number of jobs at the same time. If ``jobs`` is None, the Ray cluster runs as many jobs as it
        can.
    :param cpus: number of CPUs that a job occupies.
    :param gpus: number of GPUs that a job occupies. A job without GPUs cannot see the GPUs of its machine.
    :param retries: maximal number of times that a job is executed again after its process or machine was lost.
    """

    def __init__(
        self,
        work: Work[J, R],
        *,
        address: str = LOCAL,
        jobs: int | None = None,
        cpus: float = 1,
        gpus: float = 0,
        retries: int = 3,
    ) -> None:
        super().__init__(work)
        for name, value, least in (("jobs", 1 if jobs is None else jobs, 1), ("cpus", cpus, 0), ("gpus", gpus, 0)):
            if value < least:
                raise ConfigError(f"executor.{name}={value}: the number must be at least {least}.")
        if retries < 0:
            raise ConfigError(f"executor.retries={retries}: the number must be at least 0.")
        _connect(address)
        self._jobs, self._retries = jobs, retries
        self._needs = {"CPU": cpus, "GPU": gpus}
        self._waiting: deque[J] = deque()
        self._running: dict[Any, J] = {}
        options = {"num_cpus": cpus, "num_gpus": gpus, "max_retries": retries}
        self._execute = ray.remote(**options)(_execute)
        # A process with redirected output executes one job.
        self._execute_alone = ray.remote(**options, max_calls=1)(_execute)
        self._work = ray.put(work)
        self._homes = Homes(self._work, cpus=cpus, gpus=gpus)
        self._repeated: dict[Any, int] = {}

    @property
    def workers(self) -> int:
        """Number of jobs that all machines of the Ray cluster together can run at the same time, but at most the
        setting ``jobs``.
        """
        has = ray.cluster_resources()
        room = [int(has.get(kind, 0) / count) for kind, count in self._needs.items() if count]
        return max(1, min([*room, *([] if self._jobs is None else [self._jobs])], default=1))

    def broadcast(self, value: T) -> Callable[[], T]:
        return partial(ray.get, ray.put(value))

    def submit(self, job: J) -> None:
        if job.home is not None:
            self._running[self._homes.execute(job.home, job, most=self.workers)] = job
            return
        self._waiting.append(job)
        self._start()

    def as_completed(self) -> Iterator[tuple[J, R | Lost]]:
        while self._running:
            (done, *_), _ = ray.wait(list(self._running))
            job = self._running.pop(done)
            outcome = self._outcome(done)
            if isinstance(outcome, Lost) and self._repeats(done, job):
                continue
            self._start()
            ended(job, outcome)
            yield job, outcome

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._waiting.clear()
        self._homes.close()
        for reference, job in self._running.items():
            if job.home is None:
                ray.cancel(reference, force=True)
        ray.wait(list(self._running), num_returns=len(self._running)) if self._running else None

    def _start(self) -> None:
        while self._waiting and (self._jobs is None or len(self._running) < self._jobs):
            job = self._waiting.popleft()
            if job.folder is not None:
                job.folder.mkdir(parents=True, exist_ok=True)
            remote = self._execute if job.folder is None else self._execute_alone
            begins(job)
            self._running[remote.remote(self._work, job, os.getcwd())] = job

    def _repeats(self, reference: Any, job: J) -> bool:
        """Execute a lost job with a home again, in another process, unless it was lost too often. (Ray itself repeats
        the jobs without a home.)
        """
        repeated = self._repeated.pop(reference, 0)
        if job.home is None or repeated == self._retries:
            return False
        self._homes.lose(job.home)
        again = self._homes.execute(job.home, job, most=self.workers)
        self._running[again], self._repeated[again] = job, repeated + 1
        return True

    def _outcome(self, reference: Any) -> R | Lost:
        try:
            outcome: R | Lost = ray.get(reference)
        except ray.exceptions.RayTaskError as error:
            raise error.cause from error
        except ray.exceptions.RayError as error:
            first = str(error).strip().partition("\n")[0]
            return Lost(
                f"its process or its machine was lost {self._retries + 1} times: {type(error).__name__}: {first}"
            )
        return outcome


def _execute(work: Work[J, R], job: J, folder: str) -> R | Lost:
    """Execute ``job`` in a process of the Ray cluster.

    :param folder: the current folder of the process that submitted the job; relative paths in the job's configuration
        begin there.
    """
    if Path(folder).is_dir():
        os.chdir(folder)
    if job.folder is None:
        return work(job)
    if not job.folder.is_dir():
        return Lost(
            f"{job.folder} does not exist on the machine {ray.util.get_node_ip_address()}. Give a folder on storage "
            "that all machines of the cluster share, such as hydra.sweep.dir=/shared/sweep."
        )
    # If the connection to a machine was lost for a while, a process of this machine may still work on the job.
    with FileLock(job.folder / _LOCK):
        return with_output(work, job, job.folder)


def _connect(address: str) -> None:
    """Connect this process to a Ray cluster, unless the process is connected already.

    :raises ConfigError: no Ray cluster runs at ``address``, or the cluster refuses the connection.
    """
    if ray.is_initialized():
        return
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        _check_reachable(address)
        if address == LOCAL:
            ray.init(address=LOCAL, include_dashboard=False, **quiet)
        else:
            ray.init(address=address, **quiet)
    except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
        raise ConfigError(
            f"executor.address={address}: {_first_line(error)}. Start a cluster with `ray start --head` and give its "
            "HOST:PORT, or leave executor.address out. If the cluster asks for a token, this machine needs the same "
            "file ~/.ray/auth_token."
        ) from error


def _check_reachable(address: str) -> None:
    """Check that a program listens at ``HOST:PORT``. Without this check, Ray itself would try to connect for minutes
    and then end the process. An address without a port is not checked.
    """
    host, colon, port = address.rpartition("/")[2].rpartition(":")
    if colon:
        socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
