"""The interfaces of the agents. An agent receives and returns values, and has no access to an environment."""

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
    """The plan for the training of this iteration, and the target of the run.

    :ivar steps: number of primitive steps of the training, estimated from the steps that the run has spent so far.
        Steps whose results were lost count too.
    :ivar decisions: estimated number of decisions of the training, from the steps per decision of the newest training
        or of the newest episodes of code; None if no episode has been played yet.
    :ivar least: number of decisions below which no policy is trained in this iteration. With 0, a policy is always
        trained.
    :ivar least_at_last: number of decisions below which no policy is trained in the last iteration.
    :ivar target: success rate on the selection seeds, or mean score, at which the run ends. If the target is None, the
        run uses its whole budget.
    :ivar episodes: minimal number of episodes with which a result counts as reaching the target.
    :ivar hyperparameters: names and present values of the trainer's hyperparameters that a setup may set.
    """

    steps: int
    decisions: int | None = None
    least: int = 0
    least_at_last: int = 0
    target: float | None = None
    episodes: int = 0
    hyperparameters: Mapping[str, float] = {}


class Brief(Value):
    """What agents get to know about a task. All fields except ``training``, ``code``, ``functions``,
    ``remarks`` and ``repairs`` come from the plugin and are the same for a whole run.

    :ivar stub: the functions that coded actions may call, as Python text. These functions are the primitives, and
        ``observe()``, whose documentation lists the keys of the view.
    :ivar knowledge: the plugin's expert knowledge, at most 10,000 characters.
    :ivar primitives: names of the primitives.
    :ivar base_space: the environment's action space in words.
    :ivar base_actions: labels of the parts of a base action.
    :ivar observations: name and meaning of each key that the policy may observe. The meaning is empty if ``stub``
        states it.
    :ivar reward_terms: name and meaning of each reward term, with kind and range.
    :ivar reset_options: name and meaning of each start state that training may use.
    :ivar start: the first view of an episode as text.
    :ivar training: the planned training of the iteration in progress; None if it is unknown or no policy is trained.
    :ivar code: evaluation of the coded actions of the iteration in progress without a policy; None if code alone was
        not played.
    :ivar functions: the functions of the iteration in progress that work. Outputs of features are keys of the view and
        observation keys; reward terms may have a weight.
    :ivar remarks: for each function, observations from its rehearsal that may or may not be faults, in words.
    :ivar repairs: number of repairs that remain after the present attempt at a piece of code; None if it is unknown.
    :ivar candidate: number of the candidate (version of the code) to write, if an attempt has several candidates.
    :ivar restores: whether training episodes may begin in the state in which a coded action ended (``after:ACTION``).
    :ivar trainer_bounds: the valid range of each hyperparameter that a setup may choose.
    :ivar option_steps: maximal number of primitive steps of one call of a coded action. If ``option_steps`` is None, a
        call may last as long as an episode.
    :ivar skills: the skills that a library offers to the run.
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
    restores: bool = False
    trainer_bounds: Mapping[str, tuple[float, float]] = {}
    option_steps: int | None = None
    skills: tuple[Offered, ...] = ()

    @property
    def most_steps(self) -> int:
        """The largest ``max_steps`` that a coded action may have."""
        return self.option_steps or self.task.horizon


class Outcome(Value):
    """The results by which the critic judges an iteration.

    :ivar code_evaluation: evaluation of the coded actions alone, in the plan's order; None if they were not evaluated.
    :ivar training: record of the training; None if no policy was trained.
    :ivar evaluation: evaluation of the policy, or of the code if no policy was evaluated.
    :ivar frames: frames of one evaluation episode in order of time, as PNG data URLs; empty if the critic uses no
        images.
    :ivar rehearsals: for each coded sub-action, the attempts at its code, in order.
    :ivar tuned_evaluation: evaluation of the coded actions with the parameter values that the search of the training
        found; None if they were not evaluated with these values.
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

        :param brief: what the agent gets to know about the task.
        :param history: the finished iterations; the newest one contains the critic's findings.
        :returns: at least one sub-action, with distinct names, in the order of use.
        :raises rlgpt.errors.LLMError: the model returned no usable plan and no retry is left.
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
        """Write a coded action for ``sub_action``. The result is a first version, or a repair of the last attempt.

        :param brief: what the agent gets to know about the task.
        :param plan: the plan that contains ``sub_action``.
        :param sub_action: a sub-action of kind ``code``.
        :param written: the coded actions of this iteration that already work.
        :param attempts: the failed attempts at this sub-action so far; empty for a first version.
        :param history: the finished iterations.
        :returns: an action named ``sub_action.name``.
        :raises rlgpt.errors.LLMError: the model returned no source that lint accepts and no retry is left.
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
        """Write a feature, reward term or predicate. The result is a first version, or a repair of the last attempt.

        The method of this base class returns None, for agents that write only actions. The iteration then continues
        without the function.

        :param brief: what the agent gets to know about the task.
        :param plan: the plan that contains ``function``. The plan does not keep an earlier version of the function.
        :param attempts: the failed attempts at this function so far; empty for a first version.
        :param history: the finished iterations.
        :returns: a function with the name and the kind of ``function``; None if the agent writes no functions.
        :raises rlgpt.errors.LLMError: the model returned no source that lint accepts and no retry is left.
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
        """Decide how the policy learns with ``actions``.

        :param brief: what the agent gets to know about the task.
        :param plan: the plan of this iteration.
        :param actions: the coded actions of this iteration that work. The setup may offer any of them to the policy.
        :param history: the finished iterations.
        :param rehearsals: for each coded sub-action, the attempts at its code in this iteration, in order.
        :returns: a setup. All reward terms, observation keys, base actions, coded actions and the reset option in this
            setup exist. ``gamma`` is the discount per primitive step; ``horizon`` is in primitive steps.
        :raises rlgpt.errors.LLMError: the model returned no valid setup and no retry is left.
        :raises rlgpt.errors.BudgetExceeded: the run's budget for language models is spent.
        """


