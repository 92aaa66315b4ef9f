"""One update of proximal policy optimisation (Schulman et al., 2017) from one rollout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import torch
from torch import nn

from rlgpt.errors import TrainerError
from rlgpt.rl.advantage import semi_markov_gae
from rlgpt.rl.base import Hyperparameters
from rlgpt.rl.imitation import SelfImitation
from rlgpt.rl.network import ActorCritic, AxisNames, Batch, PolicyNetwork
from rlgpt.rl.rollout import Rollout


class Memory(Protocol):
    """Data of a learner that checkpoints store in addition to the weights, such as a replay memory."""

    def tensors(self) -> dict[str, torch.Tensor]: ...

    def restore(self, tensors: Mapping[str, torch.Tensor]) -> None: ...


class PolicyLearner(Protocol):
    """An object that improves a network from rollouts."""

    @property
    def hyperparameters(self) -> Hyperparameters: ...

    @property
    def optimizer(self) -> torch.optim.Optimizer: ...

    @property
    def network(self) -> PolicyNetwork: ...

    @property
    def imitation(self) -> Memory | None: ...

    @property
    def policy_weights(self) -> dict[str, torch.Tensor]:
        """The weights of the network with which the trained policy acts."""

    @property
    def rollout_length(self) -> int:
        """Number of decisions in each environment between two updates of the network."""

    @property
    def learns_primitive_steps(self) -> bool:
        """Whether the learner uses :attr:`Rollout.primitive`."""

    def warm_start(self, names: AxisNames, memory: Mapping[str, torch.Tensor]) -> None:
        """Prepare a training whose network has the weights of an earlier training.

        :param names: the names along the axes of the earlier network's weights.
        :param memory: the tensors of the earlier training's :attr:`imitation`. They are empty if the earlier training
            has none, or if its rewards or its discount were different.
        """

    def remember(self, rollout: Rollout) -> None:
        """Store the useful data of a rollout in which something other than the network acted, without learning from the
        rollout.
        """

    def update(self, rollout: Rollout, generator: torch.Generator) -> None:
        """Learn from a rollout in which the network's policy acted."""


