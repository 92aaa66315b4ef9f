"""Self-imitation: keeps the decisions of good episodes and trains the policy to repeat them.

An episode is kept if it succeeded, or if its return (the undiscounted sum of its rewards) is above

    mean + 2 sigma     of the returns of all earlier episodes.

After each update of PPO the policy takes a few gradient steps on

    L = -c mean log pi(a | s)     over minibatches of kept decisions (s, a), drawn uniformly.

MineDojo (Fan et al. 2022, appendix on the agent's training) uses this method. RL-GPT's official code
(``SelfImitationBuffer`` and ``update_imitation`` of ``ppo_selfimitate_clip.py``) uses this method too, but computes
mean and sigma over the kept episodes only. The original self-imitation learning (Oh et al. 2018, eq. 2) weights each
decision by ``max(R - V, 0)``; this module selects whole episodes by the rule above, without weights and without
discount.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import torch

from rlgpt.errors import TrainingFolderError
from rlgpt.rl.base import Hyperparameters
from rlgpt.rl.memory import Memory
from rlgpt.rl.network import ActorCritic, Batch

SIGMAS = 2.0
"""A return is good if it exceeds the mean of the returns by more than this number of standard deviations."""

FEWEST = 10
"""Least number of returns for mean and deviation. With fewer returns, an episode is kept only if it succeeded."""

_RETURNS = "returns"

Descend = Callable[[torch.Tensor], None]
"""A function that takes one gradient step on a loss."""


class End(NamedTuple):
    """The end of an episode; ``at`` is the index of its last decision in the batch."""

    at: int
    success: bool
    total_reward: float


class Rule:
    """The rule that decides which episodes are kept.

    :ivar count: number of finite returns so far, with their ``mean`` and ``squares``, the sum of squared distances from
        the mean (Welford 1962).
    """

    def __init__(self, count: int = 0, mean: float = 0.0, squares: float = 0.0) -> None:
        self.count, self.mean, self.squares = count, mean, squares

    @property
    def bar(self) -> float:
        """The value that a return must exceed; infinite while there are fewer than :data:`FEWEST` returns."""
        if self.count < FEWEST:
            return math.inf
        return self.mean + SIGMAS * math.sqrt(self.squares / self.count)

    def keeps(self, *, success: bool, total_reward: float) -> bool:
        """Whether to keep an episode. After the answer, the episode's return is added to the statistics."""
        kept = success or (total_reward > self.bar and math.isfinite(total_reward))
        if math.isfinite(total_reward):
            self.count += 1
            shift = total_reward - self.mean
            self.mean += shift / self.count
            self.squares += shift * (total_reward - self.mean)
        return kept


class SelfImitation:
    """Assembles the episodes of each environment, keeps the good episodes, and trains the policy on them.

    :ivar memory: the kept decisions, at most ``imitation_capacity`` of them. Each unfinished episode stores at most the
        same number.
    """

    def __init__(self, hyperparameters: Hyperparameters) -> None:
        self._settings = hyperparameters
        self.rule, self.memory = Rule(), Memory(hyperparameters.imitation_capacity)
        self._going_on: dict[int, deque[tuple[Batch, torch.Tensor]]] = defaultdict(deque)

    @classmethod
    def of(cls, hyperparameters: Hyperparameters) -> SelfImitation | None:
        """None if self-imitation is switched off."""
        return cls(hyperparameters) if hyperparameters.imitation_coef else None

    def see(self, slot: int, observations: Batch, actions: torch.Tensor, ends: Sequence[End]) -> None:
        """Receive the next decisions of environment ``slot``. The tensors are not copied, so the caller must not change
        them afterwards.

        :param observations: entries ``[T, ...]``, one row for each decision: the network's inputs and the mask.
        :param actions: flat actions, ``[T, action_size]``.
        :param ends: the ends of episodes among these decisions, in order.
        """
        going_on, start = self._going_on[slot], 0
        for end in ends:
            piece = slice(start, end.at + 1)
            going_on.append(({key: values[piece] for key, values in observations.items()}, actions[piece]))
            if self.rule.keeps(success=end.success, total_reward=end.total_reward):
                entries = {key: torch.cat([seen[key] for seen, _ in going_on]) for key in observations}
                self.memory.add(entries, torch.cat([done for _, done in going_on]))
            going_on.clear()
            start = end.at + 1
        if start < len(actions):
            going_on.append(({key: values[start:] for key, values in observations.items()}, actions[start:]))
        held = sum(len(done) for _, done in going_on)
        while going_on and held - len(going_on[0][1]) >= self.memory.capacity:
            held -= len(going_on.popleft()[1])

    def learn(self, network: ActorCritic, descend: Descend, generator: torch.Generator | None) -> None:
        """Take ``imitation_minibatches`` gradient steps on the kept decisions; none if the memory is empty.

        :param generator: draws the minibatches; None: torch's own.
        """
        settings = self._settings
        if not len(self.memory):
            return
        device = network.log_std.device
        for _ in range(settings.imitation_minibatches):
            entries, actions = self.memory.sample(settings.minibatch_size, generator)
            batch = {key: values.to(device) for key, values in entries.items()}
            log_probs = network.distribution(batch).log_prob(actions.to(device))
            descend(-settings.imitation_coef * log_probs.mean())

    def tensors(self) -> dict[str, torch.Tensor]:
        """The state for a checkpoint. The state contains no unfinished episodes, because a resumed training begins new
        episodes.
        """
        rule = self.rule
        seen = torch.tensor([rule.count, rule.mean, rule.squares], dtype=torch.float64)
        return {**self.memory.tensors(), _RETURNS: seen}

    def restore(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Restore what :meth:`tensors` returned.

        :raises TrainingFolderError: the stored state is damaged.
        """
        try:
            count, mean, squares = tensors[_RETURNS].tolist()
            self.memory.restore({key: values for key, values in tensors.items() if key != _RETURNS})
        except (KeyError, ValueError, RuntimeError, TypeError, AttributeError) as fault:
            raise TrainingFolderError(
                f"the checkpoint's memory of self-imitation cannot be read ({fault}); restore the checkpoint from a "
                "copy, or train in a new folder."
            ) from fault
        self.rule = Rule(int(count), mean, squares)
