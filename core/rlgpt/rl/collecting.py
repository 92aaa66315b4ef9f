"""Collects the rollouts of a training, in this process or on the workers of an executor."""

from __future__ import annotations

import copy
import pickle
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import torch

from rlgpt.errors import TrainerError
from rlgpt.executors.base import Executor, Lost, MakeExecutor
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.base_only import Masks
from rlgpt.rl.lanes import vector_in_process
from rlgpt.rl.network import PolicyNetwork
from rlgpt.rl.parameter_search import ParameterSearch
from rlgpt.rl.position import Position
from rlgpt.rl.rollout import Collector, Rollout, join
from rlgpt.rl.rollout_job import RolloutJob, RolloutShare, RolloutWorker
from rlgpt.rl.step_counter import StepCounter
from rlgpt.rl.training_stats import TrainingStats
from rlgpt.rl.vector import Vector
from rlgpt.rl.worker_vector import WorkerVector

RETRIES = 3
"""Maximal number of times that the same share of a rollout is submitted again after the executor lost it."""


class RolloutSource(ABC):
    """Collects the rollouts of one stage of a training. A source is a context manager; at the end of the ``with``
    block, no environment of the source uses a folder of the training any more.
    """

    @abstractmethod
    def collect(self, decisions: int, limit: int, search: ParameterSearch | None) -> Rollout:
        """Collect a rollout, and count its primitive steps.

        :param decisions: number of decisions of each environment on average.
        :param limit: number of primitive steps of the whole training after which the rollout ends early.
        :param search: the parameter search in progress, which chooses the actions; None if the network acts.
        """

    @abstractmethod
    def mask(self, masks: Masks) -> None:
        """Mask names from the next episode of each environment on, as :meth:`Vector.mask` does."""

    def close(self) -> None:  # noqa: B027
        """Close the environments of this process."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class VectorSource(RolloutSource):
    """Collects rollouts in the environments of ``vector``, which counts its primitive steps."""

    def __init__(
        self,
        vector: Vector,
        network: PolicyNetwork,
        generator: torch.Generator,
        stats: TrainingStats,
        step_counter: StepCounter,
    ) -> None:
        self._vector, self._step_counter = vector, step_counter
        self._collects_with = (network, generator, stats)

    @cached_property
    def _collector(self) -> Collector:
        return Collector(self._vector, *self._collects_with)

    def collect(self, decisions: int, limit: int, search: ParameterSearch | None) -> Rollout:
        choose = None if search is None else search.choose
        return self._collector.collect(decisions, lambda: self._step_counter.total >= limit, choose)

    def mask(self, masks: Masks) -> None:
        self._vector.mask(masks)

    def close(self) -> None:
        self._vector.close()


def vector_of(spec: EnvSpec, seeds: Sequence[int], step_file: Path, workers: int, lock: int) -> Vector:
    """The environments of a training without an executor. The parameters are those of :class:`WorkerVector`; without
    workers, the environments run in this process.
    """
    if workers:
        return WorkerVector(spec, seeds, step_file, workers, lock=lock)
    return vector_in_process(spec, seeds, step_file)


class ExecutorSource(RolloutSource):
    """Collects rollouts on the workers of an executor. Each rollout is divided into shares, which are jobs with a home.
    The rollouts depend on the seeds and the number of shares, and not on the workers that play them.

    The process of the training counts the primitive steps of a share when its result arrives. Steps of a share that was
    lost, and steps that bring a new environment to its position, are not counted.

    :param executor: an executor of :class:`RolloutWorker`.
    :param seeds: a seed for each environment.
    :param shares: number of shares. If there are fewer environments, each environment is a share.
    :param entropy: numbers from which the random generators of the shares are made, with the number of the share and of
        the rollout. The last number differs for each source of a training.
    """

    def __init__(
        self,
        executor: Executor[RolloutJob, bytes],
        spec: EnvSpec,
        seeds: Sequence[int],
        shares: int,
        entropy: tuple[int, int],
        network: PolicyNetwork,
        stats: TrainingStats,
        step_counter: StepCounter,
    ) -> None:
        self._executor, self._network, self._stats, self._step_counter = executor, network, stats, step_counter
        self._seeds, self._entropy, self._rollouts = seeds, entropy, 0
        self._shares = [share.tolist() for share in np.array_split(np.arange(len(seeds)), shares) if len(share)]
        begin = Position(0, np.zeros((0, network.layout.action_size), np.float32))
        self._positions = [begin] * len(seeds)
        self._masks: Masks | None = None
        self._recipe = executor.broadcast(pickle.dumps(spec))

    def collect(self, decisions: int, limit: int, search: ParameterSearch | None) -> Rollout:
        left = max(1, limit - self._step_counter.total)
        searched = None if search is None else (search.initial_std, search.state)
        network = self._network
        if network.device.type != "cpu":  # A worker may have no GPU.
            network = copy.deepcopy(network).to("cpu")
        model = self._executor.broadcast(pickle.dumps((network, searched)))
        playing = [() if search is None else search.playing(share) for share in self._shares]
        begun = [sum(map(len, episodes)) for episodes in playing]
        jobs = [
            RolloutJob(
                number,
                f"share {number} of a rollout",
                home=number,
                session=self._entropy[-1],
                recipe=self._recipe,
                model=model,
                seeds=tuple(self._seeds[slot] for slot in share),
                positions=tuple(self._positions[slot] for slot in share),
                generator=self._seed(number),
                decisions=decisions,
                most_steps=-(-left * len(share) // len(self._seeds)),
                masks=self._masks,
                playing=None if search is None else playing[number],
                elsewhere=share[0] + sum(begun) - begun[number],
            )
            for number, share in enumerate(self._shares)
        ]
        results = self._execute(jobs)
        self._rollouts += 1
        for share, result in zip(self._shares, results, strict=True):
            self._add(share, result, search)
        return join([result.rollout for result in results])

    def mask(self, masks: Masks) -> None:
        self._masks = masks

    def _seed(self, share: int) -> int:
        drawn = np.random.SeedSequence([*self._entropy, self._rollouts, share]).generate_state(1, np.uint64)
        return int(drawn[0] >> 1)

    def _execute(self, jobs: Sequence[RolloutJob]) -> list[RolloutShare]:
        """Execute ``jobs``, count their primitive steps, and return the results in the order of the jobs."""
        results: dict[int, RolloutShare] = {}
        lost = Counter[int]()
        for job in jobs:
            self._executor.submit(job)
        for job, outcome in self._executor.as_completed():
            if isinstance(outcome, Lost):
                lost[job.number] += 1
                if lost[job.number] > RETRIES:
                    raise TrainerError(
                        f"{job.name} was lost {lost[job.number]} times: {outcome.message}. Resume the run to continue."
                    )
                self._executor.submit(job)
                continue
            # The bytes come from a process that the executor of this run started, and never from a folder.
            result: RolloutShare = pickle.loads(outcome)
            for slot, steps in zip(self._shares[job.number], result.steps, strict=True):
                self._step_counter.add(slot, steps)
            results[job.number] = result
        return [results[job.number] for job in jobs]

    def _add(self, share: Sequence[int], result: RolloutShare, search: ParameterSearch | None) -> None:
        """Add everything but the rollout of a share's result."""
        self._stats.add_verdicts(result.events.verdicts)
        for action in result.events.calls:
            self._stats.add_call(action)
        for episode, usage in result.events.episodes:
            self._stats.add_episode(episode, usage)
        for column, slot in enumerate(share):
            self._positions[slot] = self._positions[slot].after(
                result.rollout, column, result.progress[column], self._masks, result.reached[column]
            )
        if search is not None and result.playing is not None:
            search.set_playing(share, result.playing)


@contextmanager
def rollout_executor(make: MakeExecutor | None) -> Iterator[Executor[RolloutJob, bytes] | None]:
    """Make an executor for the rollouts of a training in a ``with`` block; None without a function that makes it."""
    if make is None:
        yield None
        return
    worker = RolloutWorker()
    try:
        with make(worker) as executor:
            yield executor
    finally:
        worker.close()  # An executor in this process does not copy the worker.
