"""Iterations of the outer loop with their results, and the rule that says which result is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from rlgpt.domain.evaluations import Evaluation, Rank
from rlgpt.domain.functions import CodedFunction
from rlgpt.domain.plans import ComparedPlan
from rlgpt.domain.rehearsals import Critique, FunctionRehearsal, Rehearsal
from rlgpt.domain.trainings import TrainingRecord
from rlgpt.domain.values import ActionPlan, CodedAction, RLSetup, Value


class Steps(Value):
    """Numbers of primitive steps that a run took, by purpose. Primitive steps of the report's episodes are not counted,
    because they are outside the budget of the run.

    :ivar rehearsal: primitive steps of the rehearsals of coded actions and functions, and of the episodes that are
        played to reach start states.
    :ivar code: primitive steps of the evaluations of coded actions alone.
    :ivar training: primitive steps of the trainings, including steps whose results were lost in a kill.
    :ivar selection: primitive steps of the evaluations of policies and of tuned code on the selection seeds, and of the
        episodes that are played again only to show pictures to the critic.
    :ivar lost: primitive steps, outside trainings, of stages that a kill or an error ended early. A stage that a kill
        or an error ended early was repeated later, or was never finished.
    """

    rehearsal: int = Field(default=0, ge=0)
    code: int = Field(default=0, ge=0)
    training: int = Field(default=0, ge=0)
    selection: int = Field(default=0, ge=0)
    lost: int = Field(default=0, ge=0)

    @property
    def total(self) -> int:
        return self.rehearsal + self.code + self.training + self.selection + self.lost

    @property
    def before_training(self) -> int:
        """Number of primitive steps that an iteration takes before its training begins."""
        return self.rehearsal + self.code + self.lost

    def __add__(self, other: Steps) -> Steps:
        return Steps(**{f: getattr(self, f) + getattr(other, f) for f in Steps.model_fields})


class Iteration(Value):
    """One finished iteration of the outer loop.

    :ivar index: number of the iteration, from 0.
    :ivar actions: the coded actions that the policy of the iteration may choose, including actions that are kept from
        earlier iterations.
    :ivar functions: features, reward terms and predicates that run at every primitive step, including functions that
        are kept from earlier iterations.
    :ivar training: the record of the iteration's training; None if no policy was trained.
    :ivar tuned_evaluation: the evaluation of tuned code, which is the coded actions with the parameter values that the
        parameter search of the training found; None if tuned code did not play.
    :ivar evaluation: the evaluation of the iteration's policy in its best mode, or of the coded actions if no policy
        was evaluated.
    :ivar rivals: the evaluations of the iteration's policy in the modes that lost the race.
    :ivar critique: the critic's findings on the iteration; None until a later iteration needs the findings.
    :ivar plans: all plans of the iteration, in the order of their numbers; empty if the slow agent wrote only one plan.
    """

    index: int
    plan: ActionPlan
    rehearsals: Mapping[str, tuple[Rehearsal, ...]] = Field(
        default_factory=dict, description="for each coded sub-action, the attempts at its code"
    )
    function_rehearsals: Mapping[str, tuple[FunctionRehearsal, ...]] = Field(
        default_factory=dict, description="for each function, the attempts at its code"
    )
    actions: tuple[CodedAction, ...] = ()
    functions: tuple[CodedFunction, ...] = ()
    setup: RLSetup
    code_evaluation: Evaluation | None = Field(
        default=None, description="evaluation of the plan's coded actions in order, on the selection seeds"
    )
    training: TrainingRecord | None = None
    tuned_evaluation: Evaluation | None = None
    evaluation: Evaluation = Field(description="evaluation on the selection seeds")
    rivals: tuple[Evaluation, ...] = ()
    critique: Critique | None = None
    steps: Steps
    plans: tuple[ComparedPlan, ...] = ()

    @model_serializer(mode="wrap")
    def _plans_if_any(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        plain: dict[str, Any] = handler(self)
        return {key: value for key, value in plain.items() if key != "plans" or value}

    @property
    def evaluations(self) -> tuple[Evaluation, ...]:
        """The different evaluations of the iteration on the selection seeds: of code, of tuned code, and of the policy
        in each mode.
        """
        played = (self.code_evaluation, self.tuned_evaluation, self.evaluation, *self.rivals)
        found = [e for e in played if e is not None]
        return tuple(e for n, e in enumerate(found) if e not in found[:n])

    @property
    def kept(self) -> Evaluation:
        """The best evaluation of the iteration on the selection seeds. If code and policy are equally good, ``kept`` is
        the policy's evaluation; the same holds for tuned code and policy. If code and tuned code are equally good, and
        better than the policy, ``kept`` is the evaluation of code.

        The policy is kept only if it is as good as code in two comparisons. One compares the results on the seeds that
        both have played, because some seeds are easier than others. The other compares
        :attr:`~rlgpt.domain.Evaluation.cautious_rank`, because a policy may have played far fewer episodes than code.
        """
        code, tuned, policy = self.code_evaluation, self.tuned_evaluation, self.evaluation
        best = code if tuned is None else tuned if code is None or _is_better(tuned, code) else code
        if best is None:
            return policy
        return best if _is_better(best, policy) or _worth(best) > _worth(policy) else policy

    @property
    def masked(self) -> tuple[str, ...]:
        """Names of the coded actions and coded functions that the iteration's policy does not use in its best mode."""
        quarantined = () if self.training is None else self.training.masked
        coded = self.setup.coded_actions if self.evaluation.mode == "base_only" else ()
        return (*quarantined, *(name for name in coded if name not in quarantined))

    @property
    def keeps_code(self) -> bool:
        """Whether the kept result uses a coded action: it is code, or a policy that may choose coded actions."""
        return self.kept.is_code or not set(self.setup.coded_actions) <= set(self.masked)

    @property
    def tuned_actions(self) -> tuple[CodedAction, ...]:
        """The coded actions with the parameter values that the parameter search of the training found."""
        search = None if self.training is None else self.training.search
        return self.actions if search is None else search.tuned(self.actions)

    @property
    def kept_actions(self) -> tuple[CodedAction, ...]:
        """The coded actions as the kept evaluation played them, which are the tuned actions if tuned code is kept."""
        return self.tuned_actions if self.kept.mode == "tuned" else self.actions

    @property
    def success_rate(self) -> float:
        """Success rate of the evaluation :attr:`kept`, 0 to 1."""
        return self.kept.success_rate


def _is_better(one: Evaluation, other: Evaluation) -> bool:
    """Whether ``one`` has a greater rank than ``other`` on the seeds that both played."""
    seeds = {e.seed for e in one.episodes} & {e.seed for e in other.episodes}
    return one.on(seeds).rank > other.on(seeds).rank


def best_of(history: Sequence[Iteration]) -> Iteration:
    """The iteration whose code or policy has the best result on the selection seeds. Iterations are compared by
    :attr:`~rlgpt.domain.Evaluation.cautious_rank`, then by success rates and scores, then by mean returns. If all of
    these are equal, the later iteration is better.

    :param history: all iterations to compare, at least one.
    """
    return max(history, key=lambda i: (_worth(i.kept), i.kept.mean_reward, i.index))


def _worth(evaluation: Evaluation) -> tuple[Rank, Rank]:
    """The sort key of an evaluation; the better evaluation has the larger key."""
    return evaluation.cautious_rank, evaluation.rank
