"""Executors on this machine."""

from __future__ import annotations

import multiprocessing
import sys
import threading
import traceback
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Generic

from rlgpt.errors import ConfigError
from rlgpt.executors.base import Executor, J, Lost, R, Work
from rlgpt.executors.output import OUTPUT, begins, ended, with_output
from rlgpt.secrets import secrets_hidden


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

    :param jobs: maximal number of jobs that run at the same time. The home ``h`` of a job is process ``h % jobs``. Only
        jobs with a folder, which are whole runs, get secret environment variables, because other jobs ask no model.
    """

    def __init__(self, work: Work[J, R], *, jobs: int = 2) -> None:
        super().__init__(work)
        if jobs < 1:
            raise ConfigError(f"executor.jobs={jobs}: the number must be at least 1.")
        self._jobs = jobs
        self._starting = threading.Lock()
        self._runs = _Line(work, jobs)
        self._parts = _Line(work, jobs, without_secrets=self._starting)
        self._homes: dict[int, _Line[J, R]] = {}
        self._futures: dict[Future[R | Lost], J] = {}

    @property
    def workers(self) -> int:
        return self._jobs

    def submit(self, job: J) -> None:
        line = self._runs if job.folder is not None else self._parts
        if job.home is not None:
            number = job.home % self._jobs
            if number not in self._homes:
                self._homes[number] = _Line(self.work, 1, without_secrets=self._starting)
            line = self._homes[number]
        self._futures[line.submit(job)] = job

    def as_completed(self) -> Iterator[tuple[J, R | Lost]]:
        while self._futures:
            for future in wait(self._futures, return_when=FIRST_COMPLETED).done:
                yield self._futures.pop(future), future.result()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for line in (self._runs, self._parts, *self._homes.values()):
            line.close()


class _Line(Generic[J, R]):
    """Processes that execute the jobs of one queue.

    :param size: maximal number of processes.
    :param without_secrets: the lock under which one thread at a time starts a process without secret environment
        variables; None if the processes get them.
    """

    def __init__(self, work: Work[J, R], size: int, *, without_secrets: threading.Lock | None = None) -> None:
        self._work, self._threads, self._without_secrets = work, ThreadPoolExecutor(size), without_secrets
        self._idle: list[_Process[J, R]] = []

    def submit(self, job: J) -> Future[R | Lost]:
        return self._threads.submit(self._run, job)

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)
        for process in self._idle:
            process.close()

    def _run(self, job: J) -> R | Lost:
        begins(job)
        outcome = self._call(job)
        ended(job, outcome)
        return outcome

    def _call(self, job: J) -> R | Lost:
        try:
            process = self._idle.pop()
        except IndexError:  # No process is idle.
            process = self._new_process()
        kept = False
        try:
            outcome: R | Lost = process.call(job)
            # The output of a process that executed a job with a folder is redirected.
            kept = job.folder is None
        except EOFError:
            show = f"; {job.folder / OUTPUT} may show why" if job.folder is not None else ""
            outcome = Lost(f"its process was killed{show}")
        finally:
            self._idle.append(process) if kept else process.close()
        return outcome

    def _new_process(self) -> _Process[J, R]:
        if self._without_secrets is None:
            return _Process(self._work)
        with self._without_secrets, secrets_hidden():
            return _Process(self._work)


class _Process(Generic[J, R]):
    """A spawned process that executes jobs one after another."""

    def __init__(self, work: Work[J, R]) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, work))
        self._process.start()
        theirs.close()

    def call(self, job: J) -> R:
        """Execute ``job`` in the process.

        :raises EOFError: the process was killed.
        :raises Exception: the job raised this exception.
        """
        try:
            self._pipe.send(job)
            raised, outcome = self._pipe.recv()
        except OSError as fault:  # The process was killed before it had received the whole job.
            raise EOFError from fault
        if raised:
            raise outcome
        result: R = outcome
        return result

    def close(self) -> None:
        self._pipe.close()
        self._process.join()


def _serve(pipe: Connection, work: Work[Any, Any]) -> None:
    """The main function of a process, which returns when the other end of ``pipe`` is closed."""
    while True:
        try:
            job = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            answer = (False, work(job) if job.folder is None else with_output(work, job, job.folder))
        except BaseException as error:
            error.add_note(f"In a process of the executor:\n{traceback.format_exc()}")
            answer = (True, error)
        try:
            pipe.send(answer)
        except BrokenPipeError:  # The process that submitted the job has ended.
            return
        except Exception as error:  # The result cannot be pickled.
            pipe.send((True, error))
