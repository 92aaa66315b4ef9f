"""Computes the layout in which the parts of an observation or an action are transferred between processes. Arrays are
transferred in shared memory, and text and sequences in messages (frames).
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from .spaces import Described, Unusable

if TYPE_CHECKING:
    from collections.abc import Iterator

ALIGNMENT = 64


class Numbers:
    """A part of a space with a fixed shape. Its values are in the shared memory."""

    def __init__(self, path: str, space: Described, offset: int) -> None:
        self.path, self.offset = path, offset
        self.dtype, self.shape = np.dtype(space["dtype"]), tuple(space["shape"])
        self.scalar = space["kind"] == "discrete"
        self.end = offset + self.dtype.itemsize * prod(self.shape)
        self.place: Any = None

    def attach(self, memory: Any) -> None:
        self.place = np.ndarray(self.shape, self.dtype, memory, self.offset)

    def write(self, value: Any, inline: list[Any]) -> None:
        if np.shape(value) != self.shape:
            raise Unusable(f"{self.path} has shape {np.shape(value)}; its space says {self.shape}")
        try:
            np.copyto(self.place, value, casting="same_kind")
        except TypeError:
            found = np.asarray(value).dtype
            raise Unusable(f"{self.path} has dtype {found}; its space says {self.dtype}") from None

    def read(self, inline: Iterator[Any]) -> Any:
        return self.place[()] if self.scalar else self.place.copy()


class Words:
    """A part of a space whose values have no fixed size (text, arrays of text, sequences). Its values are in the
    frame.
    """

    def __init__(self, path: str, space: Described) -> None:
        self.path, self.space, self.shape = path, space, tuple(space.get("shape", ()))

    def attach(self, memory: Any) -> None:
        """Do nothing, because text and sequences are not in the shared memory."""

    def write(self, value: Any, inline: list[Any]) -> None:
        if self.space["kind"] == "text":
            inline.append(str(value))
        elif self.space["kind"] == "sequence":
            inline.append([np.asarray(v).tolist() for v in value])
        else:
            words = np.asarray(value)
            if words.shape != self.shape or words.dtype.kind not in "UO":
                found = f"{words.dtype} of shape {words.shape}"
                raise Unusable(f"{self.path} is {found}; its space says text of shape {self.shape}")
            inline.append(words.astype(np.str_).tolist())

    def read(self, inline: Iterator[Any]) -> Any:
        value = next(inline, None)
        if self.space["kind"] == "text":
            if not isinstance(value, str):
                raise Unusable(f"{self.path}: text was expected, not {type(value)}")
            return value
        if not isinstance(value, (list, str)):
            raise Unusable(f"{self.path}: a list was expected, not {type(value)}")
        return self._sequence(value) if self.space["kind"] == "sequence" else self._array(value)

    def _sequence(self, value: Any) -> Any:
        of = self.space["of"]
        found = [np.array(v, of["dtype"]).reshape(of["shape"]) for v in value]
        if self.space["stack"]:
            return np.array(found, of["dtype"]).reshape([len(found), *of["shape"]])
        return tuple(v[()] if of["kind"] == "discrete" else v for v in found)

    def _array(self, value: Any) -> Any:
        words = np.array(value, np.str_)
        words = words if words.size else words.reshape(self.shape)
        if words.shape != self.shape:
            raise Unusable(f"{self.path}: text of shape {self.shape} was expected, not {words.shape}")
        return words


class Parts:
    """The layout of the parts of a Dict space or of a Tuple space. The parts of a Tuple have no keys."""

    def __init__(self, path: str, keys: list[str] | None, parts: list[Any]) -> None:
        self.path, self.keys, self.parts = path, keys, parts

    def attach(self, memory: Any) -> None:
        for part in self.parts:
            part.attach(memory)

    def write(self, value: Any, inline: list[Any]) -> None:
        if self.keys is not None:
            missing = [key for key in self.keys if key not in value]
            if missing:
                raise Unusable(f"{self.path} lacks {', '.join(missing)}")
            value = [value[key] for key in self.keys]
        elif len(value) != len(self.parts):
            raise Unusable(f"{self.path} has {len(value)} parts; its space says {len(self.parts)}")
        for part, one in zip(self.parts, value):  # noqa: B905 (strict= needs Python 3.10)
            part.write(one, inline)

    def read(self, inline: Iterator[Any]) -> Any:
        found = tuple(part.read(inline) for part in self.parts)
        return found if self.keys is None else dict(zip(self.keys, found))  # noqa: B905


Layout = Union[Numbers, Words, Parts]  # noqa: UP007 (evaluated at runtime by Python 3.8)


def layout(space: Described, path: str, offset: int = 0) -> tuple[Layout, int]:
    """The layout of a described space, and the offset of the layout's end in the shared memory. The layout begins at
    ``offset``.
    """
    kind = space["kind"]
    if kind in ("dict", "tuple"):
        named = [part if kind == "dict" else (str(number), part) for number, part in enumerate(space["parts"])]
        parts = []
        for key, part in named:
            made, offset = layout(part, f"{path}/{key}", offset)
            parts.append(made)
        return Parts(path, [key for key, _ in named] if kind == "dict" else None, parts), offset
    if kind in ("text", "text_array", "sequence"):
        return Words(path, space), offset
    numbers = Numbers(path, space, -(-offset // ALIGNMENT) * ALIGNMENT)
    return numbers, numbers.end


def layouts(observation: Described, action: Described) -> tuple[Layout, Layout, int]:
    """The layouts of the observation space and the action space, and the size of the shared memory in bytes."""
    first, end = layout(observation, "observation")
    second, end = layout(action, "action", end)
    return first, second, max(end, 1)
