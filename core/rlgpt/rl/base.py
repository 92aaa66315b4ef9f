"""The interface of trainers, which train policies. A trainer receives the recipe of an environment and a budget of
primitive steps, and returns a policy.
"""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from pydantic import Field

from rlgpt.domain import CodedAction, CodedFunction, CurvePoint, RLSetup, Task, TrainingRecord, Value
from rlgpt.domain.validated import validated
from rlgpt.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np

    from rlgpt.executors.base import MakeExecutor
    from rlgpt.plugin.states import EpisodeState


Encoder = Literal["small", "nature", "impala"]

LEAST_UPDATES = 20
"""Number of updates below which :meth:`Hyperparameters.fitted` shortens the rollouts."""

LEAST_NUM_STEPS = 8
"""Minimal number of decisions of each environment in a rollout that :meth:`Hyperparameters.fitted` has shortened."""


class Hyperparameters(Value):
    """The hyperparameters of the learning, with the names that CleanRL uses. They are the same for every trainer.
    Lengths such as ``num_steps`` are in decisions.

    The default hyperparameters suit a policy that acts as the plan's code at first and has about ten thousand
    decisions. By default, the steps of the policy's updates are small, and there is no entropy bonus. Counts and sizes
    have upper bounds, so that settings from an untrusted source cannot use up the memory.
    """

    num_envs: int = Field(default=8, ge=1, le=4096, description="number of environments that collect a rollout")
    num_steps: int = Field(default=64, ge=1, le=100_000, description="decisions of each environment between updates")
    minibatch_size: int = Field(default=64, ge=1, le=1_000_000, description="decisions of each gradient step")
    update_epochs: int = Field(default=8, ge=1, le=1000, description="passes through a rollout at each update")
    learning_rate: float = Field(default=3e-4, gt=0, description="step size of Adam")
    gae_lambda: float = Field(default=0.95, ge=0, le=1, description="λ of generalised advantage estimation")
    clip_coef: float = Field(default=0.2, gt=0, description="ε of PPO: a probability ratio counts up to 1 ± ε")
    vf_coef: float = Field(default=0.5, ge=0, description="coefficient of the value loss")
    ent_coef: float = Field(default=0.0, ge=0, description="coefficient of the entropy bonus")
    max_grad_norm: float = Field(default=1.0, gt=0, description="norm to which a larger gradient is scaled down")
    initial_std: float = Field(
        default=0.6, gt=0, description="first standard deviation of continuous heads, where 1 is half of a range"
    )
    hidden: tuple[Annotated[int, Field(ge=1, le=8192)], ...] = Field(
        default=(64, 64), max_length=8, description="units of each hidden layer"
    )
    normalize_observations: bool = Field(
        default=True, description="whether numbers are standardised with their mean and deviation so far"
    )
    normalize_returns: bool = Field(
        default=True, description="whether the value learns returns divided by their standard deviation"
    )
    semi_markov: bool = Field(
        default=True, description="whether an option of k steps is discounted by gamma^k, not gamma"
    )
    branch_masking: bool = Field(
        default=True, description="whether heads that the chosen branch ignores get no gradient"
    )
    encoder: Encoder = Field(default="small", description="encoder of each image; see rlgpt.rl.encoder")
    imitation_coef: float = Field(
        default=0.0, ge=0, description="coefficient of self-imitation (rlgpt.rl.imitation); 0: no self-imitation"
    )
    imitation_minibatches: int = Field(
        default=16, ge=1, le=10_000, description="gradient steps of self-imitation after each update"
    )
    imitation_capacity: int = Field(
        default=4096, ge=1, le=10_000_000, description="maximal number of kept decisions of good episodes"
    )

    def with_setup(self, setup: RLSetup, fixed: Collection[str] = ()) -> Hyperparameters:
        """The hyperparameters of a training with ``setup``. A hyperparameter has the value that the user chose, else
        that of the setup (:attr:`rlgpt.domain.RLSetup.trainer`), else the plugin's default for the task, else the
        general default.

        :param fixed: names of the hyperparameters whose values the user chose. The object ``self`` contains the
            hyperparameters that the user chose and the plugin's defaults for the others.
        :raises ConfigError: the setup has an invalid value for a hyperparameter.
        """
        chosen = {k: int(v) if v.is_integer() else v for k, v in setup.trainer.items() if k not in fixed}
        return validated(Hyperparameters, {**self.model_dump(), **chosen}, "setup.trainer") if chosen else self

    def fitted(self, decisions: int | None, fixed: Collection[str] = ()) -> Hyperparameters:
        """Shorten the rollouts, so that a training has at least :data:`LEAST_UPDATES` updates. A rollout keeps at least
        :data:`LEAST_NUM_STEPS` decisions of each environment.

        :param decisions: expected number of decisions in the whole training; None if the number cannot be estimated.
        :param fixed: names of the hyperparameters whose values the user chose. If the user chose ``num_steps``, it does
            not change.
        """
        if decisions is None or "num_steps" in fixed:
            return self
        most = max(LEAST_NUM_STEPS, decisions // (self.num_envs * LEAST_UPDATES))
        return self.model_copy(update={"num_steps": min(self.num_steps, most)})


@dataclass(frozen=True)
class EnvSpec:
    """The recipe of an environment, from which every process can make the environment. ``EnvSpec`` can be pickled;
    :func:`rlgpt.rl.policy_env.build` makes the environment.

    :ivar setup: reward weights, observation keys and actions for the policy. ``setup.coded_actions`` lists the coded
        actions that the policy may choose.
    :ivar actions: the coded actions that ``setup`` may choose from.
    :ivar factory: the name of an installed plugin, or a function ``f(task) -> EnvironmentPlugin`` that can be pickled.
    :ivar sandbox: values of fields of :class:`rlgpt.sandbox.SandboxLimits`. Fields that are missing have their
        defaults.
    :ivar quarantined: names of the coded actions that are masked and of the coded functions that are not called.
    :ivar functions: the coded features, reward terms and predicates of the environment.
    :ivar starts: saved states from which training episodes begin if the setup's ``reset_option`` is ``after:ACTION``.
        If ``starts`` is empty, episodes begin at the task's own start until the training itself reaches such a state.
    """

    task: Task
    setup: RLSetup
    actions: tuple[CodedAction, ...] = ()
    factory: str | Callable[[Task], Any] = ""
    sandbox: dict[str, Any] = field(default_factory=dict)
    quarantined: tuple[str, ...] = ()
    functions: tuple[CodedFunction, ...] = ()
    starts: tuple[EpisodeState, ...] = ()

    @property
    def maskable(self) -> tuple[str, ...]:
        """Names of the coded actions and functions that can be quarantined. The predicate of a sub-task cannot."""
        return (*self.setup.coded_actions, *(f.name for f in self.functions))


def refuse_unpicklable(spec: EnvSpec, instead: str) -> None:
    """Check that other processes can make the environment of ``spec``.

    :param instead: the setting with which no other process needs the environment, for the error message.
    :raises ConfigError: the recipe cannot be pickled.
    """
    try:
        pickle.dumps(spec)
    except Exception as fault:
        raise ConfigError(
            f"other processes must make the environment, and its recipe cannot be pickled for them: {fault}. Write "
            "make_env, success and all other functions and classes of the environment at the top level of a module, "
            f"without lambdas and local functions; or use {instead}."
        ) from fault


class Progress(Protocol):
    """A function that a trainer calls with each new point of the learning curve. If the function returns True, the
    training stops at the next safe moment.
    """

    def __call__(self, point: CurvePoint) -> bool | None: ...


class Policy(ABC):
    """A trained policy. Evaluations use a trained policy without its trainer."""

    @abstractmethod
    def act(
        self,
        observation: dict[str, np.ndarray],
        *,
        greedy: bool,
        rng: np.random.Generator,
        sharpness: float = 1.0,
    ) -> Any:
        """Choose one action.

        :param observation: an observation of a :class:`~rlgpt.rl.policy_env.PolicyEnv`, without a batch axis. The
            observation has ``obs`` float32 ``(D,)``, ``action_mask`` float32 ``(branches,)``, ``duration`` float32
            ``(1,)``, and images.
        :param greedy: whether to take the most likely branch and the means of the Gaussians instead of a sample.
        :param rng: the random generator that draws the sample.
        :param sharpness: exponent n to which the policy's probabilities are raised, a number above 0. The selector and
            each head are drawn from ``p ** sharpness``, normalised, instead of ``p``. If the sharpness n is above 1,
            likely choices become more likely; the standard deviation of each Gaussian is divided by ``sqrt(n)``.
        :returns: an element of the action space of the ``PolicyEnv``.
        :raises ValueError: ``sharpness`` is not a finite number above 0.
        """


class Trainer(ABC):
    """Trains a policy. A trainer's budgets and counts are in primitive steps, summed over all environments and
    processes.

    :cvar uses_num_steps: whether the learning uses the hyperparameter ``num_steps``.
    """

    name: str
    uses_num_steps = True

    def check(self, spec: EnvSpec, hyperparameters: Hyperparameters) -> None:  # noqa: B027
        """Check whether this trainer can train with the recipe ``spec``. A run that learns calls ``check`` before it
        plays an episode or asks a language model. By default, ``check`` accepts every recipe.

        :param spec: the recipe of the task with its default setup and the user's observation keys, without coded
            actions.
        :raises TrainerError: the trainer cannot learn from the observations or actions of this environment.
        :raises ConfigError: a hyperparameter does not fit the recipe or the trainer.
        """

    def searches(self, spec: EnvSpec) -> bool:
        """Whether a training with ``spec`` and without a warm start may begin with a search for values of the coded
        actions' parameters. If a training may begin with a search, a run reserves steps for the episodes in which code
        with the found values races against code and policy. By default, a trainer does not search for values of
        parameters.
        """
        return False

    def compares(self, spec: EnvSpec) -> bool:
        """Whether a training with ``spec`` also learns to act without coded actions (:mod:`rlgpt.rl.base_only`). If the
        training does not mask the coded actions, the policy without coded actions then races against code and the
        policy with coded actions, for which a run reserves steps. By default, a trainer does not compare.
        """
        return False

    def on(self, executor: MakeExecutor) -> Trainer:
        """A trainer with the same settings that may use the workers of an executor, for example on other machines. By
        default, a trainer does not use an executor.

        :param executor: a function that makes the executor.
        """
        return self

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
        """Train until ``budget`` primitive steps are spent, and write checkpoints into ``folder``.

        If ``folder`` contains an unfinished training, ``train`` resumes it; its earlier steps count towards the budget.

        :param spec: the recipe of the environment in which the policy learns.
        :param budget: number of primitive steps of the whole training, over all its sessions.
        :param seed: seed of the network's initial weights, the samples and the episodes.
        :param folder: a folder for this training only. If another training uses the folder, ``train`` waits for at most
            15 s.
        :param hyperparameters: the settings of the learning.
        :param progress: a function that is called with each point of the learning curve and may stop the training.
        :param warm_start: folder of an earlier training, whose best policy is the initial policy. Coded actions that
            the earlier policy does not know get random output weights. The value function begins with new weights if
            reward, gamma or normalisation differ from those of the earlier training.
        :returns: the record of the training over all its sessions, with the learning curve, verdicts and counts of
            steps.
        :raises TrainerError: the learner crashed or hung, a checkpoint is missing or cannot be read, or another
            training runs in ``folder``. If a checkpoint is lost, the training does not restart from the beginning.
        """

    def spent(self, folder: Path) -> int:
        """Number of primitive steps that the training in ``folder`` has spent so far, whether it is finished or not; 0
        if no training began in ``folder``.

        Override ``spent`` if the trainer does not count in a :class:`~rlgpt.rl.step_counter.StepCounter` in ``folder``.
        """
        from rlgpt.rl.step_counter import STEPS_FILE, steps_in

        return steps_in(folder / STEPS_FILE)

    @abstractmethod
    def load(self, folder: Path, spec: EnvSpec) -> Policy:
        """Load the best policy of the training in ``folder`` (:mod:`rlgpt.rl.best`). ``load`` reads only weights and
        never runs code from the folder.

        :param folder: the folder of a training, finished or not.
        :param spec: the recipe with which the policy was trained. It may mask further coded actions; if it masks all of
            them, and the trainer has another policy for base-only episodes (:meth:`compares`), that policy is loaded.
        :raises TrainerError: ``folder`` contains no policy, or the policy does not fit ``spec``.
        """

    @abstractmethod
    def untrained(self, spec: EnvSpec, *, seed: int, hyperparameters: Hyperparameters) -> Policy:
        """Make the initial policy of a training, before its first update.

        :param spec: the recipe of the environment in which the policy acts.
        :param seed: the seed of the training.
        :param hyperparameters: the hyperparameters of the training; they define the size of the policy's network.
        :raises TrainerError: the trainer cannot learn in this environment, for example from images.
        """
