"""Updates the networks of soft actor-critic from a replay memory."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional

from rlgpt.errors import TrainerError, TrainingFolderError
from rlgpt.rl.base import Hyperparameters
from rlgpt.rl.learner import Memory
from rlgpt.rl.network import AxisNames
from rlgpt.rl.primitive_steps import PrimitiveSteps
from rlgpt.rl.rollout import Rollout
from rlgpt.rl.sac.average import WeightAverage
from rlgpt.rl.sac.encoding import encode
from rlgpt.rl.sac.network import SoftActorCritic
from rlgpt.rl.sac.replay import Experience, Replay, Rows, part

_SEEN, _BASE_ONLY = "seen", "base-only "

CATCH_UP = 3.0
"""Maximal number of gradient steps of an update, as a multiple of the number of gradient steps for the decisions of its
rollout.
"""

LONGEST_HORIZON = 1_000
"""Maximal number of decisions over which a return extends."""


@dataclass(frozen=True)
class SACSettings:
    """The parameters of :class:`~rlgpt.rl.sac.trainer.SAC`, whose docstring describes them, and two constants.

    :ivar temperature: the weights of the divergence from the prior of coded actions at the beginning and at the end of
        a training.
    :ivar target_rate: each gradient step moves the target critics towards the critics by the share ``target_rate`` of
        their difference.
    :ivar mixed: the share of the uniform distribution over branches in the weights of the actor's objective. The
        actor's objective is a weighted sum over branches, and the weights are a mixture of the selector's probabilities
        and the uniform distribution.
    """

    learning_rate: float
    updates_per_decision: float
    batch_size: int
    width: int
    temperature: tuple[float, float]
    base_temperature: float
    capacity: int
    first_update: int
    target_rate: float = 0.005
    mixed: float = 0.2


class SoftLearner:
    """Trains the networks of soft actor-critic. The learner contains the target critics, the replay memory and the
    optimiser of soft actor-critic. The network for base-only episodes (:mod:`rlgpt.rl.base_only`) has a learner of its
    own, which learns from these episodes and from the primitive steps of the other episodes.

    :param gamma: discount per primitive step.
    :param budget: number of primitive steps of the whole training. The temperatures fall geometrically until the last
        of the ``budget`` primitive steps.
    :param optimizer: the optimiser of the learner that this learner belongs to; None for a new optimiser.
    :ivar replay: the replay memories, which are on the CPU.
    :ivar imitation: the learner itself. A checkpoint stores the tensors of the learner, which include the replay
        memory.
    """

    def __init__(
        self,
        network: SoftActorCritic,
        hyperparameters: Hyperparameters,
        gamma: float,
        budget: int,
        settings: SACSettings,
        optimizer: torch.optim.Optimizer | None = None,
    ) -> None:
        self.network, self.hyperparameters, self._gamma, self._budget = network, hyperparameters, gamma, budget
        self._settings = settings
        self._learns_base_only = optimizer is not None
        self.optimizer = optimizer or torch.optim.Adam(network.parameters(), lr=settings.learning_rate, foreach=True)
        self.replay = Experience(settings.capacity)
        self._target = copy.deepcopy(network)
        self._target.base_only = None
        self._average = WeightAverage(network) if optimizer is None else None
        self._total = self._seen = self._owed = 0.0
        self._running: torch.Tensor | None = None
        self._base_only: SoftLearner | None = None
        if network.base_only is not None:
            self._base_only = SoftLearner(
                network.base_only, hyperparameters, gamma, budget, settings, optimizer=self.optimizer
            )

    @property
    def imitation(self) -> Memory:
        return self

    @property
    def policy_weights(self) -> dict[str, torch.Tensor]:
        """The average of the networks' weights over the newest updates (:class:`WeightAverage`)."""
        weights: dict[str, torch.Tensor] = self.network.state_dict()
        return weights if self._average is None else self._average.weights()

    @property
    def rollout_length(self) -> int:
        """Number of decisions in each environment between two updates of the networks."""
        return 4

    @property
    def learns_primitive_steps(self) -> bool:
        return self._base_only is not None

    def update(self, rollout: Rollout, generator: torch.Generator) -> None:
        """Store the decisions of ``rollout`` and take ``updates_per_decision`` gradient steps for each of them.

        :raises TrainerError: the weights of the networks are no longer finite.
        """
        learned = self._base_only is not None and self._base_only._learn(rollout, generator)
        learned |= self._learn(rollout, generator)
        if learned and self._average is not None:
            self._average.add()

    def _learn(self, rollout: Rollout, generator: torch.Generator) -> bool:
        """Update the networks of this learner without those for base-only episodes, and return whether they had enough
        data.
        """
        settings, network = self._settings, self.network
        decisions = self._store(rollout)
        self._cool()
        if self._total < settings.first_update or not len(self.replay):
            return False
        # A parameter search adds decisions without an update. The gradient steps for them are taken in several updates.
        for _ in range(int(min(self._owed, CATCH_UP * decisions * settings.updates_per_decision + 1))):
            self._owed -= 1
            rows = self.replay.sample(settings.batch_size, generator)
            self._step({key: values.to(network.device) for key, values in rows.items()}, generator)
        if not all(bool(torch.isfinite(p).all()) for p in network.parameters()):
            raise TrainerError(
                "the policy's weights are no longer finite; lower trainer.learning_rate or correct the reward."
            )
        return True

    def warm_start(self, names: AxisNames, memory: Mapping[str, torch.Tensor]) -> None:
        """Copy the network's weights to the target critics (:meth:`rlgpt.rl.learner.PolicyLearner.warm_start`). The
        learner of base-only episodes keeps the replay memories of the earlier training if it has the same observations
        and base actions, because these memories do not depend on the code.
        """
        self._target.load_state_dict(self.network.state_dict(), strict=False)
        if self._base_only is not None:
            prefix = "base_only."
            theirs = {key.removeprefix(prefix): axes for key, axes in names.items() if key.startswith(prefix)}
            self._base_only.warm_start({}, {})
            if theirs == self._base_only.network.axis_names():
                with _damage_reported():
                    self._base_only.replay.restore(part(memory, _BASE_ONLY))
                self._base_only._seen = float(len(self._base_only.replay))

    def remember(self, rollout: Rollout) -> None:
        """Store the decisions of ``rollout`` in the replay memory (:meth:`rlgpt.rl.learner.PolicyLearner.remember`)."""
        self._store(rollout)
        if self._base_only is not None:
            self._base_only.remember(rollout)

    def _store(self, rollout: Rollout) -> int:
        """Store the decisions of ``rollout`` from which this learner learns, and return their number. The learner of
        base-only episodes counts each primitive step of the other episodes as a decision.
        """
        steps, decisions = self._store_decisions(rollout)
        if self._learns_base_only and rollout.primitive:
            primitive = self._store_primitive(rollout.primitive)
            steps, decisions = steps + primitive, decisions + primitive
        self._seen += steps
        self._owed += decisions * self._settings.updates_per_decision
        return decisions

    def _store_decisions(self, rollout: Rollout) -> tuple[float, int]:
        """Store the decisions of ``rollout`` in the episodes from which this learner learns. Return the number of
        primitive steps of these decisions, and the number of decisions.
        """
        # An empty entry of a rollout has the duration 0, and discounts nothing.
        lengths = rollout.durations if self.hyperparameters.semi_markov else rollout.durations.clamp(max=1)
        discounts = self._gamma**lengths * (~rollout.terminated)
        following = {key: entries[1:].clone() for key, entries in rollout.observations.items()}
        if rollout.lasts is not None:
            for key, entries in following.items():
                entries[rollout.ended] = rollout.lasts[key]
        rows = {"actions": rollout.actions, "rewards": rollout.rewards, "discounts": discounts.float()}
        for key in ("obs", "action_mask"):
            rows[key], rows[f"next {key}"] = rollout.observations[key][:-1], following[key]
        rows |= {"returns": self._returns_so_far(rollout, discounts), "durations": rollout.durations}
        rows = {key: rollout.rows(values) for key, values in rows.items()}
        self._total += float(rows["durations"].sum())
        if self._learns_base_only or self._base_only is not None:
            learns = rollout.rows(rollout.observations["base_only"][:-1]).bool().squeeze(-1) == self._learns_base_only
            rows = {key: values[learns] for key, values in rows.items()}
        returns, durations = rows.pop("returns"), rows.pop("durations")
        if len(durations):
            self._add(self.replay.own, rows, returns)
        return float(durations.sum()), len(durations)

    def _store_primitive(self, steps: Sequence[PrimitiveSteps]) -> int:
        columns = (torch.from_numpy(np.concatenate(column)) for column in zip(*steps, strict=True))
        observations, following, actions, rewards, returns, terminated = columns
        rows = {"actions": actions, "rewards": rewards, "discounts": self._gamma * (~terminated).float()}
        masks = torch.ones(len(rewards), self.network.branches)
        rows |= {"obs": observations, "next obs": following, "action_mask": masks, "next action_mask": masks}
        self._add(self.replay.others, rows, returns)
        return len(rewards)

    def _add(self, replay: Replay, rows: Rows, returns: torch.Tensor) -> None:
        network = self.network
        rows |= {"actions": rows["actions"][:, network.columns]}
        rows |= {key: rows[key][:, : network.inputs] for key in ("obs", "next obs")}
        rows |= {key: rows[key][:, : network.branches] for key in ("action_mask", "next action_mask")}
        network.observations.update(rows["obs"])
        network.returns.update(returns.reshape(-1, 1))
        replay.add(rows)

    def _cool(self) -> None:
        """Set the temperatures. Both fall by the same factor until the end of the training. The progress of the learner
        is ``n / (n + m)``, with n primitive steps of its own so far and m steps that are left of the training.

        The prior of base actions contains no knowledge, so the setting ``base_temperature`` is the weight of the
        divergences of all decisions over which a return extends. These are ``1 / (1 - d)`` decisions, if ``d`` is the
        mean discount of a decision.
        """
        settings = self._settings
        first, last = settings.temperature
        if not len(self.replay):
            return
        fallen = (last / first) ** (self._seen / (self._seen + max(0.0, self._budget - self._total)))
        self.network.temperature.fill_(first * fallen)
        share = max(1 / LONGEST_HORIZON, 1 - self.replay.mean("discounts"))
        self.network.base_temperature.fill_(settings.base_temperature * fallen * share)

    def _returns_so_far(self, rollout: Rollout, discounts: torch.Tensor) -> torch.Tensor:
        """The discounted sum of rewards up to each decision, ``[T, N]``. The rewards of a training are divided by the
        standard deviation of this discounted sum, as in gymnasium's ``NormalizeReward``.
        """
        running = torch.zeros(rollout.rewards.shape[1]) if self._running is None else self._running
        out = []
        for rewards, decay, ended in zip(rollout.rewards, discounts.float(), rollout.ended, strict=True):
            running = running * decay.where(~ended, torch.ones_like(decay)) + rewards
            out.append(running)
            running = running.masked_fill(ended, 0.0)
        self._running = running
        return torch.stack(out)

    def _step(self, rows: Rows, generator: torch.Generator) -> None:
        """Take one gradient step on the sum of two losses, which are the error of the critics and the objective of the
        actor.
        """
        network, target = self.network, self._target
        batch = {"obs": rows["obs"], "action_mask": rows["action_mask"]}
        following = {"obs": rows["next obs"], "action_mask": rows["next action_mask"]}
        with torch.no_grad():
            features = network.features(following)
            encoded, divergences = network.components(features, 1.0, generator)
            logits, _ = network.soft(following, target.values(features, encoded), divergences)
            ahead = network.selector_temperature * torch.logsumexp(logits, dim=-1)
            scale = (network.returns.var + 1e-8).sqrt().to(ahead.dtype)
            wanted = rows["rewards"] / scale + rows["discounts"] * ahead
        features = network.features(batch)
        branch, chosen = encode(network.layout, rows["actions"])
        value = network.value_of(features, chosen, branch)
        loss = 2 * functional.smooth_l1_loss(value, wanted.expand_as(value))
        if network.layout.heads:
            encoded, divergences = network.components(features, 1.0, generator)
            logits, worth = network.soft(batch, network.values(features, encoded, frozen=True), divergences)
            allowed = batch["action_mask"]
            mixed = self._settings.mixed
            weights = (1 - mixed) * logits.detach().softmax(-1) + mixed * allowed / allowed.sum(1, keepdim=True)
            loss = loss - (weights * worth).sum(-1).mean()
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        with torch.no_grad():
            ours: list[torch.Tensor] = [*network.critic.parameters(), *network.value.parameters()]
            theirs: list[torch.Tensor] = [*target.critic.parameters(), *target.value.parameters()]
            torch._foreach_lerp_(theirs, ours, self._settings.target_rate)

    def tensors(self) -> dict[str, torch.Tensor]:
        """The replay memories, the target critics, the average weights and the numbers of primitive steps, for a
        checkpoint.
        """
        rows = self.replay.tensors()
        target = {f"target {key}": values for key, values in self._target.state_dict().items()}
        others = {} if self._base_only is None else self._base_only.tensors()
        others = {f"{_BASE_ONLY}{key}": values for key, values in others.items()}
        counts = torch.tensor([self._seen, self._owed, self._total], dtype=torch.float64)
        average = {} if self._average is None else self._average.tensors()
        return {**rows, **target, **others, **average, _SEEN: counts}

    def restore(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Restore what :meth:`tensors` returned.

        :raises TrainingFolderError: the stored state is damaged.
        """
        with _damage_reported():
            self._seen, self._owed, self._total = tensors[_SEEN].tolist()
            self._target.load_state_dict(part(tensors, "target "))
            if self._average is not None:
                self._average.restore(tensors)
            self.replay.restore(tensors)
            if self._base_only is not None:
                self._base_only.restore(part(tensors, _BASE_ONLY))


@contextmanager
def _damage_reported() -> Iterator[None]:
    """Raise a :class:`TrainingFolderError` instead of an error that a damaged checkpoint causes."""
    try:
        yield
    except (KeyError, ValueError, RuntimeError, TypeError, AttributeError) as fault:
        raise TrainingFolderError(
            f"the replay memory in the checkpoint cannot be read ({fault}). Restore the checkpoint from a copy, or "
            "train in a new folder."
        ) from fault
