"""Plays episodes with the kept result of an iteration, which is its policy, its code or its tuned code. The run's
executor plays the episodes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from rlgpt.domain import Evaluation, Mode
from rlgpt.executors import Executor, Job, Work
from rlgpt.rl.acting import by_policy
from rlgpt.rl.base import EnvSpec, Policy
from rlgpt.rl.evaluation import Judge, evaluate_code, together
from rlgpt.rl.play import OnFrame


@dataclass(frozen=True)
class KeptJob(Job):
    """The job that plays one episode for each seed with the kept result of an iteration.

    :ivar spec: the environment, with the kept coded actions.
    :ivar seeds: seeds of the episodes.
    :ivar mode: the mode in which the policy acts, or the mode of the kept code.
    :ivar policy: a function without arguments that loads the policy; None if code was kept.
    :ivar sharpness: sharpness of the policy's samples in the mode ``sharpened``.
    """

    spec: EnvSpec = field(kw_only=True)
    seeds: tuple[int, ...] = field(kw_only=True)
    mode: Mode = field(kw_only=True)
    policy: Callable[[], Policy] | None = field(kw_only=True, default=None)
    sharpness: float | None = field(kw_only=True, default=None)


def play_kept(job: KeptJob, on_frame: OnFrame | None = None) -> Evaluation:
    """Execute the job ``job``.

    :param on_frame: a function that gets each rendered frame. With ``on_frame``, the environment renders.
    """
    if job.policy is None:
        return evaluate_code(job.spec, job.spec.actions, seeds=job.seeds, mode=job.mode, on_frame=on_frame)
    with Judge(job.spec, on_frame=on_frame) as judge:
        return judge.play(by_policy(job.policy(), job.mode, job.sharpness), job.seeds)


def play_on(executor: Callable[[Work[KeptJob, Evaluation]], Executor[KeptJob, Evaluation]], job: KeptJob) -> Evaluation:
    """Divide the seeds of ``job`` among the workers of the executor, and play their episodes. An episode depends only
    on its seed, so the result does not depend on the number of workers.

    :param executor: a function that makes the executor.
    :raises RunError: the process of a worker was lost.
    """
    parts: dict[int, Evaluation] = {}
    with executor(play_kept) as workers:
        for number, seeds in enumerate(_shares(job.seeds, workers.workers)):
            workers.submit(replace(job, number=number, seeds=seeds))
        for done, part in workers.results():
            parts[done.number] = part
    return together([parts[number] for number in sorted(parts)], traces=0)


def _shares(seeds: Sequence[int], workers: int) -> list[tuple[int, ...]]:
    """Divide ``seeds`` into consecutive parts of nearly equal size, at most one for each worker."""
    count = max(1, min(workers, len(seeds)))
    bounds = [len(seeds) * part // count for part in range(count + 1)]
    return [tuple(seeds[begin:end]) for begin, end in itertools.pairwise(bounds)]
