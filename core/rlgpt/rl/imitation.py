"""Self-imitation: the decisions of episodes that went well are kept, and the policy is drawn towards them.

An episode is kept where it succeeded, or where its return (the undiscounted sum of its rewards) is above

    mean + 2 sigma     of the returns of all episodes before it.

After each update of PPO the policy takes a few gradient steps on

    L = -c mean log pi(a | s)     over minibatches of kept decisions (s, a), each drawn as often as any other.

So did MineDojo (Fan et al. 2022, appendix on the agent's training) and RL-GPT's official code (``SelfImitationBuffer``
and ``update_imitation`` of ``ppo_selfimitate_clip.py``), which compares with the returns it kept rather than with those
it saw. Self-imitation learning proper (Oh et al. 2018, eq. 2) weights each decision by ``max(R - V, 0)``; here the rule
has already chosen, so nothing is weighted and no return is discounted.
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
"""Standard deviations above the mean from which a return is out of the ordinary."""

FEWEST = 10
"""Episodes without which nothing is ordinary, so that only success counts."""

_RETURNS = "returns"

Descend = Callable[[torch.Tensor], None]
"""One gradient step on a loss."""


class End(NamedTuple):
    """Where an episode ended: with the decision at index ``at`` of what is shown."""

    at: int
    success: bool
    total_reward: float


class Rule:
    """Which episodes are kept.

    :ivar count: of the returns seen, with their ``mean`` and ``squares``, the sum of squared distances from it
        (Welford 1962). Returns that are not finite are not among them.
    """

    def __init__(self, count: int = 0, mean: float = 0.0, squares: float = 0.0) -> None:
        self.count, self.mean, self.squares = count, mean, squares

    @property
    def bar(self) -> float:
        """What a return must exceed; infinite before there are :data:`FEWEST` to compare with."""
        if self.count < FEWEST:
            return math.inf
        return self.mean + SIGMAS * math.sqrt(self.squares / self.count)

    def keeps(self, *, success: bool, total_reward: float) -> bool:
        """The verdict on an episode, whose return then counts for those after it."""
        kept = success or (total_reward > self.bar and math.isfinite(total_reward))
        if math.isfinite(total_reward):
            self.count += 1
            shift = total_reward - self.mean
            self.mean += shift / self.count
            self.squares += shift * (total_reward - self.mean)
        return kept


class SelfImitation:
    """Puts episodes together from what each environment did, keeps the good ones, and learns from them.

    :ivar memory: the decisions kept, at most ``imitation_capacity``; of an episode under way no more are held either.
    """

    def __init__(self, hyperparameters: Hyperparameters) -> None:
        self._settings = hyperparameters
        self.rule, self.memory = Rule(), Memory(hyperparameters.imitation_capacity)
        self._going_on: dict[int, deque[tuple[Batch, torch.Tensor]]] = defaultdict(deque)

    @classmethod
    def of(cls, hyperparameters: Hyperparameters) -> SelfImitation | None:
        """None where it is switched off."""
        return cls(hyperparameters) if hyperparameters.imitation_coef else None

    def see(self, slot: int, observations: Batch, actions: torch.Tensor, ends: Sequence[End]) -> None:
        """What environment ``slot`` did next. The tensors are taken over, so nobody may write to them later.

        :param observations: entries ``[T, ...]`` at each decision, those that the network reads and its mask.
        :param actions: flat, ``[T, action_size]``.
        :param ends: in order.
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
        """Some gradient steps towards what is kept; none as long as nothing is.

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
        """For a checkpoint. Episodes under way are not in it: a resumed training begins with fresh ones."""
        rule = self.rule
        seen = torch.tensor([rule.count, rule.mean, rule.squares], dtype=torch.float64)
        return {**self.memory.tensors(), _RETURNS: seen}

    def restore(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Go on from what :meth:`tensors` gave.

        :raises TrainingFolderError: it is damaged.
        """
        try:
            count, mean, squares = tensors[_RETURNS].tolist()
            self.memory.restore({key: values for key, values in tensors.items() if key != _RETURNS})
        except (KeyError, ValueError, RuntimeError, TypeError, AttributeError) as fault:
            raise TrainingFolderError(
                f"what the checkpoint kept for self-imitation cannot be read ({fault}); restore the checkpoint from a "
                "copy, or train in a new folder."
            ) from fault
        self.rule = Rule(int(count), mean, squares)
