"""Executors on this machine."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from types import TracebackType

from rlgpt.errors import ConfigError
from rlgpt.executors.base import Executor, J, Lost, R, Work
from rlgpt.executors.output import OUTPUT, begins, ended, with_output


class InProcess(Executor[J, R]):
    """An executor that runs its jobs one after the other in this process."""

    def __init__(self, work: Work[J, R]) -> None:
        super().__init__(work)
        self._jobs: list[J] = []

    def submit(self, job: J) -> None:
        self._jobs.append(job)

    def as_completed(self) -> Iterator[tuple[J, R | Lost]]:
        while self._jobs:
            job = self._jobs.pop(0)
            if job.folder is not None:
                print(f"== {job.name or 'one run'}", file=sys.stderr, flush=True)
            yield job, self.work(job)


class Processes(Executor[J, R]):
    """An executor that runs several jobs simultaneously, each in a separate process. If the process of a job is killed,
    no other job is lost.

    :param jobs: maximal number of jobs that run at the same time.
    """

    def __init__(self, work: Work[J, R], *, jobs: int = 2) -> None:
        super().__init__(work)
        if jobs < 1:
            raise ConfigError(f"executor.jobs={jobs}: the number must be at least 1.")
        self._jobs = jobs
        self._threads = ThreadPoolExecutor(jobs)
        self._futures: dict[Future[R | Lost], J] = {}
        self._idle: list[ProcessPoolExecutor] = []

    @property
    def workers(self) -> int:
        return self._jobs

    def submit(self, job: J) -> None:
        self._futures[self._threads.submit(self._run, job)] = job

    def as_completed(self) -> Iterator[tuple[J, R | Lost]]:
        while self._futures:
            for future in wait(self._futures, return_when=FIRST_COMPLETED).done:
                yield self._futures.pop(future), future.result()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._threads.shutdown(cancel_futures=True)
        for process in self._idle:
            process.shutdown()

    def _run(self, job: J) -> R | Lost:
        begins(job)
        outcome = self._call(job)
        ended(job, outcome)
        return outcome

    def _call(self, job: J) -> R | Lost:
        if job.folder is not None:
            try:
                with _new_process() as process:
                    return process.submit(with_output, self.work, job, job.folder).result()
            except BrokenProcessPool:
                return Lost(f"its process was killed; {job.folder / OUTPUT} may show why")
        process = self._process()
        try:
            return process.submit(self.work, job).result()
        except BrokenProcessPool:
            process = _new_process()
            return Lost("its process was killed")
        finally:
            self._idle.append(process)

    def _process(self) -> ProcessPoolExecutor:
        """A process that has no job."""
        try:
            return self._idle.pop()
        except IndexError:  # Another thread may have taken the last idle process.
            return _new_process()


def _new_process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
