"""Computes the figures about one run that the tables of a study show. All figures come from the run's record."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from rlgpt.agents.deadloop import DeadLoops, of_run
from rlgpt.domain import Evaluation, Iteration, Rehearsal, Value
from rlgpt.llm.base import Role
from rlgpt.llm.exchange import Exchange
from rlgpt.planner.records import REPORTED, Playing
from rlgpt.report.loaded import LoadedRun
from rlgpt.runs import Run

Part = tuple[Role, int]
"""A role of the language model, and the number of an iteration of the outer loop or of a revision of a graph."""


class Repairs(Value):
    """How many coded actions were repaired.

    :ivar failed: number of coded actions whose first version failed.
    :ivar repaired: number of coded actions whose first version failed and whose last version works.
    """

    failed: int = 0
    repaired: int = 0

    @property
    def rate(self) -> float | None:
        """The share ``repaired / failed`` of repaired coded actions, from 0 to 1; None if no first version failed."""
        return self.repaired / self.failed if self.failed else None

    def __add__(self, other: Repairs) -> Repairs:
        return Repairs(failed=self.failed + other.failed, repaired=self.repaired + other.repaired)


class Bill(Value):
    """Tokens and dollars of a number of exchanges (requests with their replies). A replayed exchange is counted with
    the cost of the original exchange.

    :ivar dollars: the cost of the exchanges in dollars; None if the price of an exchange is unknown.
    """

    calls: int = 0
    tokens: int = 0
    dollars: float | None = 0.0

    def __add__(self, other: Bill) -> Bill:
        known = self.dollars is not None and other.dollars is not None
        dollars = (self.dollars or 0.0) + (other.dollars or 0.0) if known else None
        return Bill(calls=self.calls + other.calls, tokens=self.tokens + other.tokens, dollars=dollars)


class CellResult(Value):
    """The result of one run of a study.

    :ivar outcome: the success rate in the run's report; for a task without success, the mean score, or None if the
        score is not finite.
    :ivar by_iteration: the success rate (or mean score) on the selection seeds, for each iteration of the outer loop.
    :ivar dead_loops: number of repairs that failed in the same way as the previous attempt, and number of all repairs.
    :ivar bills: a dict from role and iteration to the cost of the exchanges of this role in this iteration.
    :ivar models: the language models that replied.
    :ivar reached: a dict from each sub-goal of a graph to the share of the report's episodes in which the sub-goal was
        reached, 0 to 1.
    :ivar stopped: the reason why the run ended before its budget or its iterations were used; empty if the run did not
        end early.
    """

    outcome: float | None
    by_iteration: tuple[float | None, ...] = ()
    repairs: Repairs = Repairs()
    dead_loops: tuple[int, int] = (0, 0)
    bills: Mapping[Part, Bill] = {}
    models: tuple[str, ...] = ()
    reached: Mapping[str, float] = {}
    stopped: str = ""

    @property
    def bill(self) -> Bill:
        return sum(self.bills.values(), Bill())


def result_of(run: Run) -> CellResult | None:
    """The result of the run ``run`` for the study's tables; None before the run's report.

    :raises RunError: a file of the run cannot be read.
    """
    loaded = LoadedRun.of(run)
    if loaded.report is None:
        return None
    kept = loaded.report.evaluation
    iterations = [*loaded.iterations, *(i for _, part, _ in loaded.parts() for i in part)]
    loops = of_run(iterations)
    return CellResult(
        outcome=figure(kept),
        by_iteration=tuple(figure(i.kept) for i in loaded.iterations),
        repairs=repairs_of(iterations),
        dead_loops=(loops.repeated, loops.repairs),
        bills=bills_of(loaded.exchanges),
        models=tuple(sorted({e.reply.model for e in loaded.exchanges})),
        reached=_reached(run),
        stopped=run.record.reason if run.record.status == "stopped" else "",
    )


def figure(evaluation: Evaluation) -> float | None:
    """The success rate in an evaluation; for a task without success, the mean score, or None if it is not finite."""
    value = evaluation.success_rate if evaluation.has_success else evaluation.mean_score
    return value if value is not None and math.isfinite(value) else None


def repairs_of(iterations: Iterable[Iteration]) -> Repairs:
    """Count the coded actions whose first version failed, and those among them whose last version works."""
    return sum((_repaired(attempts) for i in iterations for attempts in i.rehearsals.values()), Repairs())


def bills_of(exchanges: Sequence[Exchange]) -> dict[Part, Bill]:
    """A dict from role and iteration to the cost of the exchanges of this role in this iteration. The keys are in the
    order of their first exchanges.
    """
    bills: dict[Part, Bill] = {}
    for exchange in exchanges:
        key, usage = exchange.request.key, exchange.reply.usage
        one = Bill(calls=usage.calls, tokens=usage.tokens, dollars=usage.dollars)
        bills[key.role, key.iteration] = bills.get((key.role, key.iteration), Bill()) + one
    return bills


def pooled(pairs: Iterable[tuple[int, int]]) -> DeadLoops:
    """The sum of the dead loops of several runs. (A *dead loop* is a repair that failed in the same way as the previous
    attempt.)
    """
    return sum((DeadLoops(repairs, repeated) for repeated, repairs in pairs), DeadLoops())


def _repaired(attempts: Sequence[Rehearsal]) -> Repairs:
    if not attempts or not attempts[0].failed:
        return Repairs()
    return Repairs(failed=1, repaired=int(not attempts[-1].failed))


def _reached(run: Run) -> dict[str, float]:
    played = run.stage(REPORTED, Playing)
    if played is None or not played.played.episodes:
        return {}
    episodes = played.played.episodes
    names = dict.fromkeys(name for episode in episodes for name in episode.reached)
    return {name: sum(name in e.reached for e in episodes) / len(episodes) for name in names}