Evidence = Literal["text", "frames", "both"]
"""The evidence that a critic receives about a rehearsal, which is the trace as text, or frames (one before the call of
the action, and one after each primitive that the action calls), or both.
"""


class Shot(NamedTuple):
    """A frame of a rehearsal. ``moment`` says when the frame was taken; ``url`` has the frame as a PNG data URL."""

    moment: str
    url: str


class Critic(ABC):
    """The critic judges rehearsals and iterations, and writes findings for the other agents (RL-GPT, section 3)."""

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
        """Judge whether a rehearsed action does what its sub-action describes.

        :param brief: what the agent gets to know about the task.
        :param evidence: the kind of evidence that the critic receives. Only a critic with ``supports_vision`` receives
            frames.
        :param sub_action: the sub-action for which the action was written.
        :param frames: frames of the rehearsed call, in order of time; empty if no frame could be rendered.
        :param rehearsal: the attempt to judge, with its trace. The action of this attempt ran without a violation of
            the sandbox's limits.
        :param iteration: the index of the iteration in progress.
        :returns: the review. A review with ``works=False`` has at least one finding.
        :raises rlgpt.errors.LLMError: the model returned no usable review and no retry is left.
        :raises rlgpt.errors.BudgetExceeded: the run's budget for language models is spent.
        """

    @abstractmethod
    def critique(self, brief: Brief, outcome: Outcome, history: History) -> Critique:
        """Write findings on a finished iteration for the slow agent and for the fast agent.

        :param brief: what the agent gets to know about the task.
        :param outcome: the results of the iteration that is judged.
        :param history: the iterations before the judged one.
        :returns: the findings for the two agents.
        :raises rlgpt.errors.LLMError: the model returned no usable critique and no retry is left.
        :raises rlgpt.errors.BudgetExceeded: the run's budget for language models is spent.
        """
