"""Adds K coded actions to an action space, and translates actions of the extended space back.

=====================  ==================================================================================
base space             extended
=====================  ==================================================================================
``Discrete(n)``        ``Discrete(n + K)``; with parameters ``Tuple(Discrete(n + K), Box(P))``
``Box(d)``             ``Tuple(Discrete(1 + K), Box(d), Box(P) where P > 0)``; branch 0 is the base action
``MultiDiscrete``,     ``Tuple(Discrete(1 + K), *base heads, Box(P) where P > 0)``
``Tuple``
=====================  ==================================================================================

With K = 0 and all base actions kept, the extended space is the base space itself. If the extended space has only one
branch, it has no selector. If the extended space has only one part, it is this part and not a Tuple. With ``residual``,
the Tuple of a base ``Box(d)`` ends with a ``Box(-1, 1, (d,))``, which is the correction of the base action that the
chosen coded action proposes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from gymnasium import spaces

from rlgpt.domain import CodedAction
from rlgpt.errors import ConfigError, UnknownNameError
from rlgpt.options.layout import ActionLayout, Head


@dataclass(frozen=True)
class Choice:
    """The meaning of an extended action, which is a base action, or a coded action with its parameters (in their own
    units).

    :ivar residual: the correction of the proposal, in [-1, 1], with the shape of the base Box; None if the space has no
        correction.
    """

    branch: int
    base: Any = None
    coded: CodedAction | None = None
    parameters: dict[str, float] = field(default_factory=dict)
    residual: np.ndarray | None = None


class ExtendedSpace:
    """Builds the extended action space and reads its actions.

    :param base: action space of the base environment.
    :param actions: the K coded actions, in order.
    :param labels: names of the base action's parts (each value of a Discrete, each head, each number of a Box).
    :param keep: labels of the base actions that the policy may choose; None means all. If the base space is a Box,
        ``()`` removes the branch of the base action; single numbers of a Box cannot be removed.
    :param filler: the base action that provides the values of those heads whose values the policy is not allowed to
        choose.
    :param residual: the largest correction of a proposal, as a share of half the range of each number; 0: the extended
        action contains no correction.
    :raises ConfigError: the base space cannot be extended, two branches have the same name, the policy would have
        nothing to choose, or ``residual`` is above 0 although the base space is no Box or there is no coded action.
    :raises UnknownNameError: ``keep`` contains a name that is not in ``labels``.
    """

    space: spaces.Space[Any]
    layout: ActionLayout

    def __init__(
        self,
        base: spaces.Space[Any],
        actions: Sequence[CodedAction],
        labels: Sequence[str],
        keep: Sequence[str] | None = None,
        filler: Any = None,
        residual: float = 0.0,
    ) -> None:
        self.base, self.actions, self._filler = base, tuple(actions), filler
        if residual and not (isinstance(base, spaces.Box) and self.actions):
            raise ConfigError(
                f"residual needs a Box and at least one coded action; the action space is {base} with "
                f"{len(self.actions)} coded actions. Set residual to 0."
            )
        self._residual = residual
        self._parts = _parts(base)
        self._kept = self._keep(tuple(labels), keep)
        self.identity = not self.actions and keep is None
        self._parameters = [p for a in self.actions for p in a.parameters]
        ends = np.cumsum([0, *(len(a.parameters) for a in self.actions)])
        self._slices = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        base_branches = self._base_branches(tuple(labels))
        self._offset = len(base_branches)
        branches = (*base_branches, *(a.name for a in self.actions))
        self._check(branches)
        selector = self._selector(branches)
        heads = self._heads()
        self.layout = ActionLayout(branches, selector, heads, self._owner(branches, heads))
        self.space = self._space([*([] if selector is None else [selector]), *(head.space for head in heads)])

    def read(self, action: Any) -> Choice:
        """The branch and the parameters that ``action`` chooses.

        :param action: an element of :attr:`space`. Numbers of a Box may be outside its bounds.
        :raises ConfigError: ``action`` is not in :attr:`space`.
        """
        try:
            return self._read(action)
        except (TypeError, ValueError, IndexError, OverflowError) as fault:
            raise ConfigError(
                f"the action {action!r:.120} is not in the extended space {self.space!s:.300}. Valid: an action of "
                "this space, or env.extension.write(name, parameters) for a coded action."
            ) from fault

    def _read(self, action: Any) -> Choice:
        if self.identity:
            branch = _index(action) - int(self.base.start) if isinstance(self.base, spaces.Discrete) else 0
            if not 0 <= branch < len(self.layout.branches):
                raise IndexError(branch)
            return Choice(branch, base=action)
        parts = list(action) if isinstance(self.space, (spaces.Tuple, spaces.MultiDiscrete)) else [action]
        branch = 0
        if self.layout.selector is not None:
            branch = _index(parts.pop(0))
        base_parts, vector, residual = [], None, None
        for head, value in zip(self.layout.heads, parts, strict=True):
            if isinstance(head.space, spaces.Box) and not _fits(value, head.space):
                raise ValueError(value)
            if head.role == "base":
                base_parts.append(value)
            elif head.role == "parameters":
                vector = value
            else:
                residual = np.clip(np.asarray(value, np.float64), -1.0, 1.0).reshape(self.base.shape)
        if branch < 0:
            raise IndexError(branch)
        if branch >= self._offset:
            coded = self.actions[branch - self._offset]
            return Choice(branch, None, coded, self._values(branch - self._offset, vector), residual)
        return Choice(branch, base=self._base_action(branch, base_parts))

    def write(self, name: str, parameters: Mapping[str, float] | None = None) -> Any:
        """Return the action of :attr:`space` that chooses the coded action ``name``. A parameter of the coded action
        that is not given has its default.

        :raises UnknownNameError: there is no coded action ``name``, or the coded action has no parameter of a given
            name.
        :raises ConfigError: ``parameters`` is not a mapping, or a value in it is not a number in the range of its
            parameter.
        """
        if not isinstance(parameters, Mapping | None):
            raise ConfigError(
                f"parameters of {name!r} are {parameters!r:.80}; give them by name: {{'name': number, ...}}."
            )
        names = [a.name for a in self.actions]
        if name not in names:
            raise UnknownNameError("coded action", name, names)
        index = names.index(name)
        declared = [p.name for p in self.actions[index].parameters]
        vector = self.defaults()
        for key, value in (parameters or {}).items():
            if key not in declared:
                raise UnknownNameError(f"parameter of {name!r}", key, declared)
            place = self._slices[index].start + declared.index(key)
            low, high = self._parameters[place].low, self._parameters[place].high
            try:
                vector[place] = value
                inside = np.float32(low) <= vector[place] <= np.float32(high)
            except (TypeError, ValueError):
                inside = np.False_
            if not inside:
                raise ConfigError(
                    f"parameter {key!r} of {name!r} is {value!r:.80}; give a number from {low:g} to {high:g}."
                )
        return self._whole(self._offset + index, self._base_values(self._filler), vector)

    def write_base(self, low_level: Any) -> Any | None:
        """Return the action of :attr:`space` that takes ``low_level`` as a base action. Numbers outside the bounds of a
        Box are clipped. The result is None if the policy cannot choose ``low_level``, for example because its label is
        not in ``keep``, or because ``low_level`` is not in the base space.
        """
        if self.identity:
            return low_level
        try:
            if isinstance(self.base, spaces.Discrete):
                return self._whole(self._kept.index(int(low_level) - int(self.base.start)), [], self.defaults())
            if not self._kept or self._differs_outside(low_level):
                return None
            return self._whole(0, self._base_values(low_level), self.defaults())
        except (TypeError, ValueError, IndexError, OverflowError):
            return None

    def _whole(self, branch: int, base_values: Sequence[Any], parameters: np.ndarray) -> Any:
        """The action of :attr:`space` with the values of its heads."""
        base = iter(base_values)
        values = {"parameters": parameters, "residual": np.zeros(_size(self.base), np.float32)}
        whole = tuple(next(base) if h.role == "base" else values[h.role] for h in self.layout.heads)
        if self.layout.selector is not None:
            whole = (branch, *whole)
        return whole if isinstance(self.space, spaces.Tuple) else whole[0]

    def _base_values(self, low_level: Any) -> list[Any]:
        """The values of the base heads for the low-level action ``low_level``."""
        if isinstance(self.base, spaces.Box):
            value = np.asarray(low_level, np.float64).reshape(self.base.shape)
            return [np.clip(value, self.base.low, self.base.high).astype(self.base.dtype)]
        if isinstance(self.base, spaces.Discrete):
            return []
        return [low_level[i] for i in self._kept]

    def _differs_outside(self, low_level: Any) -> bool:
        """Whether a head that the policy may not choose has another value than the filler."""
        if isinstance(self.base, spaces.Box):
            return False
        others = (i for i in range(len(self._parts)) if i not in self._kept)
        return len(low_level) != len(self._parts) or any(
            not np.array_equal(low_level[i], self._filler[i]) for i in others
        )

    def defaults(self) -> np.ndarray:
        """The defaults of the parameters of all coded actions, float32, shape (P,)."""
        return np.array([p.default for p in self._parameters], np.float32)

    def _values(self, index: int, vector: Any) -> dict[str, float]:
        declared = self.actions[index].parameters
        if vector is None:
            return {p.name: float(p.default) for p in declared}
        numbers = np.asarray(vector, np.float64).reshape(-1)[self._slices[index]]
        return {p.name: min(max(float(v), p.low or 0.0), p.high or 0.0) for p, v in zip(declared, numbers, strict=True)}

    def _base_action(self, branch: int, parts: list[Any]) -> Any:
        if isinstance(self.base, spaces.Discrete):
            return self.base.start + self._kept[branch]
        if isinstance(self.base, spaces.Box):
            return parts[0]
        if isinstance(self.base, spaces.Tuple):
            full = list(self._filler) if len(parts) < len(self._parts) else parts
            for index, value in zip(self._kept, parts, strict=True):
                full[index] = value
            return tuple(full)
        whole = np.array(self._filler, dtype=self.base.dtype)
        for index, value in zip(self._kept, parts, strict=True):
            whole[index] = np.asarray(value).reshape(-1)[0]
        return whole

    def _keep(self, labels: tuple[str, ...], keep: Sequence[str] | None) -> tuple[int, ...]:
        every = tuple(range(len(labels)))
        if keep is None:
            return every
        for label in keep:
            if label not in labels:
                raise UnknownNameError("base action", label, labels, "base_actions must contain labels of the plugin.")
        if isinstance(self.base, spaces.Box) and keep:
            return every
        return tuple(i for i in every if labels[i] in keep)

    def _base_branches(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        if isinstance(self.base, spaces.Discrete):
            return tuple(labels[i] for i in self._kept)
        return ("base",) if self._kept else ()

    def _check(self, branches: tuple[str, ...]) -> None:
        if doubles := sorted({name for name in branches if branches.count(name) > 1}):
            raise ConfigError(
                f"coded actions and base actions must have different names, got {', '.join(doubles)} more than once in "
                f"{list(branches)}. Rename the coded actions."
            )
        only_branch_has_no_choice = isinstance(self.base, spaces.Discrete) or not self._kept
        if len(branches) < 2 and only_branch_has_no_choice and not (branches and self._parameters):
            raise ConfigError(
                f"a policy needs at least two choices, got {list(branches)}. "
                "Keep more base actions or add coded actions."
            )

    def _selector(self, branches: tuple[str, ...]) -> spaces.Discrete | None:
        if isinstance(self.base, spaces.Discrete):
            return self.base if self.identity else spaces.Discrete(len(branches))
        return spaces.Discrete(len(branches)) if len(branches) > 1 else None

    def _heads(self) -> tuple[Head, ...]:
        heads: list[Head] = []
        if not isinstance(self.base, spaces.Discrete):
            start = 0
            for i in self._base_heads():
                size = _size(self._parts[i])
                heads.append(Head("base", self._parts[i], tuple(f"base[{start + j}]" for j in range(size))))
                start += size
        if self._parameters:
            low = np.array([p.low for p in self._parameters], np.float32)
            high = np.array([p.high for p in self._parameters], np.float32)
            names = tuple(f"{a.name}.{p.name}" for a in self.actions for p in a.parameters)
            initial = 2.0 * (self.defaults() - low) / (high - low) - 1.0
            box = spaces.Box(low, high, dtype=np.float32)
            heads.append(Head("parameters", box, names, tuple(float(v) for v in initial)))
        if self._residual:
            size = _size(self.base)
            names = tuple(f"residual[{i}] times {self._residual:g}" for i in range(size))
            heads.append(Head("residual", spaces.Box(-1.0, 1.0, (size,), np.float32), names))
        return tuple(heads)

    def _base_heads(self) -> tuple[int, ...]:
        if isinstance(self.base, spaces.Box):
            return (0,) if self._kept else ()
        return self._kept

    def _owner(self, branches: tuple[str, ...], heads: tuple[Head, ...]) -> np.ndarray:
        sizes = [h.components for h in heads if h.role == "base"]
        n_base, end = sum(sizes), sum(sizes) + len(self._parameters)
        owner = np.zeros((len(branches), sum(h.components for h in heads)), dtype=np.bool_)
        owner[self._offset :, end:] = True  # the correction
        if not isinstance(self.base, spaces.Discrete):
            owner[: self._offset, :n_base] = True
        for i, part in enumerate(self._slices):
            owner[self._offset + i, n_base + part.start : n_base + part.stop] = True
        return owner

    def _space(self, parts: list[spaces.Space[Any]]) -> spaces.Space[Any]:
        if self.identity:
            return self.base
        if len(parts) == 1:
            return parts[0]
        if isinstance(self.base, spaces.MultiDiscrete) and not self.actions:
            kept = [part for part in parts if isinstance(part, spaces.Discrete)]
            return spaces.MultiDiscrete([part.n for part in kept], start=[part.start for part in kept])
        return spaces.Tuple(parts)


def _parts(base: spaces.Space[Any]) -> tuple[spaces.Space[Any], ...]:
    if isinstance(base, (spaces.Discrete, spaces.Box)):
        return (base,)
    if isinstance(base, spaces.MultiDiscrete) and base.nvec.ndim == 1:
        return tuple(spaces.Discrete(int(n), start=int(start)) for n, start in zip(base.nvec, base.start, strict=True))
    if isinstance(base, spaces.Tuple) and all(isinstance(s, (spaces.Discrete, spaces.Box)) for s in base.spaces):
        return tuple(base.spaces)
    raise ConfigError(
        f"action space {base} cannot be extended. Valid: Discrete, Box, one-dimensional MultiDiscrete, and Tuple of "
        "Discrete and Box. Wrap the environment with gymnasium.wrappers.TransformAction first."
    )


def _size(space: spaces.Space[Any]) -> int:
    return int(np.prod(space.shape)) if isinstance(space, spaces.Box) else 1


def _index(value: Any) -> int:
    """:raises ValueError: ``value`` is not one whole number."""
    number = np.asarray(value).item()
    if int(number) != number:
        raise ValueError(value)
    return int(number)


def _fits(value: Any, box: spaces.Box) -> bool:
    """Whether ``value`` has as many numbers as ``box``, all of them finite."""
    numbers = np.asarray(value, np.float64)
    return numbers.size == _size(box) and bool(np.isfinite(numbers).all())
