"""Measures how rehearsals, and the rollouts of a training, scale over the workers of a Ray cluster on this machine, and
compares the measured times with a model.

    python benchmarks/scale.py             # a few minutes on an idle machine with two cores
    python benchmarks/scale.py --quick     # a smoke test without useful figures

================================  ==================================================================================
``scale/job``                     CPU seconds of one rehearsal of three kitchen episodes in this process
``scale/sent/job``                bytes of a rehearsal as a job, and ``scale/sent/result`` of its result
``scale/sent/decision``           bytes of job and result together, for each decision of the rehearsal
``scale/dispatch``                serial CPU seconds of this process for a job of as many bytes that does nothing
``scale/round_trip``              seconds of such a job on one worker, from its submission to its result
``scale/measured/N``              seconds of all rehearsals on N workers, which have executed a job before
``scale/predicted/N``             the seconds by the model ``jobs * max(dispatch, (job + round_trip) / N)``
``scale/saturation``              number of workers that the serial part can supply, ``(job + round_trip) / dispatch``
``scale/rollout/share``           CPU seconds of one share of a rollout in the kitchen in this process
``scale/rollout/sent/decision``   bytes sent for each decision of a rollout, with the weights for each share
``scale/rollout/back/decision``   bytes sent back for each decision
``scale/rollout/weights``         bytes of the policy's network, which each machine gets once for each rollout
``scale/rollout/serial``          CPU seconds of this process for a rollout of a Ray cluster, without the update
``scale/rollout/update``          seconds of the update of PPO that follows a rollout
``scale/rollout/measured/N``      seconds of a rollout and its update on N workers that have their environments
``scale/rollout/predicted/N``     the seconds by the model ``serial + update + shares * (share + round_trip) / N``
================================  ==================================================================================

A worker is a process with one thread. The predicted times come from a model of the measured job, dispatch and round
trip. The model assumes a free core for each worker, so the model is wrong on a loaded machine. The field ``load`` of a
result is the machine's load average at the beginning, and ``load_after`` at the end.
"""

from __future__ import annotations

import argparse
import os
import pickle
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

