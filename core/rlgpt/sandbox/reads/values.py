"""What expressions of a source can be: views, and lists and tuples with views."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple


class Unclear(Exception):
    """Code could use a view in a way that shows which keys the view has."""


class Value(NamedTuple):
    """What an expression can be besides a value without any view.

    :ivar view: whether it can be a view or an outcome.
    :ivar items: what the elements can be if it can be a list or tuple with views.
    :ivar parts: what each element can be if it can be a tuple with views of this length.
    """

    view: bool = False
    items: Value | None = None
    parts: tuple[Value, ...] | None = None

    @property
    def elements(self) -> Value:
        """What each element can be."""
        if self.view:
            raise Unclear
        return reduce(join, (*(self.parts or ()), *([self.items] if self.items else ())), PLAIN)


PLAIN, VIEW = Value(), Value(view=True)


def join(a: Value, b: Value) -> Value:
    """What is one of ``a`` and ``b``.

    :raises Unclear: there are too many lists and tuples within each other.
    """
    if a == b or b == PLAIN:
        return a
    if max(_size(a), _size(b)) > _LARGEST:
        raise Unclear
    if a == PLAIN:
        return b
    view = a.view or b.view
    fixed = [value.parts for value in (a, b) if value.parts is not None]
    items = [value.items for value in (a, b) if value.items is not None]
    if not items and len({len(parts) for parts in fixed}) == 1:
        return Value(view, None, tuple(reduce(join, each) for each in zip(*fixed, strict=True)))
    items += [part for parts in fixed for part in parts]
    return Value(view, reduce(join, items) if items else None)


_WIDEST, _LARGEST = 8, 32


def several(values: Sequence[Value]) -> Value:
    """A tuple of ``values``."""
    if all(value == PLAIN for value in values):
        return PLAIN
    return Value(parts=tuple(values)) if len(values) <= _WIDEST else listed(reduce(join, values))


def listed(items: Value) -> Value:
    """A list with ``items``."""
    return Value(items=items) if items != PLAIN else PLAIN


def _size(value: Value) -> int:
    return 1 + sum(map(_size, (*(value.parts or ()), *([value.items] if value.items else ()))))
