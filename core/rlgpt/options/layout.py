"""Which numbers of an extended action belong to which branch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray


@dataclass(frozen=True)
class Head:
    """One part of the extended action.

    :ivar kind: ``selector`` chooses the branch; ``base`` is the base action, or a head of it; ``parameters`` is the
        concatenation of all coded actions' parameters.
    :ivar components: how many numbers of the owner matrix's columns it has (0 for the selector, 1 for a Discrete).
    """

    kind: Literal["selector", "base", "parameters"]
    space: spaces.Space[Any]
    components: int


@dataclass(frozen=True)
class Layout:
    """The shape of an extended action space.

    :ivar branches: names of what may be chosen: base actions first, then coded actions. Where there is one alone, no
        selector chooses it, and the whole action is its own.
    :ivar heads: the parts in order; the selector first, where there is one.
    :ivar owner: bool, shape (branches, components): which components a branch uses. Only those count in its
        log-probability, entropy and KL.
    """

    branches: tuple[str, ...]
    heads: tuple[Head, ...]
    owner: NDArray[np.bool_]

    def __post_init__(self) -> None:
        expected = (len(self.branches), sum(h.components for h in self.heads))
        if self.branches and self.owner.shape != expected:
            raise ValueError(f"owner has shape {self.owner.shape}, the heads need {expected}")

    @property
    def has_selector(self) -> bool:
        """Whether the first head chooses the branch; not where only one is left, and it is no Discrete base."""
        return bool(self.heads) and self.heads[0].kind == "selector"
