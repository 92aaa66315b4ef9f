"""The probability distribution over an extended action space. A *selector* chooses a branch of the action space (a base
action or a coded action). *Heads* are the parts of an action other than the selector; each branch uses only some of the
heads.

An extended space is a parameterised action space (Masson, Ranchod and Konidaris 2016). A parameterised action space
consists of a discrete choice ``s`` among branches and of components, which have an effect only if the chosen branch
uses (owns) them. The number ``owner[s, c]`` is 1 if branch ``s`` uses component ``c``, else 0. The components of an
action are independent given the state, which gives the following log-probability, entropy H and divergence KL.

    log p(a)  = log p(s) + sum_c owner[s, c] log p_c(a_c)
    H(p)      = H(p_s)   + sum_c (sum_s p(s) owner[s, c]) H(p_c)
    KL(p, q)  = KL(p_s, q_s) + sum_c (sum_s p(s) owner[s, c]) KL(p_c, q_c)

A Discrete action space is a selector without heads. A Box, or a Tuple without a selector, consists of heads only.
"""

from __future__ import annotations

import copy
import math

import numpy as np
import torch

from rlgpt.options import ActionLayout

MASKED = -1e8
"""The logit of a masked choice. With this logit, the probability is exactly 0 and ``p log p`` is finite. With the logit
-inf, ``p log p`` would be NaN.
"""