os.environ.update({f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")})

import torch
from reporting import commit, emit
from rlgpt import CodedAction
from rlgpt.executors import Executor, Job, Lost
from rlgpt.executors.local import InProcess
from rlgpt.executors.ray import Ray
from rlgpt.loop.candidates import CandidateJob, rehearse_candidate
from rlgpt.loop.rehearse import RehearsalResult
from rlgpt.loop.settings import Seeds
from rlgpt.plugin.manager import PluginManager
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.collecting import ExecutorSource
from rlgpt.rl.learner import Learner
from rlgpt.rl.ppo import PPO
from rlgpt.rl.rollout_job import RolloutJob, RolloutWorker
from rlgpt.rl.step_counter import StepCounter
from rlgpt.rl.training_stats import TrainingStats, TrainingStatsState

TASK = "kitchen/microwave"
HOLDS = "def run():\n    for _ in range(24):\n        view = yield observe()\n        yield hold(steps=10)\n"
WORKERS = (1, 2)
SHORT_HOLDS = "def run():\n    for _ in range(2):\n        yield hold(steps=10)\n"
SHARES = 2
SETTINGS = Hyperparameters(num_envs=8, num_steps=16)
"""A rollout has 128 decisions. With the setup's ``plan_prior``, about three of four decisions are for the coded action
of 20 primitive steps; the others are base actions of one step.
"""


@dataclass(frozen=True)
class Echo(Job):
    """A job that does nothing. The job has as many bytes as ``like``, and its result has as many bytes as
    ``result``.
    """

    like: CandidateJob = field(kw_only=True)
    result: RehearsalResult = field(kw_only=True)


def echo(job: Echo) -> RehearsalResult:
    return job.result


def rehearsal(number: int) -> CandidateJob:
    plugin, task = PluginManager().task(TASK)
    action = CodedAction(name="holds", doc="Hold.", source=HOLDS, max_steps=240)
    spec = EnvSpec(task, plugin.default_setup(task), (action,))
    return CandidateJob(number, "holds", spec=spec, seeds=Seeds(0).rehearsals(0, 3), reward_weights={})


def seconds(executor: Executor[Any, RehearsalResult], jobs: Sequence[Job]) -> tuple[float, float]:
    """Execute ``jobs``, and return the seconds that passed, and the CPU seconds of this process."""
    passed, used = time.perf_counter(), time.process_time()
    for job in jobs:
        executor.submit(job)
    for _ in executor.as_completed():
        pass
    return time.perf_counter() - passed, time.process_time() - used


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="few jobs: a smoke test, its figures mean nothing")
    count, repeats = (2, 1) if parser.parse_args().quick else (4, 3)
    facts = {"commit": commit(), "jobs": count, "load": round(os.getloadavg()[0], 1)}
    trip = measure_rehearsals(count, repeats, facts)
    measure_rollouts(repeats, trip, facts)
    return 0


def measure_rehearsals(count: int, repeats: int, facts: dict[str, Any]) -> float:
    """Measure ``count`` rehearsals, and return the seconds of a round trip."""
    job = rehearsal(0)
    result = rehearse_candidate(job)
    sent, back = len(pickle.dumps(job)), len(pickle.dumps(result))
    decisions = len(result.trace.decisions) + len(result.others)
    emit("scale/sent/job", sent, "bytes", **facts)
    emit("scale/sent/result", back, "bytes", **facts)
    emit("scale/sent/decision", (sent + back) / decisions, "bytes", decisions=decisions, **facts)

    many = 20 * count
    echoes = [Echo(number, "", like=job, result=result) for number in range(many)]
    with Ray(echo, jobs=1) as executor:
        seconds(executor, echoes[:2])
        passed, used = min(seconds(executor, echoes) for _ in range(repeats))
    dispatch, trip = used / many, passed / many
    emit("scale/dispatch", dispatch, "s", **facts)
    emit("scale/round_trip", trip, "s", **facts)

    jobs = [rehearsal(number) for number in range(count)]
    alone: list[float] = []
    measured: dict[int, list[float]] = {workers: [] for workers in WORKERS}
    with Ray(rehearse_candidate) as executor:
        seconds(executor, jobs)  # Each worker imports what it needs.
    for _ in range(repeats):  # In turns, because the load of the machine changes.
        began = time.process_time()
        rehearse_candidate(job)
        alone.append(time.process_time() - began)
        for workers in WORKERS:
            with Ray(rehearse_candidate, jobs=workers) as executor:
                measured[workers].append(seconds(executor, jobs)[0])
    play = statistics.median(alone)
    emit("scale/job", play, "s", steps=result.steps, all=alone, **facts)
    for workers in WORKERS:
        figures = measured[workers]
        emit(f"scale/measured/{workers}", statistics.median(figures), "s", all=figures, **facts)
        emit(f"scale/predicted/{workers}", count * max(dispatch, (play + trip) / workers), "s", **facts)
    load = round(os.getloadavg()[0], 1)
    emit("scale/saturation", (play + trip) / dispatch, "workers", load_after=load, **facts)
    return trip


@dataclass
class Training:
    """The rollouts and updates of a training on ``executor``."""

    executor: Executor[RolloutJob, bytes]

    def __post_init__(self) -> None:
        plugin, task = PluginManager().task(TASK)
        action = CodedAction(name="holds", doc="Hold.", source=SHORT_HOLDS, max_steps=30)
        setup = plugin.default_setup(task).model_copy(update={"coded_actions": (action.name,), "plan_prior": 0.75})
        spec = EnvSpec(task, setup, (action,))
        network = PPO().network(spec, SETTINGS, 0)
        self._learner, self._stats = Learner(network, SETTINGS, setup.gamma), TrainingStats(TrainingStatsState())
        self._folder = tempfile.TemporaryDirectory()
        counter = StepCounter(Path(self._folder.name) / "steps", SETTINGS.num_envs)
        seeds = range(SETTINGS.num_envs)
        self._counter = counter
        self._source = ExecutorSource(self.executor, spec, seeds, SHARES, (0, 0), network, self._stats, counter)
        self.rollout()  # The workers make their environments.

    def rollout(self) -> tuple[float, float, float]:
        """Collect a rollout, and learn from it. Return the seconds that passed, the CPU seconds of this process for the
        rollout, and the seconds of the update.
        """
        began, used = time.perf_counter(), time.process_time()
        rollout = self._source.collect(SETTINGS.num_steps, sys.maxsize, None)
        used = time.process_time() - used
        collected = time.perf_counter()
        self._learner.update(rollout, torch.Generator().manual_seed(0))
        ended = time.perf_counter()
        return ended - began, used, ended - collected

    @property
    def steps(self) -> int:
        return self._counter.total


class Weighing(InProcess[RolloutJob, bytes]):
    """An executor in this process that adds up the bytes of its jobs and of their results."""

    def __init__(self) -> None:
        super().__init__(RolloutWorker())
        self.sent, self.back, self.broadcasts = 0, 0, list[int]()

    def broadcast(self, value: Any) -> Any:
        self.broadcasts.append(len(value))
        return super().broadcast(value)

    def submit(self, job: RolloutJob) -> None:
        self.sent += len(pickle.dumps(replace(job, recipe=bytes, model=bytes)))
        super().submit(job)

    def as_completed(self) -> Iterator[tuple[RolloutJob, bytes | Lost]]:
        for job, outcome in super().as_completed():
            self.back += 0 if isinstance(outcome, Lost) else len(outcome)
            yield job, outcome


def measure_rollouts(repeats: int, trip: float, facts: dict[str, Any]) -> None:
    """Measure the rollouts of a training.

    :param trip: seconds of a round trip.
    """
    decisions = SETTINGS.num_envs * SETTINGS.num_steps
    facts = {**facts, "shares": SHARES, "decisions": decisions, "load": round(os.getloadavg()[0], 1)}
    weighing = Weighing()
    here, measured = Training(weighing), dict[int, list[float]]()
    weighing.sent = weighing.back = 0
    before = here.steps
    shares = [here.rollout()[1] / SHARES for _ in range(repeats)]
    share = statistics.median(shares)
    weights = weighing.broadcasts[-1]
    sent = (weighing.sent / repeats + SHARES * weights) / decisions
    emit("scale/rollout/share", share, "s", steps=(here.steps - before) / repeats / SHARES, all=shares, **facts)
    emit("scale/rollout/sent/decision", sent, "bytes", **facts)
    emit("scale/rollout/back/decision", weighing.back / repeats / decisions, "bytes", **facts)
    emit("scale/rollout/weights", weights, "bytes", **facts)
    serial: list[float] = []
    update: list[float] = []
    for workers in WORKERS:
        with Ray(RolloutWorker(), jobs=workers) as executor:
            training = Training(executor)
            figures = [training.rollout() for _ in range(repeats)]
        measured[workers] = [seconds for seconds, _, _ in figures]
        serial += [used for _, used, _ in figures]
        update += [seconds for _, _, seconds in figures]
    fixed = statistics.median(serial) + statistics.median(update)
    emit("scale/rollout/serial", statistics.median(serial), "s", all=serial, **facts)
    emit("scale/rollout/update", statistics.median(update), "s", all=update, **facts)
    for workers, times in measured.items():
        emit(f"scale/rollout/measured/{workers}", statistics.median(times), "s", all=times, **facts)
        emit(f"scale/rollout/predicted/{workers}", fixed + SHARES * (share + trip) / workers, "s", **facts)


if __name__ == "__main__":
    sys.exit(main())
