"""What a trainer is: it takes a recipe for an environment and a budget of primitive steps, and leaves a policy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from pydantic import Field

from rlgpt.domain import CodedAction, CurvePoint, RLSetup, Task, TrainingRecord, Value

if TYPE_CHECKING:
    import numpy as np


Encoder = Literal["small", "nature", "impala"]


class Hyperparameters(Value):
    """PPO's settings, the same names in every trainer. Lengths are in decisions, not primitive steps.

    The defaults are those that learnt with options at a few thousand decisions (small batches, little entropy). Upper
    bounds keep a run that somebody else made from filling the memory.
    """

    num_envs: int = Field(default=4, ge=1, le=4096)
    num_steps: int = Field(default=32, ge=1, le=100_000, description="decisions of each environment between updates")
    minibatch_size: int = Field(default=64, ge=1, le=1_000_000)
    update_epochs: int = Field(default=8, ge=1, le=1000)
    learning_rate: float = Field(default=1e-3, gt=0)
    gae_lambda: float = Field(default=0.95, ge=0, le=1)
    clip_coef: float = Field(default=0.2, gt=0)
    vf_coef: float = Field(default=0.5, ge=0)
    ent_coef: float = Field(default=0.003, ge=0)
    max_grad_norm: float = Field(default=1.0, gt=0)
    initial_std: float = Field(default=0.6, gt=0)
    hidden: tuple[Annotated[int, Field(ge=1, le=8192)], ...] = Field(default=(64, 64), max_length=8)
    normalize_observations: bool = True
    normalize_returns: bool = True
    semi_markov: bool = Field(default=True, description="discount an option of k steps by gamma^k, not gamma")
    branch_masking: bool = Field(default=True, description="heads the chosen branch ignores take no gradient")
    encoder: Encoder = Field(default="small", description="of each image; see rlgpt.rl.encoder")
    imitation_coef: float = Field(default=0.0, ge=0, description="of self-imitation (rlgpt.rl.imitation); 0: none")
    imitation_minibatches: int = Field(default=16, ge=1, le=10_000, description="its gradient steps after each update")
    imitation_capacity: int = Field(
        default=4096, ge=1, le=10_000_000, description="decisions of good episodes that are kept"
    )


@dataclass(frozen=True)
class EnvSpec:
    """A picklable recipe of the environment a policy learns in (:func:`rlgpt.rl.policy_env.build`).

    :ivar setup: what the policy learns with; it names the coded actions that are offered.
    :ivar actions: the coded actions that ``setup`` may choose from.
    :ivar factory: a plugin's name (found through the manager), or a picklable ``f(task) -> EnvironmentPlugin``.
    :ivar sandbox: fields of :class:`rlgpt.sandbox.SandboxLimits` that differ from the defaults.
    :ivar quarantined: names of coded actions that are masked.
    """

    task: Task
    setup: RLSetup
    actions: tuple[CodedAction, ...] = ()
    factory: str | Callable[[Task], Any] = ""
    sandbox: dict[str, Any] = field(default_factory=dict)
    quarantined: tuple[str, ...] = ()


class Progress(Protocol):
    """Called as training goes on; returning True asks it to stop at the next safe moment."""

    def __call__(self, point: CurvePoint) -> bool | None: ...


class Policy(ABC):
    """A trained policy, on its own: what evaluation plays and what a bundle may carry."""

    @abstractmethod
    def act(self, observation: dict[str, np.ndarray], *, greedy: bool, rng: np.random.Generator) -> Any:
        """One decision for one observation of a :class:`~rlgpt.rl.policy_env.PolicyEnv`, in its action space.

        ``greedy`` takes the most likely branch and the means of its numbers.
        """


class Trainer(ABC):
    """Trains a policy. Steps are primitive steps; every one of them counts, in all workers."""

    name: str

    @abstractmethod
    def train(
        self,
        spec: EnvSpec,
        *,
        budget: int,
        seed: int,
        folder: Path,
        hyperparameters: Hyperparameters,
        progress: Progress | None = None,
        warm_start: Path | None = None,
    ) -> TrainingRecord:
        """Train until ``budget`` primitive steps are spent; what was learnt lies in ``folder``.

        A folder that holds an unfinished training is resumed: its steps count, and a checkpoint that cannot be read
        is an error, never a fresh start. ``warm_start`` names another folder whose policy is the starting point;
        coded actions it did not know start with fresh output weights, and the value of another reward, gamma or
        normalisation starts anew. While another training runs in ``folder`` this one waits for up to 15 s.

        :raises TrainerError: the learner crashed, hung, or began anew where it should have resumed; or another
            training still runs in ``folder``.
        """

    def spent(self, folder: Path) -> int:
        """Primitive steps that the training in ``folder`` has spent so far, finished or not; 0 where none began.

        A trainer that does not count in a :class:`~rlgpt.rl.step_counter.StepCounter` there says it in its own way.
        """
        from rlgpt.rl.step_counter import STEPS_FILE, steps_in

        return steps_in(folder / STEPS_FILE)

    @abstractmethod
    def load(self, folder: Path, spec: EnvSpec) -> Policy:
        """The policy that did best in the training in ``folder`` (see :mod:`rlgpt.rl.best`). Safe: weights, no code.

        :raises TrainerError: there is none, or it does not fit ``spec``.
        """

    @abstractmethod
    def untrained(self, spec: EnvSpec, *, seed: int, hyperparameters: Hyperparameters) -> Policy:
        """The policy training would start from."""
