"""The trainer of soft actor-critic (``trainer=sac``)."""

from __future__ import annotations

from pathlib import Path

from rlgpt.errors import ConfigError
from rlgpt.rl.base import EnvSpec, Hyperparameters, Policy
from rlgpt.rl.base_only import can_compare
from rlgpt.rl.checkpoint import Checkpoint
from rlgpt.rl.device import Device
from rlgpt.rl.network import PolicyNetwork
from rlgpt.rl.policy_env import build
from rlgpt.rl.ppo import PPO, NetworkPolicy, check_counts
from rlgpt.rl.resume import fit
from rlgpt.rl.sac.learner import SACSettings, SoftLearner
from rlgpt.rl.sac.network import SoftActorCritic


class SAC(PPO):
    """Soft actor-critic with the plan as a prior (:mod:`rlgpt.rl.sac`).

    The trainer ``SAC`` handles environments, checkpoints and segments as :class:`~rlgpt.rl.ppo.PPO` does. The trainer
    ``SAC`` uses only the hyperparameters ``num_envs``, ``initial_std`` (of the parameters of coded actions) and
    ``semi_markov``; the hyperparameter ``learning_rate`` is that of PPO. The policy of SAC can observe numbers, but no
    images.

    :param workers: number of processes for the environments, or of shares of a rollout, as for
        :class:`~rlgpt.rl.ppo.PPO`.
    :param segments: approximate number of segments into which a training is divided.
    :param parameter_search: share of the budget for the parameter search, as for :class:`~rlgpt.rl.ppo.PPO`.
    :param device: the device of the updates, as for :class:`~rlgpt.rl.ppo.PPO`.
    :param overlap: whether to collect the next rollout during an update, as for :class:`~rlgpt.rl.ppo.PPO`.
    :param base_only: smallest share of the training episodes without coded actions in the first half of a training, as
        for :class:`~rlgpt.rl.ppo.PPO`.
    :param learning_rate: step size of the optimiser.
    :param updates_per_decision: number of gradient steps for each decision.
    :param batch_size: number of decisions for each gradient step.
    :param width: number of units of each hidden layer.
    :param temperature: weight of the divergence from the prior of coded actions (the choice of a branch, parameters and
        corrections) at the beginning of a training, in standard deviations of the return.
    :param final_temperature: the same weight at the end of a training.
    :param base_temperature: weight of the divergence of base actions from the uniform distribution at the beginning of
        a training, in standard deviations of the return, for all decisions over which a return extends. The weight
        falls by the same factor as ``temperature``.
    :param capacity: maximal number of decisions in a replay memory. If observations are large, it contains fewer
        (:data:`rlgpt.rl.sac.replay.MOST_BYTES`).
    :param first_update: number of primitive steps before the first gradient step.
    """

    name, uses_num_steps = "sac", False

    def __init__(
        self,
        *,
        workers: int = 0,
        segments: int = 30,
        parameter_search: float = 0.5,
        device: Device = "cpu",
        overlap: bool = False,
        base_only: float = 0.5,
        learning_rate: float = 1e-3,
        updates_per_decision: float = 1.0,
        batch_size: int = 128,
        width: int = 128,
        temperature: float = 0.3,
        final_temperature: float = 0.03,
        base_temperature: float = 0.3,
        capacity: int = 500_000,
        first_update: int = 500,
    ) -> None:
        super().__init__(
            workers=workers,
            segments=segments,
            parameter_search=parameter_search,
            device=device,
            overlap=overlap,
            base_only=base_only,
        )
        if not 0 < final_temperature <= temperature:
            raise ConfigError(
                f"trainer.temperature is {temperature} and trainer.final_temperature {final_temperature}; both must be "
                "above 0, and the second one at most the first one."
            )
        check_counts(
            batch_size=(batch_size, 1), width=(width, 1), capacity=(capacity, 1), first_update=(first_update, 0)
        )
        positive = {
            "base_temperature": base_temperature,
            "learning_rate": learning_rate,
            "updates_per_decision": updates_per_decision,
        }
        for name, value in positive.items():
            if not value > 0:
                raise ConfigError(f"trainer.{name} is {value}; it must be above 0.")
        self._settings = SACSettings(
            learning_rate=learning_rate,
            updates_per_decision=updates_per_decision,
            batch_size=batch_size,
            width=width,
            temperature=(temperature, final_temperature),
            base_temperature=base_temperature,
            capacity=capacity,
            first_update=first_update,
        )

    def network(self, spec: EnvSpec, hyperparameters: Hyperparameters, seed: int) -> SoftActorCritic:
        """Make new networks for the recipe's environment.

        :raises ConfigError: the hyperparameters ask for self-imitation.
        :raises TrainerError: the policy would have to observe images.
        """
        if hyperparameters.imitation_coef:
            raise ConfigError(
                "trainer=sac has no self-imitation; set hyperparameters.imitation_coef=0, or use trainer=ppo."
            )
        return self._network(spec, hyperparameters, seed, width=self._settings.width, base_only=self.base_only > 0)

    def _network(
        self, spec: EnvSpec, hyperparameters: Hyperparameters, seed: int, *, width: int, base_only: bool
    ) -> SoftActorCritic:
        env, settings = build(spec, seed=seed), self._settings
        try:
            return SoftActorCritic.of(
                env,
                hyperparameters,
                seed=seed,
                width=width,
                temperature=settings.temperature[0],
                base_only=base_only and can_compare(spec.setup.coded_actions, env.layout),
            )
        finally:
            env.close()

    def load(self, folder: Path, spec: EnvSpec) -> Policy:
        """Load the best policy (:meth:`Trainer.load`). If ``spec`` masks all coded actions, the policy is that of the
        base-only episodes. The sizes of the networks are those of the training.
        """
        checkpoint = Checkpoint.load_best(folder)
        weights, settings = checkpoint.weights, checkpoint.state.hyperparameters
        width = weights["value.weight"].shape[1] if "value.weight" in weights else self._settings.width
        paired = any(name.startswith("base_only.") for name in weights)
        network = self._network(spec, settings, 0, width=width, base_only=paired)
        fit(network, checkpoint, folder)
        network.acts_without_code = paired and set(spec.setup.coded_actions) <= set(spec.quarantined)
        return NetworkPolicy(network)

    def learner(
        self, network: PolicyNetwork, hyperparameters: Hyperparameters, gamma: float, budget: int
    ) -> SoftLearner:
        assert isinstance(network, SoftActorCritic)
        return SoftLearner(network, hyperparameters, gamma, budget, self._settings)
