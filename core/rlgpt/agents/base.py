"""The agents as the loop knows them. Values in, values out; none holds an environment."""

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


class Brief(Value):
    """What agents are told of a task: rendered from the plugin, the same for a run's whole life (but ``start``).

    :ivar stub: the coded actions' library as Python: primitives and ``observe()`` with the view's keys.
    :ivar base_actions: labels of the base action's parts and what they are.
    :ivar start: the first view of an episode, in words (measured).
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


class Outcome(Value):
    """What the critic judges an iteration by."""

    plan: ActionPlan
    actions: tuple[CodedAction, ...]
    setup: RLSetup
    code_evaluation: Evaluation | None
    training: TrainingRecord | None
    evaluation: Evaluation
    frames: tuple[str, ...] = ()


class Planner(ABC):
    """Splits a long task into sub-tasks, each with a policy of its own."""

    @abstractmethod
    def split(self, task: Task) -> Sequence[Task]: ...


class SlowAgent(ABC):
    """Decides which sub-actions there are, and for each: code or RL."""

    @abstractmethod
    def plan(self, brief: Brief, history: History) -> ActionPlan: ...


class FastAgent(ABC):
    """Writes and repairs coded actions, and sets up the learning of the rest."""

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
        """A first version (no ``attempts`` yet), or a repair of the last attempt."""

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
        """How to learn with ``actions``; ``rehearsals`` tell how each fared in this iteration."""


class Critic(ABC):
    """Reads what happened; writes findings for each agent."""

    supports_vision: bool = False
    """Whether :attr:`Outcome.frames` would be looked at."""

    @abstractmethod
    def review(self, brief: Brief, sub_action: SubAction, rehearsal: Rehearsal, *, iteration: int) -> Review: ...

    @abstractmethod
    def critique(self, brief: Brief, outcome: Outcome, history: History) -> Critique: ...
