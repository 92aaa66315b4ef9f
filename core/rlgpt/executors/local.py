"""Executors on this machine."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from types import TracebackType

from rlgpt.errors import ConfigError
from rlgpt.executors.base import Executor, Job, JobResult, Work

OUTPUT = "output.txt"


class InProcess(Executor):
    """Runs the jobs in order, each to its end, in this process."""

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        self._jobs: list[Job] = []

    def submit(self, job: Job) -> None:
        self._jobs.append(job)

    def as_completed(self) -> Iterator[tuple[Job, JobResult]]:
        while self._jobs:
            job = self._jobs.pop(0)
            print(f"== {job.name or 'one run'}", file=sys.stderr, flush=True)
            yield job, self.work(job)


class Processes(Executor):
    """Runs several jobs at once, each in a separate process. The output of a job is written to ``output.txt`` in its
    folder.

    If a process is killed, only its job ends.

    :param jobs: number of jobs that run at the same time.
    """

    def __init__(self, work: Work, *, jobs: int = 2) -> None:
        super().__init__(work)
        if jobs < 1:
            raise ConfigError(f"executor.jobs={jobs}: the number must be at least 1.")
        self._threads = ThreadPoolExecutor(jobs)
        self._futures: dict[Future[JobResult], Job] = {}

    def submit(self, job: Job) -> None:
        self._futures[self._threads.submit(self._run, job)] = job

    def as_completed(self) -> Iterator[tuple[Job, JobResult]]:
        futures, self._futures = self._futures, {}
        for future in as_completed(futures):
            yield futures[future], future.result()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._threads.shutdown(cancel_futures=True)

    def _run(self, job: Job) -> JobResult:
        title = f"[{job.number}] {job.name}"
        print(f"{title}: begins", file=sys.stderr, flush=True)
        spawn = multiprocessing.get_context("spawn")
        try:
            with ProcessPoolExecutor(1, mp_context=spawn) as process:
                result = process.submit(_with_output, self.work, job).result()
        except BrokenProcessPool:
            result = JobResult(1, message=f"its process was killed; {job.folder / OUTPUT} may show why")
        end = "finished" if result.exit_status == 0 else f"ended with status {result.exit_status}: {result.message}"
        print(f"{title}: {end}", file=sys.stderr, flush=True)
        return result


def _with_output(work: Work, job: Job) -> JobResult:
    """Run ``job`` and redirect the standard output and error of this process and its children to the job's file."""
    job.folder.mkdir(parents=True, exist_ok=True)
    with (job.folder / OUTPUT).open("w") as out:
        for stream in (1, 2):
            os.dup2(out.fileno(), stream)
        result = work(job)
        sys.stdout.flush()
        sys.stderr.flush()
    return result
