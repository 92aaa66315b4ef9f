"""The agents as the loop sees them. An agent receives and returns values; it holds no environment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from rlgpt.domain import (
    ActionPlan,
    CodedAction,
    Critique,
    Evaluation,
    Iteration,
    Rehearsal,
    Review,
    RLSetup,
    SubAction,
    Task,
    TrainingRecord,
    Value,
)

History = tuple[Iteration, ...]
"""The finished iterations of a run, oldest first. Its length is the index of the iteration in progress."""


class Brief(Value):
    """What agents know about a task. It is rendered from the plugin. All but ``start`` and ``training_steps`` is the
    same for a whole run.

    :ivar stub: the library of coded actions as Python text: primitives, and ``observe()`` with the view's keys.
    :ivar knowledge: the plugin's expert knowledge, at most 6,000 characters.
    :ivar primitives: names of the primitives.
    :ivar base_space: the environment's action space in words.
    :ivar base_actions: labels of the parts of a base action.
    :ivar observations: name and meaning of each key that the policy may observe.
    :ivar reward_terms: name and meaning of each reward term, with kind and range.
    :ivar reset_options: name and meaning of each start state that training may use.
    :ivar start: the first view of an episode as text.
    :ivar training_steps: primitive steps of this iteration's training, estimated from what the run has spent so far;
        None if unknown.
    :ivar restores: whether training may begin where a coded action led to (``after:ACTION``).
    :ivar trainer_bounds: hyperparameter -> range, of those that a setup may choose.
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
    training_steps: int | None = None
    restores: bool = False
    trainer_bounds: Mapping[str, tuple[float, float]] = {}


class Outcome(Value):
    """What the critic judges an iteration by.

    :ivar code_evaluation: the coded actions alone, in the plan's order; None where they were not evaluated.
    :ivar training: None where no policy was trained.
    :ivar evaluation: the policy, or the code where no policy was evaluated.
    :ivar frames: PNG data URLs of one evaluation episode, in order of time; empty where the critic sees none.
    """

    plan: ActionPlan
    actions: tuple[CodedAction, ...]
    setup: RLSetup
    code_evaluation: Evaluation | None
    training: TrainingRecord | None
    evaluation: Evaluation
    frames: tuple[str, ...] = ()


class SlowAgent(ABC):
    """Decides which sub-actions a task has, and for each whether it is coded or learned (RL-GPT, section 3)."""

    @abstractmethod
    def plan(self, brief: Brief, history: History) -> ActionPlan:
        """The plan of the next iteration.

        :param history: the finished iterations; the newest one carries the critic's findings.
        :returns: at least one sub-action, with distinct names, in the order of use.
        :raises rlgpt.errors.LLMError: no usable plan after the last retry.
        :raises rlgpt.errors.BudgetExceeded: the run's budget for language models is spent.
        """


class FastAgent(ABC):
    """Writes and repairs coded actions, and sets up the reinforcement learning (RL-GPT, section 3)."""

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
        """A coded action for ``sub_action``: a first version, or a repair of the last attempt.

        :param plan: the plan that contains ``sub_action``.
        :param sub_action: of kind ``code``.
        :param written: the coded actions of this iteration that work already.
        :param attempts: the attempts at this sub-action so far, each of which failed; empty for a first version.
        :param history: the finished iterations.
        :returns: an action named ``sub_action.name``.
        :raises rlgpt.errors.LLMError: no source that lint accepts after the last retry.
        :raises rlgpt.errors.BudgetExceeded: the run's budget for language models is spent.
        """

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
        """How the policy learns with ``actions``.

        :param actions: the coded actions that were kept; the setup may use each of them or leave it out.
        :param history: the finished iterations.
        :param rehearsals: sub-action -> its attempts in this iteration, in order.
        :returns: a setup whose names all exist: reward terms, observation keys, base actions, coded actions and reset
            option. ``gamma`` is per primitive step, ``horizon`` in primitive steps.
        :raises rlgpt.errors.LLMError: no valid setup after the last retry.
        :raises rlgpt.errors.BudgetExceeded: the run's budget for language models is spent.
        """


class Critic(ABC):
    """Judges rehearsals and iterations, and writes findings for the other agents (RL-GPT, section 3)."""

    supports_vision: bool = False
    """Whether the critic uses :attr:`Outcome.frames`."""

    @abstractmethod
    def review(self, brief: Brief, sub_action: SubAction, rehearsal: Rehearsal, *, iteration: int) -> Review:
        """Whether a rehearsed action does what its sub-action describes.

        :param rehearsal: an attempt that ran without a violation, with its trace.
        :param iteration: the index of the iteration in progress.
        :returns: at least one finding where ``works`` is False.
        :raises rlgpt.errors.LLMError: no usable review after the last retry.
        :raises rlgpt.errors.BudgetExceeded: the run's budget for language models is spent.
        """

    @abstractmethod
    def critique(self, brief: Brief, outcome: Outcome, history: History) -> Critique:
        """Findings on a finished iteration, for the slow agent and for the fast agent.

        :param outcome: the iteration that is judged.
        :param history: the iterations before it.
        :raises rlgpt.errors.LLMError: no usable critique after the last retry.
        :raises rlgpt.errors.BudgetExceeded: the run's budget for language models is spent.
        """
