"""The distribution over an extended action space: a selector of branches, and heads that only some branches use.

An extended space is a parameterised action space (Masson, Ranchod and Konidaris 2016): a choice ``s`` among branches,
and numbers that count only where the chosen branch owns them. With ``owner[s, c]`` in {0, 1} and components ``c`` that
are independent given the state,

    log p(a)  = log p(s) + sum_c owner[s, c] log p_c(a_c)
    H(p)      = H(p_s)   + sum_c (sum_s p(s) owner[s, c]) H(p_c)
    KL(p, q)  = KL(p_s, q_s) + sum_c (sum_s p(s) owner[s, c]) KL(p_c, q_c)

A plain Discrete is a selector without heads; a plain Box, or a Tuple without selector, is heads without a selector.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import gymnasium
import numpy as np
import numpy.typing as npt
import torch

MASKED = -1e8
"""The logit of a masked choice: its probability is exactly 0 and ``p log p`` stays finite (minus infinity's is NaN)."""


@dataclass(frozen=True)
class HeadShape:
    """A part of the action beside the selector: one Categorical of ``size`` values, or ``size`` Gaussians.

    :ivar names: of its components (``reach.dx``); they say which weights a grown action space may take over.
    """

    kind: Literal["discrete", "box"]
    size: int
    names: tuple[str, ...] = ()

    @property
    def components(self) -> int:
        """Independent variables: 1, or one for each number."""
        return 1 if self.kind == "discrete" else self.size

    @property
    def parameters(self) -> int:
        """Numbers that describe its distribution: logits, or means and then log-stds."""
        return self.size if self.kind == "discrete" else 2 * self.size


@dataclass(frozen=True, eq=False)
class ActionLayout:
    """What a distribution needs to know of an action space; picklable.

    :ivar branches: names of the selector's choices; empty where the space has no selector.
    :ivar owner: bool ``[branches, components]``; a row of ones where there is no selector.
    """

    branches: tuple[str, ...]
    heads: tuple[HeadShape, ...]
    owner: npt.NDArray[np.bool_]

    def __post_init__(self) -> None:
        want = (max(1, len(self.branches)), sum(h.components for h in self.heads))
        if self.owner.shape != want:
            raise ValueError(
                f"owner has shape {self.owner.shape}; {want[0]} branches and {want[1]} components need {want}"
            )
        if not self.branches and not self.heads:
            raise ValueError("an action space needs a selector or at least one head")

    @classmethod
    def of(
        cls,
        space: gymnasium.Space[Any],
        *,
        branches: tuple[str, ...] = (),
        owner: npt.NDArray[np.bool_] | None = None,
    ) -> ActionLayout:
        """The layout of a Discrete, a 1-D Box, or a Tuple of those.

        :param branches: names of the selector's choices; with a Tuple, its first part is then the selector.
        :param owner: which component each branch owns; None: every branch owns all.
        :raises ValueError: the space is of another kind, or does not fit ``branches`` or ``owner``.
        """
        parts = list(space.spaces) if isinstance(space, gymnasium.spaces.Tuple) else [space]
        if isinstance(space, gymnasium.spaces.Discrete) and not branches:
            branches = tuple(str(i) for i in range(int(space.n)))
        if branches:
            selector = parts.pop(0)
            if not isinstance(selector, gymnasium.spaces.Discrete) or selector.n != len(branches):
                raise ValueError(f"{len(branches)} branches need a Discrete({len(branches)}) first, got {selector}")
        heads = tuple(_head(part) for part in parts)
        count = sum(h.components for h in heads)
        if owner is None:
            owner = np.ones((max(1, len(branches)), count), dtype=np.bool_)
        return cls(branches, heads, np.asarray(owner, dtype=np.bool_))

    @cached_property
    def parameters(self) -> int:
        """Width of the distribution's flat parameters: selector logits, then those of each head in order."""
        return len(self.branches) + sum(h.parameters for h in self.heads)

    @cached_property
    def action_size(self) -> int:
        """Width of a flat action: the selector's index (where there is one), then each head's component(s)."""
        return bool(self.branches) + sum(h.components for h in self.heads)

    @cached_property
    def means(self) -> tuple[int, ...]:
        """Positions of the Gaussians' means in the flat parameters, in the order of the components."""
        return tuple(i for start, h in self._starts() if h.kind == "box" for i in range(start, start + h.size))

    @cached_property
    def log_stds(self) -> tuple[int, ...]:
        """Positions of the Gaussians' log-stds in the flat parameters, in the order of the components."""
        return tuple(
            i for start, h in self._starts() if h.kind == "box" for i in range(start + h.size, start + 2 * h.size)
        )

    def to_space(self, flat: npt.NDArray[Any]) -> Any:
        """A flat action ``[action_size]`` as an element of the gymnasium space."""
        at = 0
        parts: list[Any] = []
        if self.branches:
            parts.append(np.int64(flat[0]))
            at = 1
        for head in self.heads:
            parts.append(
                np.int64(flat[at]) if head.kind == "discrete" else flat[at : at + head.size].astype(np.float32)
            )
            at += head.components
        return parts[0] if len(parts) == 1 else tuple(parts)

    def _starts(self) -> list[tuple[int, HeadShape]]:
        ends = np.cumsum([len(self.branches), *(h.parameters for h in self.heads)])
        return [(int(start), head) for start, head in zip(ends, self.heads, strict=False)]


def _head(space: gymnasium.Space[Any]) -> HeadShape:
    if isinstance(space, gymnasium.spaces.Discrete):
        return HeadShape("discrete", int(space.n))
    if isinstance(space, gymnasium.spaces.Box) and len(space.shape) == 1:
        return HeadShape("box", space.shape[0])
    raise ValueError(f"a policy needs Discrete or 1-D Box parts, got {space}")


class BranchedDistribution:
    """A batch of distributions over one layout.

    :param parameters: ``[B, layout.parameters]``: selector logits, then for each head its logits, or its means and
        its log-stds.
    :param mask: ``[B, branches]``, nonzero where a branch may be chosen. It enters the logits, so that
        log-probabilities, entropy and KL are those of the masked policy.
    :param branch_masking: False makes the heads independent: every component counts, whatever was chosen (an ablation).
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
        widths = [len(layout.branches), *(h.parameters for h in layout.heads)]
        selector, *heads = torch.split(parameters, widths, dim=-1)
        if mask is not None and layout.branches:
            selector = selector.masked_fill(mask == 0, MASKED)
        self._selector = torch.log_softmax(selector, dim=-1) if layout.branches else None
        self._heads = [
            (torch.log_softmax(p, dim=-1),) if h.kind == "discrete" else tuple(p.chunk(2, dim=-1))
            for h, p in zip(layout.heads, heads, strict=True)
        ]
        owner = layout.owner if branch_masking else np.ones_like(layout.owner)
        self._owner = torch.as_tensor(owner, dtype=parameters.dtype, device=parameters.device)
        self._batch = parameters.shape[0]

    @property
    def probabilities(self) -> torch.Tensor:
        """``[B, branches]``; ``[B, 1]`` of ones where there is no selector."""
        if self._selector is None:
            return self._owner.new_ones((self._batch, 1))
        return self._selector.exp()

    def sample(self, generator: torch.Generator | None = None) -> torch.Tensor:
        """Flat actions ``[B, action_size]``; every head is drawn, also those the chosen branch ignores."""
        parts = [] if self._selector is None else [_draw(self._selector, generator)]
        for head in self._heads:
            if len(head) == 1:
                parts.append(_draw(head[0], generator))
            else:
                mean, log_std = head
                noise = torch.randn(mean.shape, generator=generator, dtype=mean.dtype, device=mean.device)
                parts.append(mean + log_std.exp() * noise)
        return torch.cat(parts, dim=-1)

    def mode(self) -> torch.Tensor:
        """The most likely branch, the most likely value of each discrete head, the means: ``[B, action_size]``."""
        parts = [] if self._selector is None else [_most_likely(self._selector)]
        parts += [_most_likely(head[0]) if len(head) == 1 else head[0] for head in self._heads]
        return torch.cat(parts, dim=-1)

    def log_prob(self, actions: torch.Tensor) -> torch.Tensor:
        """``[B]``, of flat actions ``[B, action_size]``."""
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
        """``[B]``, in nats."""
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
        """``[B]``: KL(self, other) in nats. Both must be of one layout."""
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
