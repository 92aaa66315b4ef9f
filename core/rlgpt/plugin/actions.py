"""Converts an action of any gymnasium space to typed, bounded parameters, and back."""

from __future__ import annotations

import keyword
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from rlgpt.domain import Parameter, Plain
from rlgpt.errors import ConfigError

UNBOUNDED = 10.0
"""A number of an action with one infinite bound gets a range of this width from its finite bound. A number with two
infinite bounds gets a range from minus this value to this value.
"""

RESERVED = frozenset({"steps", "key", "relation", "threshold"})
"""Argument names of the built-in primitives. No parameter of an action may have one of these names."""

_MANY = 32


def slug(text: str) -> str:
    """Convert ``text`` to a valid name of at most 40 characters. A valid name is a letter, followed by lower-case
    letters, digits and underscores.
    """
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_") or "x"
    return (name if name[0].isalpha() else f"x{name}")[:40]


class FreeNames:
    """Finds names that are not taken. A search takes constant time on average, because the search for a suffix
    continues where the last search ended.

    :param taken: sets of names that are not free. These sets may grow but must not shrink.
    """

    def __init__(self, *taken: Container[str]) -> None:
        self._taken = taken
        self._suffix: dict[str, int] = {}

    def next(self, name: str) -> str:
        """The name ``name`` if it is free, else the first free name of ``NAME_2``, ``NAME_3``, ..."""
        if self._is_free(name):
            return name
        stem = name[:35]
        suffix = self._suffix.get(stem, 2)
        while not self._is_free(free := f"{stem}_{suffix}"):
            suffix += 1
        self._suffix[stem] = suffix
        return free

    def _is_free(self, name: str) -> bool:
        return not any(name in taken for taken in self._taken)


def names(labels: Sequence[str]) -> list[str]:
    """A different name for each label. No returned name is in :data:`RESERVED` or a keyword of Python."""
    given: set[str] = set()
    free = FreeNames(given, RESERVED, keyword.kwlist)
    found = []
    for label in labels:
        found.append(free.next(slug(label)))
        given.add(found[-1])
    return found


def default_labels(space: spaces.Space[Any]) -> tuple[str, ...]:
    """The labels ``action_0``, ``action_1``, ..., one for each value of a Discrete, or for each part of another action
    space. The labels of a Dict are its keys.

    :raises ConfigError: the action space is none of Discrete, Box, MultiDiscrete, MultiBinary, Tuple, Dict.
    """
    if isinstance(space, spaces.Dict):
        return tuple(slug(key) for key in space.spaces)
    return tuple(f"action_{i}" for i in range(_parts(space)))


class ActionCodec:
    """Converts the parameters of a primitive to actions of one action space.

    A Discrete action space has one parameter, a choice among its labels (a number if the space has more than 32
    labels). Other action spaces have one parameter for each number, with the label of the number as name. A part of the
    action that can take only one value has no parameter.

    :param labels: one label for each value of a Discrete, for each number of a Box, or for each head of another action
        space. ``labels`` may also be a dict from label to meaning; the descriptions of the parameters then contain the
        meanings. If a head has several numbers, the meaning of its label may be a dict from the name of each number to
        its meaning.
    :raises ConfigError: the space is none of Discrete, Box, MultiDiscrete, MultiBinary, Tuple, Dict, or the labels do
        not fit the space.
    """

    def __init__(self, space: spaces.Space[Any], labels: Sequence[str] | Mapping[str, str | dict[str, str]]) -> None:
        expected = _parts(space)
        meanings = dict(labels) if isinstance(labels, Mapping) else {}
        labels = list(labels)
        if len(labels) != expected or len(set(labels)) != len(labels):
            raise ConfigError(f"{space} needs {expected} different labels, got {len(labels)}: {list(labels)}")
        self.space = space
        self._choices: tuple[str, ...] = ()
        if isinstance(space, spaces.Discrete) and 1 < expected <= _MANY:
            self._choices = tuple(labels)
            listed = "; ".join(f"{label}: {meaning}" for label, meaning in meanings.items() if meaning)
            doc = f"what to do ({listed})" if listed else "what to do"
            self.parameters: tuple[Parameter, ...] = (
                Parameter(name="action", kind="choice", choices=self._choices, default=labels[0], doc=doc),
            )
        elif isinstance(space, spaces.Discrete):
            self.parameters = tuple(_parameters(space, ["action"]))
        else:
            by_name = dict(zip(names(labels), map(meanings.get, labels), strict=True))
            inner = {head: meaning for head, meaning in by_name.items() if isinstance(meaning, dict)}
            found = tuple(_parameters(space, list(by_name), inner))
            if len({p.name for p in found}) != len(found):
                raise ConfigError(
                    f"two numbers of the action have the same label; the labels are {[p.name for p in found]}"
                )
            docs = {f"{head}_{name}"[:40]: doc for head, meaning in inner.items() for name, doc in _slugged(meaning)}
            docs |= {name: meaning for name, meaning in by_name.items() if isinstance(meaning, str)}
            self.parameters = tuple(p.model_copy(update={"doc": docs.get(p.name) or p.doc}) for p in found)

    def action(self, args: Mapping[str, Plain]) -> Any:
        """Convert ``args`` (a value for each parameter) to an action of the action space."""
        if self._choices and isinstance(self.space, spaces.Discrete):
            return np.int64(self.space.start + self._choices.index(str(args["action"])))
        return _build(self.space, iter([args[p.name] for p in self.parameters]))


