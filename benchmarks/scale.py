"""Measures how rehearsals scale over the workers of a Ray cluster on this machine, and compares the measured times with
a model.

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
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

os.environ.update({f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")})

from reporting import commit, emit
from rlgpt import CodedAction
from rlgpt.executors import Executor, Job
from rlgpt.executors.ray import Ray
from rlgpt.loop.candidates import CandidateJob, rehearse_candidate
from rlgpt.loop.rehearse import RehearsalResult
from rlgpt.loop.settings import Seeds
from rlgpt.plugin.manager import PluginManager
from rlgpt.rl.base import EnvSpec

TASK = "kitchen/microwave"
HOLDS = "def run():\n    for _ in range(24):\n        view = yield observe()\n        yield hold(steps=10)\n"
WORKERS = (1, 2)


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
    facts["load_after"] = round(os.getloadavg()[0], 1)
    emit("scale/saturation", (play + trip) / dispatch, "workers", **facts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