class BranchedDistribution:
    """A batch of probability distributions over actions of one layout.

    :param parameters: the numbers that describe the distributions, ``[B, layout.parameters]``. The logits of the
        selector come first, then for each head its logits, or its means followed by the logarithms of its standard
        deviations.
    :param mask: array ``[B, branches]``, nonzero for each branch that may be chosen. The mask changes the logits of the
        selector, so log-probabilities, entropy and KL divergence are those of the masked policy.
    :param branch_masking: whether only the components that a branch uses count in the log-probability of this branch.
        If ``branch_masking`` is False, every component counts for every branch (an ablation).
    """

    def __init__(
        self,
        layout: ActionLayout,
        parameters: torch.Tensor,
        mask: torch.Tensor | None = None,
        *,
        branch_masking: bool = True,
    ) -> None:
        self.layout = layout
        widths = [layout.choices, *(h.parameters for h in layout.heads)]
        selector, *heads = torch.split(parameters, widths, dim=-1)
        if mask is not None and layout.choices:
            selector = selector.masked_fill(mask == 0, MASKED)
        self._selector = torch.log_softmax(selector, dim=-1) if layout.choices else None
        self._heads = [
            (torch.log_softmax(p, dim=-1),) if h.kind == "discrete" else tuple(p.chunk(2, dim=-1))
            for h, p in zip(layout.heads, heads, strict=True)
        ]
        owner = layout.owner if branch_masking else np.ones_like(layout.owner)
        self._owner = torch.as_tensor(owner, dtype=parameters.dtype, device=parameters.device)
        self._batch = parameters.shape[0]

    def sharpened(self, sharpness: float) -> BranchedDistribution:
        """Return the distribution in which the selector and each head have the probability ``p ** sharpness``,
        normalised, instead of ``p``.

        The standard deviation of a Gaussian in the sharpened distribution is divided by ``sqrt(sharpness)``. With
        sharpness 1, the distribution does not change. With a large sharpness, samples are close to :meth:`mode`.

        :raises ValueError: ``sharpness`` is not a finite number above 0.
        """
        if not (sharpness > 0 and math.isfinite(sharpness)):
            raise ValueError(f"sharpness must be a finite number above 0, got {sharpness}; 1 changes nothing")
        if sharpness == 1.0:
            return self
        other = copy.copy(self)
        if self._selector is not None:
            other._selector = torch.log_softmax(self._selector * sharpness, dim=-1)
        other._heads = [
            (torch.log_softmax(head[0] * sharpness, dim=-1),)
            if len(head) == 1
            else (head[0], head[1] - 0.5 * math.log(sharpness))
            for head in self._heads
        ]
        return other

    @property
    def probabilities(self) -> torch.Tensor:
        """Probabilities of the branches, ``[B, branches]``; ones of shape ``[B, 1]`` if the layout has no selector."""
        if self._selector is None:
            return self._owner.new_ones((self._batch, 1))
        return self._selector.exp()

    def sample(self, generator: torch.Generator | None = None) -> torch.Tensor:
        """Draw flat actions ``[B, action_size]``, including the heads that the chosen branches do not use.

        :param generator: the random generator; None for torch's default generator. The actions are on the device of the
            generator. A generator of the CPU draws the same actions from a distribution on a GPU as from the same
            distribution on the CPU.
        """
        if generator is not None and generator.device != self._owner.device:
            return self._to(generator.device).sample(generator)
        parts = [] if self._selector is None else [_draw(self._selector, generator)]
        for head in self._heads:
            if len(head) == 1:
                parts.append(_draw(head[0], generator))
            else:
                mean, log_std = head
                noise = torch.randn(mean.shape, generator=generator, dtype=mean.dtype, device=mean.device)
                parts.append(mean + log_std.exp() * noise)
        return torch.cat(parts, dim=-1)

    def _to(self, device: torch.device) -> BranchedDistribution:
        other = copy.copy(self)
        other._owner = self._owner.to(device)
        other._selector = None if self._selector is None else self._selector.to(device)
        other._heads = [tuple(part.to(device) for part in head) for head in self._heads]
        return other

    def mode(self) -> torch.Tensor:
        """The flat actions ``[B, action_size]`` with the most likely branch, the most likely value of each Discrete
        head and the means of each Box head.
        """
        parts = [] if self._selector is None else [_most_likely(self._selector)]
        parts += [_most_likely(head[0]) if len(head) == 1 else head[0] for head in self._heads]
        return torch.cat(parts, dim=-1)

    def log_prob(self, actions: torch.Tensor) -> torch.Tensor:
        """Log-probabilities ``[B]`` of the flat actions ``[B, action_size]``."""
        total = self._owner.new_zeros(self._batch)
        used = self._owner
        if self._selector is not None:
            chosen = actions[:, :1].long()
            total = self._selector.gather(-1, chosen).squeeze(-1)
            used, actions = self._owner[chosen.squeeze(-1)], actions[:, 1:]
        at, parts = 0, []
        for shape, head in zip(self.layout.heads, self._heads, strict=True):
            part = actions[:, at : at + shape.components]
            at += shape.components
            if len(head) == 1:
                parts.append(head[0].gather(-1, part.long()))
            else:
                mean, log_std = head
                parts.append(-0.5 * ((part - mean) / log_std.exp()) ** 2 - log_std - 0.5 * math.log(2 * math.pi))
        return total + self._sum(used, parts)

    def entropy(self) -> torch.Tensor:
        """Entropy ``[B]`` in nats."""
        total = self._owner.new_zeros(self._batch)
        if self._selector is not None:
            total = -(self._selector.exp() * self._selector).sum(-1)
        parts = [
            -(head[0].exp() * head[0]).sum(-1, keepdim=True)
            if len(head) == 1
            else head[1] + 0.5 * math.log(2 * math.pi * math.e)
            for head in self._heads
        ]
        return total + self._sum(self.probabilities @ self._owner, parts)

    def kl(self, other: BranchedDistribution) -> torch.Tensor:
        """The Kullback-Leibler divergence KL(self, other), ``[B]``, in nats. The distributions ``self`` and ``other``
        must have the same layout.
        """
        total = self._owner.new_zeros(self._batch)
        if self._selector is not None and other._selector is not None:
            total = (self._selector.exp() * (self._selector - other._selector)).sum(-1)
        parts = []
        for p, q in zip(self._heads, other._heads, strict=True):
            if len(p) == 1:
                parts.append((p[0].exp() * (p[0] - q[0])).sum(-1, keepdim=True))
            else:
                spread = (2 * (p[1] - q[1])).exp()
                shift = ((p[0] - q[0]) / q[1].exp()) ** 2
                parts.append(0.5 * (spread + shift - 1) - (p[1] - q[1]))
        return total + self._sum(self.probabilities @ self._owner, parts)

    def _sum(self, weights: torch.Tensor, parts: list[torch.Tensor]) -> torch.Tensor:
        if not parts:
            return self._owner.new_zeros(self._batch)
        return (weights * torch.cat(parts, dim=-1)).sum(-1)


def _draw(log_probs: torch.Tensor, generator: torch.Generator | None) -> torch.Tensor:
    return torch.multinomial(log_probs.exp(), 1, generator=generator).to(log_probs.dtype)


def _most_likely(log_probs: torch.Tensor) -> torch.Tensor:
    return log_probs.argmax(-1, keepdim=True).to(log_probs.dtype)
