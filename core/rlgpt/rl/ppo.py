"""The built-in trainer PPO. PPO is the reference for other trainers, so its code is short."""

from __future__ import annotations

import copy
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rlgpt.domain import TrainingRecord
from rlgpt.errors import ConfigError
from rlgpt.executors.base import Executor, MakeExecutor
from rlgpt.rl.actor_learner import ActorLearner
from rlgpt.rl.base import EnvSpec, Hyperparameters, Policy, Progress, Trainer, refuse_unpicklable
from rlgpt.rl.base_only import can_compare
from rlgpt.rl.checkpoint import Checkpoint, Returns, TrainingState
from rlgpt.rl.collecting import ExecutorSource, RolloutSource, VectorSource, rollout_executor, vector_of
from rlgpt.rl.device import Device, check_device, named, resolved, torch_device
from rlgpt.rl.learner import Learner, PolicyLearner
from rlgpt.rl.lock import exclusive
from rlgpt.rl.network import ActorCritic, PolicyNetwork
from rlgpt.rl.parameter_search import ParameterSearch, SearchState
from rlgpt.rl.policy_env import build, plugin_of
from rlgpt.rl.policy_lane import Observation
from rlgpt.rl.resume import continue_from, fit, opened, restore, save
from rlgpt.rl.rollout import stack
from rlgpt.rl.rollout_job import RolloutJob, one_thread
from rlgpt.rl.step_counter import STEPS_FILE, StepCounter
from rlgpt.rl.training_session import TrainingSession


