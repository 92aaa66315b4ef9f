"""Computes the views of several environments key by key, for all environments together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any


class Columns:
    """A table with one row for each environment and one column for each key of the view. A column of the table is
    computed when the column is first read.

    :param keys: the keys, in order.
    :param compute: a function that returns the values of a key of the view for all rows.
    :ivar count: number of rows that :meth:`rows` returned.
    """

    def __init__(self, keys: Sequence[str], compute: Callable[[str], Sequence[Any]]) -> None:
        self._compute, self._found = compute, dict[str, Sequence[Any]]()
        self.keys = dict.fromkeys(keys)
        self.count = 0

    def __getitem__(self, key: str) -> Sequence[Any]:
        """:raises KeyError: there is no such key."""
        if (found := self._found.get(key)) is None:
            if key not in self.keys:
                raise KeyError(key)
            found = self._found[key] = self._compute(key)
        return found

    def rows(self, count: int) -> list[Mapping[str, Any]]:
        """The first ``count`` rows, each as a mapping with the keys of the table."""
        self.count = count
        return [_Row(self, i) for i in range(count)]


def table_of(rows: Sequence[Mapping[str, Any]]) -> Columns | None:
    """The table whose rows are ``rows``, all of them and in order; None if there is no such table."""
    table = rows[0]._columns if rows and type(rows[0]) is _Row else None
    if table is None or table.count != len(rows):
        return None
    whole = all(type(row) is _Row and row._columns is table and row._index == i for i, row in enumerate(rows))
    return table if whole else None


class _Row(Mapping[str, Any]):
    __slots__ = ("_columns", "_index")

    def __init__(self, columns: Columns, index: int) -> None:
        self._columns, self._index = columns, index

    def __getitem__(self, key: str) -> Any:
        return self._columns[key][self._index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns.keys)

    def __len__(self) -> int:
        return len(self._columns.keys)

    def __contains__(self, key: object) -> bool:
        return key in self._columns.keys

    def __repr__(self) -> str:
        return repr(dict(self))
