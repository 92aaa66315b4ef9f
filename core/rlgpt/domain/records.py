"""Records of a run, such as critiques, rehearsals, iterations and bundles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from rlgpt.domain.events import Ending, Evaluation, Rank, Trace, TrainingRecord, Verdict
from rlgpt.domain.functions import CodedFunction
from rlgpt.domain.graph import GoalGraph
from rlgpt.domain.plans import ComparedPlan
from rlgpt.domain.values import ActionPlan, CodedAction, Metric, Name, Plain, RLSetup, Score, TaskId, Value


class Finding(Value):
    """A problem that the critic found, with a suggestion. ``action`` is the name of a sub-action; if it is empty, the
    critic's finding is about the whole plan.
    """

    action: str = ""
    problem: str
    suggestion: str


class Critique(Value):
    """The critic's findings on an iteration. The slow agent gets the findings on the plan, and the fast agent gets the
    findings on code and setup.
    """

    summary: str
    for_slow: tuple[Finding, ...] = ()
    for_fast: tuple[Finding, ...] = ()


class Review(Value):
    """The critic's judgement of one rehearsal. A review has at least one finding if ``works`` is False."""

    works: bool
    findings: tuple[Finding, ...] = ()


class OtherStart(Value):
    """The result of a rehearsal of a coded action in an episode whose trace is not kept.

    :ivar ended: how the coded action ended; ``masked`` if the action was not allowed to start.
    :ivar verdict: the verdict that stopped the coded action; None if no verdict stopped it.
    :ivar steps: number of primitive steps of the action.
    :ivar score: the score of the episode; None if the task has no score.
    :ivar before, after: the view before and after the action.
    """

    seed: int
    ended: Ending
    success: bool
    verdict: Verdict | None = None
    steps: int = Field(default=0, ge=0)
    score: float | None = None
    before: dict[str, Plain] = Field(default_factory=dict)
    after: dict[str, Plain] = Field(default_factory=dict)


class Rehearsal(Value):
    """One attempt at a coded action, with the action, the trace of its rehearsal in the environment, and the critic's
    review.

    :ivar attempt: number of the version of the coded action, 0 for the first version and 1 for the first repair.
    :ivar trace: the trace of the episode whose last decision is the rehearsed action; None if lint refused the source
        of the action.
    :ivar verdict: the verdict that stopped the rehearsed action in the traced episode; None if no verdict stopped it.
    :ivar others: the results of the rehearsal in the episodes whose trace is not kept.
    :ivar review: the critic's review of the rehearsal; None if the critic was not asked.
    """

    attempt: int
    action: CodedAction
    steps: int = Field(
        default=0, ge=0, description="primitive steps of the rehearsal, including steps outside the trace"
    )
    trace: Trace | None = None
    verdict: Verdict | None = None
    others: tuple[OtherStart, ...] = ()
    review: Review | None = None

    @property
    def stopped_by(self) -> Verdict | None:
        """The verdict that stopped the action in the traced episode, else the first verdict in another episode of the
        rehearsal.
        """
        return self.verdict or next((o.verdict for o in self.others if o.verdict is not None), None)

    @property
    def failed(self) -> bool:
        """Whether a verdict stopped the rehearsed action in any episode, or the critic's review says that the action
        does not work.

        A rehearsed action that never ran has not failed, but does not count as working either.
        """
        if self.stopped_by is not None:
            return True
        return self.review is not None and not self.review.works and (self.trace is None or self.exercised)

    @property
    def exercised(self) -> bool:
        """Whether the rehearsed action was allowed to start in the traced episode. The rehearsed action is the last
        decision of the trace.
        """
        return self.trace is not None and not (self.trace.decisions and self.trace.decisions[-1].ended == "masked")

    @property
    def succeeded(self) -> bool:
        """Whether the rehearsed action works and the task succeeded in every episode of the rehearsal."""
        return self.works and self.trace is not None and self.trace.success and all(o.success for o in self.others)

    @property
    def works(self) -> bool:
        """Whether the rehearsed action ran in some episode and did not fail."""
        return self.exercised and not self.failed


class AnswerSummary(Value):
    """Figures about the answers of a coded function during a rehearsal, before the answers are clipped into their
    bounds.

    :ivar name: name of the output that the answers belong to, or of the coded function if it is not a feature.
    :ivar low, high: the least and the greatest answer. The answers of a predicate are 0 for False and 1 for True.
    :ivar changes: number of moments at which the answer of the function differs from its previous answer in the same
        episode.
    :ivar outside: number of moments at which the answer of the function is outside its declared bounds.
    :ivar samples: a few answers of the function from the first episode, at evenly spaced moments, in order of time.
    """

    name: Name
    low: float
    high: float
    mean: float
    changes: int = Field(ge=0)
    outside: int = Field(default=0, ge=0)
    samples: tuple[float, ...] = ()


