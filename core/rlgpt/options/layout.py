"""The layout of an extended action space, which names its branches (the choices of the policy), the parts of an action,
and the parts that each branch uses.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray


@dataclass(frozen=True)
class Head:
    """One part of an extended action, other than the selector.

    :ivar role: ``base`` for the base action or a part of it; ``parameters`` for the parameters of all coded actions;
        ``residual`` for the correction of a coded action's proposal.
    :ivar space: a Discrete or a Box.
    :ivar names: the name of each component of the head (such as ``reach.dx``); a warm start reuses the weights of
        components with the same name and range.
    :ivar initial: the mean of each component of the head in an untrained policy, scaled so that the range of the
        component is [-1, 1]. An empty tuple means zeros.
    """

    role: Literal["base", "parameters", "residual"]
    space: spaces.Space[Any]
    names: tuple[str, ...] = ()
    initial: tuple[float, ...] = ()

    @cached_property
    def kind(self) -> Literal["discrete", "box"]:
        """``discrete``: one categorical variable. ``box``: one Gaussian variable for each number."""
        return "discrete" if isinstance(self.space, spaces.Discrete) else "box"

    @cached_property
    def size(self) -> int:
        """The number of values of a Discrete head, or the number of numbers in a Box head."""
        return int(self.space.n) if isinstance(self.space, spaces.Discrete) else int(np.prod(self.space.shape or ()))

    @property
    def components(self) -> int:
        """The number of independent random variables of the head, which is 1 for a Discrete head, and the number of
        numbers for a Box head.
        """
        return 1 if self.kind == "discrete" else self.size

    @property
    def parameters(self) -> int:
        """How many numbers describe the probability distribution of the head's values. A Discrete head has logits; a
        Box head has means, followed by the logarithms of the standard deviations.
        """
        return self.size if self.kind == "discrete" else 2 * self.size


@dataclass(frozen=True, eq=False)
class ActionLayout:
    """The layout of an extended action, which is a selector of the branch (if there are at least two branches), then
    the heads. A layout can be pickled.

    :ivar branches: names of the branches, first those of the base actions, then those of the coded actions.
    :ivar selector: the part of an action that chooses the branch. The selector is None if there is only one branch,
        which then uses the whole action.
    :ivar heads: the parts of the action other than the selector, in order.
    :ivar owner: bool, shape (branches, components), which says for each branch and each component whether the branch
        uses the component. Only the components that a branch uses count in its log-probability, entropy and KL
        divergence.
    """

    branches: tuple[str, ...]
    selector: spaces.Discrete | None
    heads: tuple[Head, ...]
    owner: NDArray[np.bool_]

    def __post_init__(self) -> None:
        expected = (len(self.branches), sum(h.components for h in self.heads))
        if self.owner.shape != expected:
            raise ValueError(
                f"owner has shape {self.owner.shape}; {expected[0]} branches and {expected[1]} components "
                f"need {expected}"
            )
        if self.selector is None and not self.heads:
            raise ValueError("an action space needs a selector or at least one head")

    @classmethod
    def of(
        cls,
        space: gymnasium.Space[Any],
        *,
        branches: tuple[str, ...] = (),
        owner: NDArray[np.bool_] | None = None,
    ) -> ActionLayout:
        """Return the layout of a Discrete space, of a one-dimensional Box, or of a Tuple of such spaces.

        :param branches: names of the selector's choices. If names of branches are given, the first part of a Tuple
            space is the selector.
        :param owner: for each branch and each component, whether the branch uses the component. If ``owner`` is None,
            every branch uses all components.
        :raises ValueError: the action space is none of these spaces, or does not fit ``branches`` or ``owner``.
        """
        parts = list(space.spaces) if isinstance(space, spaces.Tuple) else [space]
        if isinstance(space, spaces.Discrete) and not branches:
            branches = tuple(str(i) for i in range(int(space.n)))
        selector: spaces.Discrete | None = None
        if branches:
            first = parts.pop(0)
            if not isinstance(first, spaces.Discrete) or first.n != len(branches):
                raise ValueError(f"{len(branches)} branches need a Discrete({len(branches)}) first, got {first}")
            selector = first
        for part in parts:
            if not (isinstance(part, spaces.Discrete) or (isinstance(part, spaces.Box) and len(part.shape) == 1)):
                raise ValueError(f"a policy needs Discrete or 1-D Box parts, got {part}")
        heads = tuple(Head("base", part) for part in parts)
        branches = branches or ("base",)
        if owner is None:
            owner = np.ones((len(branches), sum(h.components for h in heads)), dtype=np.bool_)
        return cls(branches, selector, heads, np.asarray(owner, dtype=np.bool_))

    @cached_property
    def choices(self) -> int:
        """The number of branches among which the selector chooses; 0 if the layout has no selector."""
        return len(self.branches) if self.selector is not None else 0

    def without_coded(self, coded: int) -> ActionLayout:
        """The layout without the last ``coded`` branches, which are coded actions, and without the heads that only
        these branches use.
        """
        branches = self.branches[: len(self.branches) - coded]
        heads = tuple(head for head in self.heads if head.role == "base")
        owner = self.owner[: len(branches), : sum(head.components for head in heads)]
        return ActionLayout(branches, spaces.Discrete(len(branches)) if len(branches) > 1 else None, heads, owner)

    @cached_property
    def parameters(self) -> int:
        """How many numbers describe the whole probability distribution of an action. An action's distribution is
        described by the selector's logits, followed by the numbers of each head (:attr:`Head.parameters`).
        """
        return self.choices + sum(h.parameters for h in self.heads)

    @cached_property
    def action_size(self) -> int:
        """Length of a flat action, which has the index of the chosen branch (if there is a selector), then the
        components of each head.
        """
        return bool(self.choices) + sum(h.components for h in self.heads)

    @cached_property
    def means(self) -> tuple[int, ...]:
        """Positions of the means among the numbers that describe the distribution of an action, in the order of the
        components.
        """
        return tuple(i for start, h in self._starts() if h.kind == "box" for i in range(start, start + h.size))

    @cached_property
    def log_stds(self) -> tuple[int, ...]:
        """Positions of the logarithms of the standard deviations among the numbers that describe the distribution of an
        action, in the order of the components.
        """
        return tuple(
            i for start, h in self._starts() if h.kind == "box" for i in range(start + h.size, start + 2 * h.size)
        )

    def to_space(self, flat: NDArray[Any]) -> Any:
        """Convert a flat action, shape (action_size,), to an element of the policy's action space."""
        at = 0
        parts: list[Any] = []
        if self.choices:
            parts.append(np.int64(flat[0]))
            at = 1
        for head in self.heads:
            parts.append(
                np.int64(flat[at]) if head.kind == "discrete" else flat[at : at + head.size].astype(np.float32)
            )
            at += head.components
        return parts[0] if len(parts) == 1 else tuple(parts)

    def to_flat(self, action: Any) -> NDArray[np.float32]:
        """The inverse of :meth:`to_space`."""
        parts = action if isinstance(action, tuple) else (action,)
        return np.concatenate([np.asarray(part, np.float32).reshape(-1) for part in parts])

    def _starts(self) -> list[tuple[int, Head]]:
        ends = np.cumsum([self.choices, *(h.parameters for h in self.heads)])
        return [(int(start), head) for start, head in zip(ends, self.heads, strict=False)]
