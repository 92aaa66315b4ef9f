"""The record of the plans of an iteration, if the slow agent wrote several plans."""

from __future__ import annotations

from pydantic import Field

from rlgpt.domain.evaluations import Evaluation
from rlgpt.domain.values import ActionPlan, Name, Value


class ComparedPlan(Value):
    """One of several plans of an iteration, with the results of its code in the rounds of the halving
    (:mod:`rlgpt.loop.halving`).

    :ivar number: number of the plan in its iteration, from 0.
    :ivar actions: names of the coded actions of the plan that work.
    :ivar equals: number of the earlier plan that this plan equals; None if the plan differs from all earlier plans. No
        code is written for a plan that equals an earlier plan.
    :ivar rounds: for each round of the halving in which the plan took part, the evaluation of its code.
    :ivar kept: whether the plan goes on as the plan of the iteration.
    """

    number: int = Field(ge=0)
    plan: ActionPlan
    actions: tuple[Name, ...] = ()
    equals: int | None = Field(default=None, ge=0)
    rehearsal: int = Field(default=0, ge=0, description="primitive steps of the rehearsals of the plan's code")
    rounds: tuple[Evaluation, ...] = ()
    kept: bool = False

    @property
    def played(self) -> int:
        """Number of primitive steps of the plan's code in all rounds."""
        return sum(evaluation.primitive_steps for evaluation in self.rounds)

    @property
    def result(self) -> Evaluation | None:
        """The evaluation of the plan's code with the episodes of all rounds; None if the code did not play."""
        if not self.rounds:
            return None
        return self.rounds[0].model_copy(update={"episodes": tuple(e for part in self.rounds for e in part.episodes)})
