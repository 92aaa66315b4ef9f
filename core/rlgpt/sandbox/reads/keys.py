"""Sets of keys of a view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple


class Pattern(NamedTuple):
    """Keys that begin with ``prefix`` and end with ``suffix``. If ``suffix`` is None, ``prefix`` is the only key."""

    prefix: str
    suffix: str | None = None

    def fits(self, key: str) -> bool:
        """Whether the pattern contains ``key``."""
        if self.suffix is None:
            return key == self.prefix
        long = len(key) >= len(self.prefix) + len(self.suffix)
        return long and key.startswith(self.prefix) and key.endswith(self.suffix)

    def then(self, other: Pattern) -> Pattern:
        """The keys that are one of these and then one of ``other``."""
        if self.suffix is None:
            return Pattern(self.prefix + other.prefix, other.suffix)
        return Pattern(self.prefix, self.suffix + other.prefix if other.suffix is None else other.suffix)


ANY = Pattern("", "")
"""All keys."""


@dataclass(frozen=True)
class ViewReads:
    """The keys of views that code can read.

    :ivar keys: patterns of the keys.
    :ivar tests: whether the code tests if a view is empty.
    """

    keys: frozenset[Pattern]
    tests: bool

    def part(self, view: Mapping[str, Any]) -> Mapping[str, Any]:
        """The part of ``view`` that the code can read, with its keys in the order of the view. If the code tests views,
        a view that is not empty keeps a key.
        """
        keys = _chosen(self, tuple(view))
        return view if len(keys) == len(view) else {key: view[key] for key in keys}


@lru_cache(maxsize=1024)
def _chosen(reads: ViewReads, view: tuple[str, ...]) -> tuple[str, ...]:
    if not all(isinstance(key, str) for key in view):
        return view
    chosen = tuple(key for key in view if any(pattern.fits(key) for pattern in reads.keys))
    return chosen or view[: reads.tests]
