"""The interfaces of the agents. An agent receives values and returns values, and has no access to an environment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from rlgpt.domain import (
    ActionPlan,
    CodedAction,
    CodedFunction,
    Critique,
    Evaluation,
    FunctionPlan,
    FunctionRehearsal,
    Iteration,
    Rehearsal,
    Review,
    RLSetup,
    SubAction,
    Task,
    TrainingRecord,
    Value,
)
from rlgpt.skills import Offered

History = tuple[Iteration, ...]
"""The finished iterations of a run, oldest first. The length of a history is the index of the iteration in progress."""


class Training(Value):
    """The planned training of the iteration in progress, and the target of the run.

    :ivar steps: number of primitive steps of the training, estimated from the steps that the run has spent so far.
        Steps whose results a kill has destroyed count as spent.
    :ivar decisions: estimated number of decisions of the training, from the steps per decision of the newest training
        or of the newest episodes of code; None if no episode has been played yet.
    :ivar least: number of decisions below which the iteration in progress trains no policy. With 0, a policy is always
        trained.
    :ivar least_at_last: number of decisions below which the last iteration trains no policy.
    :ivar target: success rate on the selection seeds, or mean score, at which the run ends. If ``target`` is None, the
        run uses its whole budget.
    :ivar episodes: minimal number of episodes that a success rate or a mean score needs to count as reaching the
        target.
    :ivar hyperparameters: names and current values of the trainer's hyperparameters that a setup may set.
    """

    steps: int
    decisions: int | None = None
    least: int = 0
    least_at_last: int = 0
    target: float | None = None
    episodes: int = 0
    hyperparameters: Mapping[str, float] = {}


class Brief(Value):
    """What agents get to know about a task. The fields ``training``, ``code``, ``functions``, ``remarks``, ``repairs``,
    ``candidate`` and ``plan`` change during a run; all others stay the same.

    :ivar stub: the functions that coded actions may call, as Python text, which are the primitives and ``observe()``.
        The documentation of ``observe()`` lists the keys of the view.
    :ivar knowledge: the expert knowledge of the plugin about the environment, at most 10,000 characters.
    :ivar primitives: names of the primitives.
    :ivar base_space: the environment's action space in words.
    :ivar base_actions: labels of the base actions, or of the parts of a base action.
    :ivar observations: name and meaning of each observation key that the policy may observe. The meaning of an
        observation key is empty if ``stub`` states the meaning.
    :ivar reward_terms: name and meaning of each reward term, with the kind and the range of the term.
    :ivar reset_options: name and meaning of each reset option.
    :ivar start: the first view of an episode as text.
    :ivar training: the planned training of the iteration in progress; None if the plan is unknown or no policy is
        trained.
    :ivar code: evaluation of the iteration's coded actions without a policy; None if the coded actions were not
        evaluated alone.
    :ivar functions: the coded functions (features, reward terms, predicates) of the iteration in progress that work.
        The outputs of coded features are keys of the view and observation keys; a setup may give a weight to a coded
        reward term.
    :ivar remarks: for each coded function, remarks in words about its rehearsal; a remark points to something that may
        be a fault.
    :ivar repairs: number of repairs that remain after the current attempt to write a piece of code; None if this number
        is unknown.
    :ivar candidate: number of the candidate (one of several versions of the code) that the agent writes for an attempt.
    :ivar plan: number of the plan that the agents work on, if the slow agent writes several plans in an iteration.
    :ivar restores: whether the episodes of a training may begin in the state in which a coded action ended
        (``after:ACTION``).
    :ivar trainer_bounds: the valid range of each hyperparameter of the trainer that a setup may choose.
    :ivar option_steps: maximal number of primitive steps of one call of a coded action. If ``option_steps`` is None, a
        call of a coded action may last as long as an episode.
    :ivar skills: the skills that the skill library offers to the run.
    """

    task: Task
    stub: str
    knowledge: str
    primitives: tuple[str, ...]
    base_space: str
    base_actions: tuple[str, ...]
    observations: tuple[tuple[str, str], ...]
    reward_terms: tuple[tuple[str, str], ...]
    reset_options: tuple[tuple[str, str], ...]
    default_setup: RLSetup
    start: str = ""
    training: Training | None = None
    code: Evaluation | None = None
    functions: tuple[CodedFunction, ...] = ()
    remarks: Mapping[str, tuple[str, ...]] = {}
    repairs: int | None = None
    candidate: int = 0
    plan: int = 0
    restores: bool = False
    trainer_bounds: Mapping[str, tuple[float, float]] = {}
    option_steps: int | None = None
    skills: tuple[Offered, ...] = ()

    @property
    def most_steps(self) -> int:
        """The largest value of ``max_steps`` (primitive steps per call) that a coded action may declare."""
        return self.option_steps or self.task.horizon


class Outcome(Value):
    """The results by which the critic judges an iteration.

    :ivar code_evaluation: evaluation of the coded actions in the plan's order without a policy; None if they were not
        evaluated.
    :ivar training: record of the iteration's training; None if no policy was trained.
    :ivar evaluation: evaluation of the policy; if no policy was evaluated, the evaluation of the code.
    :ivar frames: frames of one evaluation episode in order of time, as PNG data URLs; empty if the critic uses no
        images.
    :ivar rehearsals: for each coded sub-action, the attempts to write its code, in order of time.
    :ivar tuned_evaluation: evaluation of the coded actions with the parameter values that a search during the training
        found; None if there was no such evaluation.
    """

    plan: ActionPlan
    actions: tuple[CodedAction, ...]
    setup: RLSetup
    code_evaluation: Evaluation | None
    training: TrainingRecord | None
    evaluation: Evaluation
    frames: tuple[str, ...] = ()
    rehearsals: Mapping[str, tuple[Rehearsal, ...]] = {}
    tuned_evaluation: Evaluation | None = None


class SlowAgent(ABC):
    """The slow agent divides a task into sub-actions and decides which of them are coded and which are
    learned (RL-GPT, section 3).
    """

    @abstractmethod
    def plan(self, brief: Brief, history: History) -> ActionPlan:
        """Make the plan of the next iteration.

        :param brief: what the slow agent gets to know about the task.
        :param history: the finished iterations of the run; the newest iteration contains the critic's findings.
        :returns: a plan with at least one sub-action; the sub-actions have distinct names and are in the order of use.
        :raises rlgpt.errors.LLMError: the model returned no usable plan, and the request has no retry left.
        :raises rlgpt.errors.BudgetExceeded: the run's budget for language models is spent.
        """


class FastAgent(ABC):
    """The fast agent writes and repairs coded actions, and sets up the reinforcement learning (RL-GPT, section 3)."""

    @abstractmethod
    def write(
        self,
        brief: Brief,
        plan: ActionPlan,
        sub_action: SubAction,
        *,
        written: Sequence[CodedAction],
        attempts: Sequence[Rehearsal],
        history: History,
    ) -> CodedAction:
        """Write a coded action for ``sub_action``. The result of this method is a first version of the coded action, or
        a repair of the last attempt.

        :param brief: what the fast agent gets to know about the task.
        :param plan: the plan that contains ``sub_action``.
        :param sub_action: a sub-action of kind ``code``.
        :param written: the coded actions of the iteration in progress that already work.
        :param attempts: the failed attempts to write this sub-action's code so far; empty for a first version.
        :param history: the finished iterations.
        :returns: an action named ``sub_action.name``.
        :raises rlgpt.errors.LLMError: the model returned no source that lint accepts, and the request has no retry
            left.
        :raises rlgpt.errors.BudgetExceeded: the run's budget for language models is spent.
        """

    def write_function(
        self,
        brief: Brief,
        plan: ActionPlan,
        function: FunctionPlan,
        *,
        attempts: Sequence[FunctionRehearsal],
        history: History,
    ) -> CodedFunction | None:
        """Write a coded function, which is a feature, a reward term or a predicate. The result of this method is a
        first version of the coded function, or a repair of the last attempt.

        By default, the method returns None, for agents that write only coded actions. The iteration then continues
        without the coded function.

        :param brief: what the fast agent gets to know about the task.
        :param plan: the plan that contains ``function``. The method ``write_function`` is called only for functions of
            which the plan keeps no earlier version.
        :param attempts: the failed attempts to write this coded function so far; empty for a first version.
        :param history: the finished iterations.
        :returns: a coded function with the name and the kind of ``function``; None if the agent writes no coded
            functions.
        :raises rlgpt.errors.LLMError: the model returned no source that lint accepts, and the request has no retry
            left.
        :raises rlgpt.errors.BudgetExceeded: the run's budget for language models is spent.
        """
        return None

    @abstractmethod
    def setup(
        self,
        brief: Brief,
        plan: ActionPlan,
        *,
        actions: Sequence[CodedAction],
        history: History,
        rehearsals: Mapping[str, Sequence[Rehearsal]] | None = None,
    ) -> RLSetup:
        """Decide how the policy learns with the coded actions ``actions``.

        :param brief: what the fast agent gets to know about the task.
        :param plan: the plan of this iteration.
        :param actions: the coded actions of the iteration in progress that work. The setup may offer any of these coded
            actions to the policy.
        :param history: the finished iterations.
        :param rehearsals: for each coded sub-action, the attempts of this iteration to write its code, in order of
            time.
        :returns: a setup that names only reward terms, observation keys, base actions, coded actions and a reset option
            that exist. Its ``gamma`` is the discount per primitive step, and its ``horizon`` is in primitive steps.
        :raises rlgpt.errors.LLMError: the model returned no valid setup, and the request has no retry left.
        :raises rlgpt.errors.BudgetExceeded: the run's budget for language models is spent.
        """


Evidence = Literal["text", "frames", "both"]
"""The evidence that a critic receives about a rehearsal: the trace as text, or frames, or both. The frames show the
environment before the call of the action, and after primitives that the action called.
"""


class Shot(NamedTuple):
    """A frame of a rehearsal. ``moment`` says in words when the frame was taken; ``url`` has the frame as a PNG data
    URL.
    """

    moment: str
    url: str


class Critic(ABC):
    """The critic judges rehearsals and iterations, and writes findings for the slow agent and the fast agent (RL-GPT,
    section 3).
    """

    supports_vision: bool = False
    """Whether the critic uses :attr:`Outcome.frames`."""

    @abstractmethod
    def review(
        self,
        brief: Brief,
        sub_action: SubAction,
        rehearsal: Rehearsal,
        *,
        iteration: int,
        evidence: Evidence = "text",
        frames: Sequence[Shot] = (),
    ) -> Review:
        """Judge whether a rehearsed coded action does what its sub-action describes.

        :param brief: what the critic gets to know about the task.
        :param evidence: whether the critic receives a trace, frames, or both as evidence. Only a critic with
            ``supports_vision`` receives frames.
        :param sub_action: the sub-action for which the rehearsed coded action was written.
        :param frames: frames of the rehearsed call of the coded action, in order of time; empty if no frame could be
            rendered.
        :param rehearsal: the attempt to judge, with its trace. No verdict has stopped the coded action in this attempt.
        :param iteration: the index of the iteration in progress.
        :returns: the review. A review with ``works=False`` (the coded action does not work) has at least one finding.
        :raises rlgpt.errors.LLMError: the model returned no usable review, and the request has no retry left.
        :raises rlgpt.errors.BudgetExceeded: the run's budget for language models is spent.
        """

    @abstractmethod
    def critique(self, brief: Brief, outcome: Outcome, history: History) -> Critique:
        """Write findings on a finished iteration for the slow agent and for the fast agent.

        :param brief: what the critic gets to know about the task.
        :param outcome: the results of the iteration that the critic judges.
        :param history: the iterations before the judged one.
        :returns: the findings for the two agents.
        :raises rlgpt.errors.LLMError: the model returned no usable critique, and the request has no retry left.
        :raises rlgpt.errors.BudgetExceeded: the run's budget for language models is spent.
        """