class Learner:
    """Trains a network by PPO. The learner contains the network and its optimiser.

    :param gamma: discount per primitive step.
    :ivar imitation: the object for self-imitation; None if self-imitation is off.
    """

    def __init__(self, network: ActorCritic, hyperparameters: Hyperparameters, gamma: float) -> None:
        self.network, self.hyperparameters, self._gamma = network, hyperparameters, gamma
        self.optimizer = torch.optim.Adam(network.parameters(), lr=hyperparameters.learning_rate, eps=1e-5)
        self.imitation = SelfImitation.of(hyperparameters)

    @property
    def policy_weights(self) -> dict[str, torch.Tensor]:
        """The newest weights of the network."""
        weights: dict[str, torch.Tensor] = self.network.state_dict()
        return weights

    @property
    def rollout_length(self) -> int:
        return self.hyperparameters.num_steps

    @property
    def learns_primitive_steps(self) -> bool:
        return False

    def warm_start(self, names: AxisNames, memory: Mapping[str, torch.Tensor]) -> None:
        """The learner of PPO has nothing to prepare (:meth:`PolicyLearner.warm_start`)."""

    def remember(self, rollout: Rollout) -> None:
        """Update the moments of the observations (:meth:`PolicyLearner.remember`)."""
        if self.hyperparameters.normalize_observations:
            self.network.observations.update(rollout.rows(rollout.observations["obs"][:-1]))

    def update(self, rollout: Rollout, generator: torch.Generator) -> None:
        """Update the network with the decisions of ``rollout``. First, the whole rollout is copied to the device of the
        network, so all epochs use the same copy.

        If the budget ends a rollout before it has as many decisions as a minibatch, the rollout is skipped. Advantages
        are normalised to unit variance, so several epochs over a few decisions would damage the policy.

        The ratio of the clipped objective compares the policy with the network at the beginning of the update (the
        *proximal* policy), not with the policy that acted. If learning overlaps with acting
        (:class:`~rlgpt.rl.actor_learner.ActorLearner`), the policy that acted is older by one update. The clipping then
        still limits the change in this update, as in the decoupled objective of Hilton et al. (2021, "Batch
        size-invariance for policy optimization", section 3). The decoupled objective also multiplies each decision by
        the ratio of the proximal policy to the policy that acted; ``update`` takes this ratio as 1, which is accurate
        as long as a single update changes the policy little.

        :param generator: the random generator that shuffles the decisions of the rollout. The sizes of minibatches
            differ by at most one decision.
        :raises TrainerError: the weights of the network are no longer finite.
        """
        settings, device = self.hyperparameters, self.network.device
        envs = rollout.rewards.shape[1]
        if self.imitation is not None:
            for slot in range(envs):
                self.imitation.see(slot, *rollout.of(slot))
        count = rollout.decisions
        if count < settings.num_steps * envs and count < settings.minibatch_size:
            return
        rollout = rollout.to(device)
        batch = {key: rollout.rows(values[:-1]) for key, values in rollout.observations.items()}
        actions = rollout.rows(rollout.actions)
        if settings.normalize_observations:
            self.network.observations.update(batch["obs"])
        with torch.no_grad():
            # The old log-probabilities are computed with the new moments, so that the first minibatch has the ratio 1.
            old_log_probs = self._log_probs(batch, actions)
            advantages, returns = map(rollout.rows, self._advantages(rollout))
            if settings.normalize_returns:
                self.network.returns.update(returns.reshape(-1, 1))
            targets = self.network.returns.scale(returns)
            advantages = (advantages - advantages.mean()) / (advantages.std(correction=0) + 1e-8)
        parts = -(-count // settings.minibatch_size)
        for _ in range(settings.update_epochs):
            order = torch.randperm(count, generator=generator).to(device)
            for rows in torch.tensor_split(order, parts):
                chosen = {key: values[rows] for key, values in batch.items()}
                self._step(chosen, actions[rows], old_log_probs[rows], advantages[rows], targets[rows])
        if self.imitation is not None:
            self.imitation.learn(self.network, self._descend, generator)
        if not all(bool(torch.isfinite(p).all()) for p in self.network.parameters()):
            raise TrainerError(
                "the policy's weights are no longer finite; lower hyperparameters.learning_rate or correct the reward."
            )

    def _advantages(self, rollout: Rollout) -> tuple[torch.Tensor, torch.Tensor]:
        """Advantages and value targets, both of shape ``[T, N]``, in units of the reward."""
        steps, envs = rollout.rewards.shape
        every = {key: entries.flatten(0, 1) for key, entries in rollout.observations.items()}
        values = self._values(every).view(steps + 1, envs)
        next_values = values[1:].clone()
        if rollout.lasts is not None:
            next_values[rollout.ended] = self._values(rollout.lasts)
        return semi_markov_gae(
            rollout.rewards,
            values[:-1],
            next_values,
            rollout.durations,
            rollout.terminated,
            rollout.ended,
            gamma=self._gamma,
            lam=self.hyperparameters.gae_lambda,
            semi_markov=self.hyperparameters.semi_markov,
        )

    def _log_probs(self, batch: Batch, actions: torch.Tensor) -> torch.Tensor:
        parts = self._parts(batch)
        return torch.cat([self.network.distribution(_cut(batch, p)).log_prob(actions[p]) for p in parts])

    def _values(self, batch: Batch) -> torch.Tensor:
        scaled = torch.cat([self.network.scaled_value(_cut(batch, part)) for part in self._parts(batch)])
        return self.network.returns.unscale(scaled)

    def _parts(self, batch: Batch) -> list[slice]:
        """The slices of the rollout that go through the network one after another. A rollout without images is one
        slice. A rollout with images, which need much memory, is divided into minibatches.
        """
        size = len(batch["obs"])
        step = self.hyperparameters.minibatch_size if self.network.sees_images else size
        return [slice(at, at + step) for at in range(0, size, step)]

    def _step(
        self,
        batch: Batch,
        actions: torch.Tensor,
        old_log_probs: torch.Tensor,
        advantages: torch.Tensor,
        targets: torch.Tensor,
    ) -> None:
        """Take one gradient step on the clipped surrogate objective (equation 7 of the paper), the value error and the
        entropy bonus (equation 9).
        """
        settings = self.hyperparameters
        distribution = self.network.distribution(batch)
        ratio = (distribution.log_prob(actions) - old_log_probs).exp()
        clipped = ratio.clamp(1 - settings.clip_coef, 1 + settings.clip_coef)
        policy_loss = -torch.min(ratio * advantages, clipped * advantages).mean()
        value_loss = (self.network.scaled_value(batch) - targets).square().mean()
        loss = policy_loss + settings.vf_coef * value_loss
        if settings.ent_coef:
            loss = loss - settings.ent_coef * distribution.entropy().mean()
        self._descend(loss)

    def _descend(self, loss: torch.Tensor) -> None:
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.network.parameters(), self.hyperparameters.max_grad_norm)
        self.optimizer.step()


def _cut(batch: Batch, part: slice) -> Batch:
    return {key: values[part] for key, values in batch.items()}
