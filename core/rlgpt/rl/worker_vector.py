"""A vector whose environments are divided among worker processes of this machine."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlgpt.domain import Verdict
from rlgpt.errors import RlgptError, TrainerError
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.base_only import Masks
from rlgpt.rl.lanes import vector_in_process
from rlgpt.rl.lock import Shared
from rlgpt.rl.policy_lane import Observation
from rlgpt.rl.step_counter import StepCounter
from rlgpt.rl.vector import Transition, Vector
from rlgpt.secrets import secrets_hidden


class WorkerVector(Vector):
    """A vector whose environments are divided among ``workers`` spawned processes. The environments of a process are
    lanes of one batch simulator if the plugin has one (:func:`~rlgpt.rl.lanes.vector_in_process`). The spawned worker
    processes get no secret environment variables.

    In each call of :meth:`exchange`, every process takes primitive steps until at least one of its decisions is over,
    so the results do not depend on the speed of the processes.

    :param seeds: one seed for each environment.
    :param step_file: the file in which a :class:`~rlgpt.rl.step_counter.StepCounter` counts primitive steps.
    :param lock: file descriptor of the lock on the training's folder. Each worker process also holds the lock, because
        after the parent process is killed, a worker continues to the end of its decision and counts its steps.
    :raises TrainerError: a worker process died, or its environment raised an exception; the message contains the error.
    """

    def __init__(
        self, spec: EnvSpec, seeds: Sequence[int], step_file: Path, workers: int, *, lock: int | None = None
    ) -> None:
        held = None if lock is None else Shared(lock)
        context = multiprocessing.get_context("spawn")
        StepCounter(step_file, len(seeds)).__exit__(None, None, None)
        self._shares = [share.tolist() for share in np.array_split(np.arange(len(seeds)), workers) if len(share)]
        self._pipes: list[Connection] = []
        self._processes = []
        for share in self._shares:
            ours, theirs = context.Pipe()
            job = (spec, [seeds[slot] for slot in share], step_file, share[0])
            process = context.Process(target=_work, args=(theirs, job, held), daemon=True)
            with secrets_hidden():
                process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    def reset(self) -> list[tuple[Observation, tuple[Verdict, ...]]]:
        return [first for answer in self._all("reset", [()] * len(self._pipes)) for first in answer]

    def exchange(self, slots: Sequence[int], actions: NDArray[np.float32]) -> list[tuple[int, Transition]]:
        rows = {slot: row for row, slot in enumerate(slots)}
        arguments = []
        for share in self._shares:
            ready = [slot for slot in share if slot in rows]
            arguments.append(([slot - share[0] for slot in ready], actions[[rows[slot] for slot in ready]]))
        answers = self._all("exchange", arguments)
        return [
            (share[0] + slot, transition)
            for share, answer in zip(self._shares, answers, strict=True)
            for slot, transition in answer
        ]

    def mask(self, masks: Masks) -> None:
        self._all("mask", [(masks,)] * len(self._pipes))

    def close(self) -> None:
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join(timeout=5)
            process.kill()
            process.join(timeout=5)

    def _all(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call a method of the vector in each process, and return the results."""
        answers: list[Any] = []
        try:
            for pipe, argument in zip(self._pipes, arguments, strict=True):
                pipe.send((method, argument))
            for pipe in self._pipes:
                answer = pipe.recv()
                if isinstance(answer, BaseException):
                    raise answer
                answers.append(answer)
        except (EOFError, OSError) as fault:
            raise TrainerError(f"an environment's worker process died while asked to {method} ({fault!r}).") from fault
        return answers


def _work(pipe: Connection, job: tuple[EnvSpec, list[int], Path, int], lock: Shared | None) -> None:
    """The main function of a worker process, which returns when the other end of ``pipe`` is closed. The process then
    releases ``lock``.

    :param job: the recipe, the seeds and the step file of the environments, and the cell of the first environment.
    """
    spec, seeds, step_file, first = job
    try:
        with vector_in_process(spec, seeds, step_file, first=first) as vector:
            while True:
                method, argument = pipe.recv()
                pipe.send(getattr(vector, method)(*argument))
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        return
    except RlgptError as fault:
        pipe.send(TrainerError(str(fault)))
    except Exception as fault:
        pipe.send(TrainerError(f"the environment raised {type(fault).__name__}: {fault}"))
