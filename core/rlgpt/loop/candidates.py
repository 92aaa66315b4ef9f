"""Writes several versions of a coded action (*candidates*) for one attempt, and rehearses them at the same time. The
best candidate becomes the attempt.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from rlgpt.domain import CodedAction, Rank, Rehearsal, Score, rank
from rlgpt.errors import TranscriptEnded, UnusableReplyError
from rlgpt.executors import Job
from rlgpt.loop.context import LoopContext
from rlgpt.loop.rehearse import RehearsalResult, rehearse
from rlgpt.plugin.library import library_of
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.policy_env import plugin_of
from rlgpt.sandbox import Sandbox, SandboxLimits


@dataclass(frozen=True)
class CandidateJob(Job):
    """The job that rehearses one candidate of a coded action. The result of a rehearsal depends only on the fields of
    its job.

    :ivar spec: the environment. The last action of the environment ``spec`` is rehearsed, after all its other actions
        have run.
    :ivar seeds: seeds of the rehearsal's episodes.
    """

    spec: EnvSpec = field(kw_only=True)
    seeds: tuple[int, ...] = field(kw_only=True)
    reward_weights: Mapping[str, float] = field(kw_only=True)


def rehearse_candidate(job: CandidateJob) -> RehearsalResult:
    """Execute the rehearsal ``job``."""
    spec, plugin = job.spec, plugin_of(job.spec)
    *before, action = spec.actions
    return rehearse(
        plugin,
        spec.task,
        before,
        action,
        seeds=job.seeds,
        sandbox=Sandbox(SandboxLimits(**spec.sandbox)),
        library=library_of(plugin, spec.task),
        functions=spec.functions,
        reward_weights=job.reward_weights,
    )


def best_candidate(
    ctx: LoopContext,
    stage: str,
    attempt: int,
    write: Callable[[int], CodedAction],
    job: Callable[[int, CodedAction], CandidateJob],
) -> Rehearsal:
    """Write and rehearse the candidates of one attempt at a coded action. The rehearsal of each candidate is a stage of
    the run, so that a resumed run does not repeat it.

    The rehearsal of a candidate begins while later candidates are still being written. A candidate that equals an
    earlier candidate is not rehearsed.

    :param stage: the name of the stage of candidate 0, without the ``0`` at its end.
    :param write: a function that asks the fast agent for the candidate with a given number. If the recording ends at a
        later candidate, or if the language model gives no usable reply for a later candidate, there are fewer
        candidates.
    :param job: a function that makes the job that rehearses a candidate.
    :returns: the rehearsal of the best candidate. The number of steps of this rehearsal includes the steps of all
        candidates.
    :raises RunError: the process of a candidate's rehearsal was lost.
    """
    rehearsals: dict[int, Rehearsal] = {}
    written: dict[int, CodedAction] = {}
    with ctx.executor(rehearse_candidate) as executor:
        for number in range(ctx.settings.candidates):
            stored = ctx.run.stage(f"{stage}{number}", Rehearsal)
            if stored is not None:
                rehearsals[number], written[number] = stored, stored.action
                continue
            try:
                action = write(number)
            except (TranscriptEnded, UnusableReplyError) as fault:
                if not written:
                    raise
                ctx.observer.message(f"there are {len(written)} of {ctx.settings.candidates} candidates: {fault}")
                break
            if action not in written.values():
                written[number] = action
                executor.submit(job(number, action))
        ctx.observer.stage("rehearse", sub_action=next(iter(written.values())).name)
        for done, result in executor.results():
            ctx.book.add("rehearsal", result.steps)
            rehearsals[done.number] = ctx.run.once(
                f"{stage}{done.number}",
                Rehearsal,
                lambda: _rehearsal(attempt, written[done.number], result),  # noqa: B023
            )
            ctx.book.update()
    best = max(rehearsals, key=lambda number: (evidence(rehearsals[number], ctx.task.score), -number))
    sound = sum(r.stopped_by is None for r in rehearsals.values())
    ctx.observer.message(
        f"{rehearsals[best].action.name}: candidate {best} goes on; {sound} of {len(rehearsals)} had no error"
    )
    return rehearsals[best].model_copy(update={"steps": sum(r.steps for r in rehearsals.values())})


def evidence(rehearsal: Rehearsal, score: Score | None) -> tuple[float, ...]:
    """The evidence of a rehearsal as numbers, which are compared one after another; greater numbers are better.

    The first two numbers say whether no verdict stopped the action in any episode, and whether none stopped it in the
    traced episode. The next two numbers are the number of episodes in which the action ran, and the number of
    successes. The last three numbers are the mean score, the return of the traced episode, and the negative number of
    primitive steps. Without a trace, the evidence is only two zeros.
    """
    trace = rehearsal.trace
    if trace is None:
        return (0.0, 0.0)
    return (
        rehearsal.stopped_by is None,
        rehearsal.verdict is None,
        rehearsal.exercised + sum(o.ended != "masked" for o in rehearsal.others),
        *outcome(rehearsal, score),
        trace.total_reward if math.isfinite(trace.total_reward) else -math.inf,
        -rehearsal.steps,
    )


def outcome(rehearsal: Rehearsal, score: Score | None) -> Rank:
    """The number of successes and the mean score of the episodes of a rehearsal; the better outcome is greater."""
    episodes = [e for e in (rehearsal.trace, *rehearsal.others) if e is not None]
    scores = [e.score for e in episodes if e.score is not None]
    return rank(sum(e.success for e in episodes), sum(scores) / len(scores) if scores else None, score)


def _rehearsal(attempt: int, action: CodedAction, rehearsed: RehearsalResult) -> Rehearsal:
    trace, steps, verdict, others = rehearsed
    return Rehearsal(attempt=attempt, action=action, steps=steps, trace=trace, verdict=verdict, others=others)