def zero_action(space: spaces.Space[Any]) -> Any:
    """The action whose numbers are all zero, or the action of ``space`` that is nearest to this action.

    :raises ConfigError: the action space is none of Discrete, Box, MultiDiscrete, MultiBinary, Tuple, Dict.
    """
    if isinstance(space, spaces.Discrete):
        return np.int64(min(max(0, space.start), space.start + space.n - 1))
    if isinstance(space, spaces.Box):
        return np.asarray(np.clip(np.zeros(space.shape), space.low, space.high), space.dtype)
    if isinstance(space, spaces.MultiDiscrete):
        return np.clip(np.zeros_like(space.nvec), space.start, space.start + space.nvec - 1)
    if isinstance(space, spaces.MultiBinary):
        return np.zeros(space.shape, space.dtype)
    _parts(space)
    if isinstance(space, spaces.Dict):
        return {key: zero_action(sub) for key, sub in space.spaces.items()}
    return tuple(zero_action(sub) for sub in _children(space))


def _parts(space: spaces.Space[Any]) -> int:
    if isinstance(space, spaces.Discrete):
        return int(space.n)
    if isinstance(space, spaces.Box | spaces.MultiDiscrete | spaces.MultiBinary):
        return int(np.prod(space.shape))
    if isinstance(space, spaces.Tuple | spaces.Dict):
        return len(space.spaces)
    raise ConfigError(
        f"action space {space} cannot be extended. Valid: Discrete, Box, one-dimensional MultiDiscrete, and Tuple of "
        "Discrete and Box; the space of primitives (EnvironmentPlugin.low_level_space) may also be MultiBinary, "
        "Tuple or Dict of these. Wrap the environment with gymnasium.wrappers.TransformAction first."
    )


def _slugged(named: Mapping[str, str]) -> list[tuple[str, str]]:
    return list(zip(names(list(named)), named.values(), strict=True))


def _parameters(
    space: spaces.Space[Any], parts: Sequence[str], inner: Mapping[str, Mapping[str, str]] | None = None
) -> Iterator[Parameter]:
    if isinstance(space, spaces.Discrete):
        if space.n > 1:
            yield _number(parts[0], int(space.start), int(space.start + space.n - 1), "int")
    elif isinstance(space, spaces.Box):
        kind = "int" if np.issubdtype(space.dtype, np.integer) else "float"
        for name, low, high in zip(parts, *_bounds(space), strict=True):
            if low < high:
                yield _number(name, low, high, kind)
    elif isinstance(space, spaces.MultiDiscrete):
        for name, n, start in zip(parts, space.nvec.flat, space.start.flat, strict=True):
            if n > 1:
                yield _number(name, int(start), int(start + n - 1), "int")
    elif isinstance(space, spaces.MultiBinary):
        yield from (Parameter(name=name, kind="bool", default=False) for name in parts)
    else:
        for name, sub in zip(parts, _children(space), strict=True):
            count = _parts(sub)
            one = count == 1 or isinstance(sub, spaces.Discrete)
            if (named := (inner or {}).get(name)) is not None:
                if isinstance(sub, spaces.Discrete) or len(named) != count:
                    raise ConfigError(
                        f"labels[{name!r}] has {len(named)} names, and this part of the action is {sub!s:.120}. Give a "
                        "name for each of its numbers, or its meaning as a text."
                    )
                yield from _parameters(sub, [f"{name}_{each}"[:40] for each, _ in _slugged(named)])
                continue
            yield from _parameters(sub, [name] if one else [f"{name[:36]}_{i}" for i in range(count)])


def _number(name: str, low: float, high: float, kind: Any) -> Parameter:
    return Parameter(name=name, kind=kind, low=low, high=high, default=min(max(0, low), high))


def _bounds(space: spaces.Box) -> tuple[list[float], list[float]]:
    """The lower bounds and the upper bounds of all numbers of the space, finite and as flat arrays. A bound whose
    absolute value is more than a million is treated as infinite.
    """
    low, high = (np.asarray(b, np.float64).reshape(-1) for b in (space.low, space.high))
    no_low, no_high = low < -1e6, high > 1e6
    bounded_low = np.where(no_low, np.where(no_high, -UNBOUNDED, high - UNBOUNDED), low)
    bounded_high = np.where(no_high, np.where(no_low, UNBOUNDED, low + UNBOUNDED), high)
    return bounded_low.tolist(), bounded_high.tolist()


def _children(space: spaces.Space[Any]) -> list[spaces.Space[Any]]:
    assert isinstance(space, spaces.Tuple | spaces.Dict)
    return list(space.spaces.values()) if isinstance(space, spaces.Dict) else list(space.spaces)


def _build(space: spaces.Space[Any], values: Iterator[Any]) -> Any:
    """Build an action of ``space``. ``values`` yields the values of the parameters that stand for the action, in the
    order of the space's parts.
    """
    if isinstance(space, spaces.Discrete):
        return np.int64(next(values) if space.n > 1 else space.start)
    if isinstance(space, spaces.Box):
        numbers = [next(values) if a < b else a for a, b in zip(*_bounds(space), strict=True)]
        whole = np.asarray(numbers, np.float64).reshape(space.shape).astype(space.dtype)
        return np.asarray(np.clip(whole, space.low, space.high), space.dtype)
    if isinstance(space, spaces.MultiDiscrete):
        picked = [next(values) if n > 1 else s for n, s in zip(space.nvec.flat, space.start.flat, strict=True)]
        return np.asarray(picked, space.dtype).reshape(space.shape)
    if isinstance(space, spaces.MultiBinary):
        return np.asarray([next(values) for _ in range(_parts(space))], space.dtype).reshape(space.shape)
    if isinstance(space, spaces.Dict):
        return {key: _build(sub, values) for key, sub in space.spaces.items()}
    return tuple(_build(sub, values) for sub in _children(space))