class FunctionRehearsal(Value):
    """One attempt at a coded function, with the function and its answers at the primitive steps of a few episodes.

    :ivar attempt: number of the version of the coded function, 0 for the first version and 1 for the first repair.
    :ivar played: a description, in words, of the episodes in which the coded function was rehearsed.
    :ivar moments: number of views (after resets and primitive steps) with which the coded function was called. The
        coded function is not called any more after its first verdict.
    :ivar fuel: the largest number of units of fuel that one call of the coded function used.
    :ivar answers: figures about the answers, one for each output of a feature, or one for a function of another kind;
        empty if the function gave no answer.
    :ivar verdict: the verdict that stopped the coded function in its rehearsal; None if no verdict stopped it.
    :ivar fault: a description of a fault of the function that no verdict covers, such as bounds that exclude every
        answer; empty without such a fault.
    :ivar remarks: descriptions of properties of the function that may or may not be faults, such as answers that never
        change.
    """

    attempt: int
    function: CodedFunction
    steps: int = Field(
        default=0, ge=0, description="primitive steps of the episodes that were played for the rehearsal"
    )
    played: str = ""
    moments: int = Field(default=0, ge=0)
    fuel: int = Field(default=0, ge=0)
    answers: tuple[AnswerSummary, ...] = ()
    verdict: Verdict | None = None
    fault: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the function must be repaired."""
        return self.verdict is not None or bool(self.fault)


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
    def kept(self) -> Evaluation:
        """The best evaluation of the iteration on the selection seeds. If code and policy are equally good, ``kept`` is
        the policy's evaluation; the same holds for tuned code and policy. If code and tuned code are equally good, and
        better than the policy, ``kept`` is the evaluation of code.

        A policy may have played far fewer episodes than code, so the two are compared by
        :attr:`~rlgpt.domain.Evaluation.cautious_rank`. If tuned code played, two evaluations are also compared on the
        seeds that both have, because a candidate that was dropped from the race has played fewer seeds.
        """
        code, tuned, policy = self.code_evaluation, self.tuned_evaluation, self.evaluation
        best = code if tuned is None else tuned if code is None or _is_better(tuned, code) else code
        if best is None:
            return policy
        better = tuned is not None and _is_better(best, policy)
        return best if better or _worth(best) > _worth(policy) else policy

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


class Provenance(Value):
    """The origin of a bundle, and its success rate on seeds that were not used for selection.

    :ivar versions: for Python and each package on which the result depends, the version with which the run began.
    :ivar success_rate: success rate of the bundle, 0 to 1; None if the bundle was not evaluated or the task has no
        success.
    """

    task: TaskId
    versions: Mapping[str, str] = Field(default_factory=dict)
    success_rate: float | None = None
    score: float | None = Field(default=None, description="mean score; None if the task has no score")
    episodes: int = 0
    primitive_steps: int = Field(default=0, description="number of all primitive steps of the run that made the bundle")
    model: str = Field(default="", description="the language models that wrote the actions")


class World(Value):
    """The names of actions and observations that the code in a bundle uses, for an environment without a plugin.

    :ivar labels: for the label of each part of the base action, the meaning of this part; None if the environment's own
        labels are used.
    :ivar observations: for the name of each number of the observation, its meaning; None if the observation is one list
        without names. For an observation from a Dict space, each part of the observation has a meaning, or names and
        meanings for its numbers.
    :ivar primitives: names of the user's own primitives. The user's own primitives are Python code outside the sandbox
        and are not part of a bundle.
    :ivar idle: the user's idle action, which is either a label of a Discrete space or an action with lists in place of
        arrays. None if the user gave no idle action.
    :ivar success: the user's rule of success as text (:mod:`rlgpt.plugin.rules`); None if there is no rule, or if the
        rule is a Python function.
    :ivar metrics: for keys of ``info``, the metrics that the values of these keys are.
    """

    labels: Mapping[str, str | Mapping[str, str]] | None = None
    observations: Mapping[str, str | Mapping[str, str]] | None = None
    primitives: tuple[str, ...] = ()
    idle: Plain = None
    success: str | None = None
    score: Score | None = None
    metrics: Mapping[str, Metric] = Field(default_factory=dict)


class BundledGraph(Value):
    """The sub-goals of a graph, and the coded actions of a bundle that reach these sub-goals.

    :ivar actions: for each sub-goal, the names of the coded actions that play it. The coded actions of a sub-goal run
        in their order in the tuple, and then from the beginning again.
    """

    graph: GoalGraph
    actions: Mapping[str, tuple[Name, ...]]


class Bundle(Value):
    """A bundle, which contains coded actions with their RL setup and their test result. Users can publish and share a
    bundle.

    :ivar schema_version: version of the format. A bundle of version 1 has no functions, of version 2 no shared code, of
        version 3 no graph.
    :ivar actions: coded actions with distinct names. All coded actions of the bundle that use shared code use the same
        shared code.
    :ivar functions: coded features, reward terms and predicates of the bundle, with distinct names.
    :ivar setup: the RL setup with which a policy learned to use the coded actions; None if no policy was trained.
    :ivar world: the names of the environment's actions and observations, if :func:`rlgpt.design` made the bundle; else
        None.
    :ivar graph: the graph of sub-goals that the coded actions reach, if a planner divided the task; else None.
    """

    schema_version: Literal[1, 2, 3, 4] = 3
    actions: tuple[CodedAction, ...]
    functions: tuple[CodedFunction, ...] = Field(default=(), max_length=16)
    setup: RLSetup | None = None
    plan: ActionPlan | None = None
    tested_on: Provenance | None = None
    world: World | None = None
    graph: BundledGraph | None = None

    @model_serializer(mode="wrap")
    def _graph_if_any(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        plain: dict[str, Any] = handler(self)
        return {key: value for key, value in plain.items() if key != "graph" or value is not None}

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        for what, names in (
            ("coded actions", [a.name for a in self.actions]),
            ("functions", [f.name for f in self.functions]),
        ):
            if len(set(names)) != len(names):
                raise ValueError(f"names of {what} must differ, got {names}")
        if len({a.shared for a in self.actions if a.shared}) > 1:
            raise ValueError("all actions of a bundle must have the same shared code, or none; got several")
        if self.graph is not None:
            there, nodes = {a.name for a in self.actions}, {n.name for n in self.graph.graph.nodes}
            for node, played in self.graph.actions.items():
                if node not in nodes or not there.issuperset(played):
                    raise ValueError(f"the graph names a sub-goal or an action that is not in the bundle: {node!r}")
        return self
