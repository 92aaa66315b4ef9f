"""Several environments at once: in this process, or spread over worker processes."""

from __future__ import annotations

import dataclasses
import multiprocessing
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlgpt.domain import Verdict
from rlgpt.errors import RlgptError, TrainerError
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.lock import Shared
from rlgpt.rl.policy_env import Observation, PolicyEnv, build
from rlgpt.rl.step_counter import StepCounter
from rlgpt.secrets import secrets_hidden


@dataclass(frozen=True)
class Transition:
    """One decision of one environment.

    :ivar observation: where the next decision is taken: after an episode's end, the first of the next episode.
    :ivar last: the observation that the episode ended with; None where it goes on.
    :ivar episode: the fields of a :class:`rlgpt.domain.Episode`, where one ended.
    """

    observation: Observation
    reward: float
    duration: int
    terminated: bool
    truncated: bool
    last: Observation | None
    episode: dict[str, Any] | None
    usage: dict[str, int]
    verdicts: tuple[Verdict, ...]


class Slot:
    """One environment that begins its next episode by itself, and enters each primitive step into the ledger."""

    def __init__(self, spec: EnvSpec, seed: int, ledger: StepCounter, cell: int) -> None:
        self.env: PolicyEnv = build(spec, seed=seed, on_step=ledger.counting(cell))

    def reset(self) -> tuple[Observation, tuple[Verdict, ...]]:
        observation, info = self.env.reset()
        return observation, info.get("verdicts", ())

    def step(self, flat: NDArray[np.float32]) -> Transition:
        action = self.env.layout.to_space(flat)
        observation, reward, terminated, truncated, info = self.env.step(action)
        verdicts, last = info.get("verdicts", ()), None
        if terminated or truncated:
            last = observation
            observation, fallen = self.reset()
            verdicts += fallen
        duration = int(info["duration"])
        episode, usage = info.get("episode"), info.get("usage", {})
        return Transition(observation, reward, duration, terminated, truncated, last, episode, usage, verdicts)


class Vector:
    """``count`` environments of one recipe, in this process.

    :param seeds: one for each environment.
    :param ledger: file that primitive steps are entered into.
    """

    def __init__(self, spec: EnvSpec, seeds: Sequence[int], ledger: Path) -> None:
        self._ledger = StepCounter(ledger, len(seeds))
        self._slots = [Slot(spec, seed, self._ledger, cell) for cell, seed in enumerate(seeds)]

    def reset(self) -> list[tuple[Observation, tuple[Verdict, ...]]]:
        return [slot.reset() for slot in self._slots]

    def step(self, actions: NDArray[np.float32]) -> list[Transition]:
        """One decision of each; ``actions`` is ``[N, layout.action_size]``."""
        return [slot.step(flat) for slot, flat in zip(self._slots, actions, strict=True)]

    def quarantine(self, names: Iterable[str]) -> None:
        for slot in self._slots:
            slot.env.quarantine(names)

    def close(self) -> None:
        for slot in self._slots:
            slot.env.close()
        self._ledger.__exit__(None, None, None)

    def __enter__(self) -> Vector:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class WorkerVector(Vector):
    """The same, in ``workers`` spawned processes, each with a share of the environments. They carry no secrets.

    :param lock: descriptor of the folder's lock, which each worker holds on to: a worker outlives a killed parent until
        its decision is done, and counts to the end.
    :raises TrainerError: a worker died, or its environment raised; the message holds its error.
    """

    def __init__(
        self, spec: EnvSpec, seeds: Sequence[int], ledger: Path, workers: int, *, lock: int | None = None
    ) -> None:
        held = None if lock is None else Shared(lock)
        context = multiprocessing.get_context("spawn")
        StepCounter(ledger, len(seeds)).__exit__(None, None, None)
        self._shares = [list(share) for share in np.array_split(np.arange(len(seeds)), workers) if len(share)]
        self._pipes: list[Connection] = []
        self._processes = []
        for share in self._shares:
            ours, theirs = context.Pipe()
            mine = [(int(cell), seeds[cell]) for cell in share]
            process = context.Process(target=_work, args=(theirs, spec, mine, ledger, len(seeds), held), daemon=True)
            with secrets_hidden():
                process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    def reset(self) -> list[tuple[Observation, tuple[Verdict, ...]]]:
        return self._all("reset", [None] * len(self._pipes))

    def step(self, actions: NDArray[np.float32]) -> list[Transition]:
        return self._all("step", [actions[share] for share in self._shares])

    def quarantine(self, names: Iterable[str]) -> None:
        self._all("quarantine", [tuple(names)] * len(self._pipes))

    def close(self) -> None:
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join(timeout=5)
            process.kill()
            process.join(timeout=5)

    def _all(self, order: str, arguments: Sequence[Any]) -> list[Any]:
        answers: list[Any] = []
        try:
            for pipe, argument in zip(self._pipes, arguments, strict=True):
                pipe.send((order, argument))
            for pipe in self._pipes:
                answer = pipe.recv()
                if isinstance(answer, BaseException):
                    raise answer
                answers += answer
        except (EOFError, OSError) as fault:
            raise TrainerError(f"an environment's worker process died while asked to {order} ({fault!r}).") from fault
        return answers


def _work(
    pipe: Connection, spec: EnvSpec, share: list[tuple[int, int]], ledger: Path, cells: int, lock: Shared | None
) -> None:
    """A worker's life: it ends when the other end of its pipe is closed, by whatever cause, and ``lock`` with it."""
    with StepCounter(ledger, cells) as book:
        try:
            slots = [Slot(spec, seed, book, cell) for cell, seed in share]
            while True:
                order, argument = pipe.recv()
                if order == "step":
                    pipe.send([slot.step(flat) for slot, flat in zip(slots, argument, strict=True)])
                elif order == "reset":
                    pipe.send([slot.reset() for slot in slots])
                else:
                    for slot in slots:
                        slot.env.quarantine(argument)
                    pipe.send([])
        except (EOFError, BrokenPipeError, KeyboardInterrupt):
            return
        except RlgptError as fault:
            pipe.send(TrainerError(str(fault)))
        except Exception as fault:
            pipe.send(TrainerError(f"the environment raised {type(fault).__name__}: {fault}"))


def with_quarantined(spec: EnvSpec, names: Iterable[str]) -> EnvSpec:
    """``spec`` with these coded actions masked as well."""
    return dataclasses.replace(spec, quarantined=tuple(dict.fromkeys((*spec.quarantined, *names))))