class PPO(Trainer):
    """Proximal policy optimisation (PPO) with the clipped objective, over decisions of any duration.

    A training consists of segments. At the end of each segment, a checkpoint is written, the learning curve gets a
    point, and coded actions with too many violations are masked (:mod:`rlgpt.options.violations`). A killed training
    resumes from its last checkpoint. Updates after the last checkpoint are lost, but their steps count towards the
    budget.

    :param workers: number of processes in which the environments run. If ``workers`` is 0, the environments run in this
        process, which is faster except for slow simulators. If the run has an executor of other processes or machines
        (:meth:`on`), ``workers`` is the number of shares into which a rollout is divided among its workers. If the
        plugin has a batch simulator and the setup has no reset option, the environments of each process or share are
        the lanes of one batch; in a share, the autoreset mode of the simulator must be ``DISABLED``.
    :param segments: approximate number of segments.
    :param parameter_search: largest share of the budget for the search of constant parameters of the coded actions,
        before the policy learns (:mod:`rlgpt.rl.parameter_search`). The parameter search is skipped if no coded action
        has parameters, or if the policy does not begin as the plan (``plan_prior`` is 0). A training with a warm start
        skips the parameter search, too.
    :param device: the device of the updates, ``cpu``, ``gpu`` or ``auto`` (:mod:`rlgpt.rl.device`). A training may
        resume on another device than that on which it began.
    :param overlap: whether to collect the next rollout during an update, with the weights from before the update
        (:class:`~rlgpt.rl.actor_learner.ActorLearner`). With ``overlap``, a training needs less time, but its results
        differ.
    :param base_only: smallest share of the training episodes without coded actions in the first half of a training, and
        as long as these episodes get better (:mod:`rlgpt.rl.base_only`); 0: there are no such episodes.
    """

    name = "ppo"

    def __init__(
        self,
        *,
        workers: int = 0,
        segments: int = 30,
        parameter_search: float = 0.5,
        device: Device = "cpu",
        overlap: bool = False,
        base_only: float = 0.0,
    ) -> None:
        for name, share in (("parameter_search", parameter_search), ("base_only", base_only)):
            if not 0 <= share < 1:
                raise ConfigError(f"trainer.{name} is {share}; it must be at least 0 and below 1.")
        check_counts(workers=(workers, 0), segments=(segments, 1))
        self.workers, self.segments, self.parameter_search = workers, segments, parameter_search
        self.device, self.overlap, self.base_only = named(device), overlap, base_only
        self._executor: MakeExecutor | None = None

    def on(self, executor: MakeExecutor) -> PPO:
        """The trainer whose rollouts the executor's workers collect, in as many shares as the setting ``workers`` says.
        If ``workers`` is 0, the trainer does not use an executor.
        """
        trainer = copy.copy(self)
        trainer._executor = executor if self.workers else None
        return trainer

    def check(self, spec: EnvSpec, hyperparameters: Hyperparameters) -> None:
        """Check that this machine has the trainer's device, that the worker processes can make the environment, and
        that the network fits it (:meth:`Trainer.check`).
        """
        check_device(self.device)
        if self.workers:
            refuse_unpicklable(spec, "workers=0 of the trainer")
        self.network(spec, hyperparameters, 0)

    def searches(self, spec: EnvSpec) -> bool:
        setup = spec.setup
        parameters = any(a.parameters for a in spec.actions if a.name in setup.coded_actions)
        return parameters and self.parameter_search > 0 and (setup.plan_prior > 0 or setup.base_actions == ())

    def compares(self, spec: EnvSpec) -> bool:
        coded = spec.setup.coded_actions
        if not (self.base_only and coded):
            return False
        with closing(build(spec, seed=0)) as env:
            return can_compare(coded, env.layout)

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
        """Train as :meth:`Trainer.train` describes. The training exceeds the budget by less than one decision of each
        environment.
        """
        check_device(self.device)
        folder.mkdir(parents=True, exist_ok=True)
        with exclusive(folder) as lock, one_thread(), rollout_executor(self._executor) as executor:
            checkpoint = opened(folder)
            network = self.network(spec, hyperparameters, seed)
            network.to(torch_device(resolved(self.device, images=network.sees_images)))
            learner = self.learner(network, hyperparameters, spec.setup.gamma, budget)
            generator = torch.Generator().manual_seed(seed)
            returns = Returns.of(spec.setup, spec.functions, hyperparameters)
            if checkpoint is None:
                if warm_start is not None:
                    continue_from(warm_start, learner, returns)
                names = network.axis_names()
                possible = warm_start is None and ParameterSearch.possible(network.layout, spec.setup.plan_prior)
                search = SearchState() if possible and self.parameter_search else None
                state = TrainingState(hyperparameters=hyperparameters, axis_names=names, returns=returns, search=search)
                save(folder, state, learner, generator)
            else:
                state = checkpoint.state
                restore(checkpoint, learner, generator, folder)
            envs = min(hyperparameters.num_envs, plugin_of(spec).limits(spec.task).max_envs)
            with (
                ActorLearner(learner, generator, overlap=self.overlap) as actor_learner,
                StepCounter(folder / STEPS_FILE, envs) as step_counter,
            ):
                run = TrainingSession(spec, state, actor_learner, generator, folder, self.base_only)
                every, end = max(1, budget // self.segments), int(self.parameter_search * budget)
                over = step_counter.total >= budget
                while not over:
                    with self._source(run, executor, seed, step_counter, envs, folder, lock) as source:
                        over = run.segments(source, step_counter, budget, every, progress, search_end=end)
                return run.record(self.name, step_counter.total)

    def load(self, folder: Path, spec: EnvSpec) -> Policy:
        """Load the best policy of the training in ``folder``, as :meth:`Trainer.load` describes."""
        checkpoint = Checkpoint.load_best(folder)
        network = self.network(spec, checkpoint.state.hyperparameters, 0)
        fit(network, checkpoint, folder)
        return NetworkPolicy(network)

    def untrained(self, spec: EnvSpec, *, seed: int, hyperparameters: Hyperparameters) -> Policy:
        return NetworkPolicy(self.network(spec, hyperparameters, seed))

    def network(self, spec: EnvSpec, hyperparameters: Hyperparameters, seed: int) -> PolicyNetwork:
        """Make a new network for the recipe's environment, with weights drawn from ``seed``."""
        env = build(spec, seed=seed)
        try:
            return ActorCritic.of(env, hyperparameters, seed=seed)
        finally:
            env.close()

    def learner(
        self, network: PolicyNetwork, hyperparameters: Hyperparameters, gamma: float, budget: int
    ) -> PolicyLearner:
        """Make the learner of a training of ``budget`` primitive steps with a network that :meth:`network` made."""
        assert isinstance(network, ActorCritic)
        return Learner(network, hyperparameters, gamma)

    def _source(
        self,
        run: TrainingSession,
        executor: Executor[RolloutJob, bytes] | None,
        seed: int,
        step_counter: StepCounter,
        envs: int,
        folder: Path,
        lock: int,
    ) -> RolloutSource:
        """The source of the rollouts of the training's present stage."""
        spec, network, stats, spent = run.stage_spec, run.actor, run.stats, step_counter.total
        # A resumed training must not repeat the episodes of its first session.
        seeds = [int(s) for s in np.random.SeedSequence([seed, spent]).generate_state(envs)]
        if executor is not None:
            entropy = (seed, spent)
            return ExecutorSource(executor, spec, seeds, self.workers, entropy, network, stats, step_counter)
        vector = vector_of(spec, seeds, folder / STEPS_FILE, self.workers, lock)
        return VectorSource(vector, network, run.generator, stats, step_counter)


def check_counts(**settings: tuple[object, int]) -> None:
    """Check settings of a trainer that are whole numbers.

    :param settings: for each setting, its value and its least valid value.
    :raises ConfigError: a value is invalid.
    """
    for name, (value, least) in settings.items():
        if not isinstance(value, int) or value < least:
            raise ConfigError(f"trainer.{name} is {value!r}; it must be a whole number of at least {least}.")


class NetworkPolicy(Policy):
    """A policy that a network defines."""

    def __init__(self, network: PolicyNetwork) -> None:
        self.network = network.eval()

    @torch.no_grad()
    def act(self, observation: Observation, *, greedy: bool, rng: np.random.Generator, sharpness: float = 1.0) -> Any:
        distribution = self.network.distribution(stack([observation])).sharpened(sharpness)
        if greedy:
            flat = distribution.mode()
        else:
            flat = distribution.sample(torch.Generator().manual_seed(int(rng.integers(2**63))))
        return self.network.layout.to_space(flat[0].numpy())
