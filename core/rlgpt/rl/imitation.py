"""Self-imitation keeps the decisions of good episodes and trains the policy to repeat them.

An episode is kept if it succeeded, or if its return (the sum of its rewards without discount) is above the following
bound.

    mean + 2 sigma

In the bound, mean and sigma (the standard deviation) are those of the returns of all earlier episodes. After each
update of PPO, self-imitation takes a few gradient steps on the following loss.

    L = -c mean log pi(a | s)

The loss is a mean over minibatches of kept decisions (s, a), which are drawn uniformly.

MineDojo (Fan et al., 2022, appendix on the agent's training) uses the same method of self-imitation. RL-GPT's official
code (``SelfImitationBuffer`` and ``update_imitation`` of ``ppo_selfimitate_clip.py``) also uses self-imitation, but
computes mean and sigma over the kept episodes only. The original self-imitation learning (Oh et al., 2018, equation 2)
keeps single decisions and weights each decision with ``max(R - V, 0)``. Self-imitation in rlgpt keeps whole episodes,
and all kept decisions have the same weight.
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
"""Number of standard deviations by which a good return exceeds the mean of the earlier returns."""

FEWEST = 10
"""Minimal number of returns for the mean and the standard deviation. With fewer returns, an episode is kept only if it
succeeded.
"""

_RETURNS = "returns"

Descend = Callable[[torch.Tensor], None]
"""A function that takes one gradient step on a loss."""


class End(NamedTuple):
    """The end of an episode within a batch of decisions.

    :ivar at: index in the batch of the last decision of the episode.
    :ivar steps: length of the episode in primitive steps; 0 if the length is unknown.
    """

    at: int
    success: bool
    total_reward: float
    steps: int = 0


class Rule:
    """The rule that decides which episodes self-imitation keeps.

    :ivar count: number of finite returns so far.
    :ivar mean: mean of all finite returns so far.
    :ivar squares: sum of the squared distances of the returns from their mean (Welford 1962).
    """

    def __init__(self, count: int = 0, mean: float = 0.0, squares: float = 0.0) -> None:
        self.count, self.mean, self.squares = count, mean, squares

    @property
    def bar(self) -> float:
        """The value that the return of a kept episode must exceed; infinite if there are fewer than :data:`FEWEST`
        returns.
        """
        if self.count < FEWEST:
            return math.inf
        return self.mean + SIGMAS * math.sqrt(self.squares / self.count)

    def keeps(self, *, success: bool, total_reward: float) -> bool:
        """Decide whether self-imitation keeps an episode, then add the episode's return to the statistics of the
        rule.
        """
        kept = success or (total_reward > self.bar and math.isfinite(total_reward))
        if math.isfinite(total_reward):
            self.count += 1
            shift = total_reward - self.mean
            self.mean += shift / self.count
            self.squares += shift * (total_reward - self.mean)
        return kept


class SelfImitation:
    """Assembles the episodes of each environment, keeps the good episodes, and trains the policy on them.

    :ivar memory: the memory of the kept decisions, which stores at most ``imitation_capacity`` decisions. Of an
        unfinished episode, about as many of the newest decisions are stored.
    """

    def __init__(self, hyperparameters: Hyperparameters) -> None:
        self._settings = hyperparameters
        self.rule, self.memory = Rule(), Memory(hyperparameters.imitation_capacity)
        self._going_on: dict[int, deque[tuple[Batch, torch.Tensor]]] = defaultdict(deque)

    @classmethod
    def of(cls, hyperparameters: Hyperparameters) -> SelfImitation | None:
        """Make the object for self-imitation; None if ``hyperparameters`` switch self-imitation off."""
        return cls(hyperparameters) if hyperparameters.imitation_coef else None

    def see(self, slot: int, observations: Batch, actions: torch.Tensor, ends: Sequence[End]) -> None:
        """Receive the next decisions of the environment with the number ``slot``. ``see`` does not copy the tensors, so
        the caller must not change them after the call.

        :param observations: the network's inputs and the mask, as entries ``[T, ...]`` with one row for each decision.
        :param actions: flat actions, ``[T, action_size]``.
        :param ends: the ends of the episodes among these decisions, in order.
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
        """Take ``imitation_minibatches`` gradient steps on the kept decisions. If no decisions are kept, ``learn`` does
        nothing.

        :param generator: the random generator that draws the minibatches. If ``generator`` is None, torch's default
            generator is used.
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
        """The state of self-imitation, for a checkpoint. The state of self-imitation contains no unfinished episodes,
        because a resumed training begins new episodes.
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
