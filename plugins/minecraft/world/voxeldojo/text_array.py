"""A gymnasium space of arrays of text. Gymnasium's own space ``Text`` is for a single string."""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate
from numpy.typing import NDArray

MAX_SAMPLED_CHARACTERS: Final = 100
"""Length limit of a sampled string."""


class TextArray(spaces.Space[NDArray[np.str_]]):
    """An array of strings, each of any length.

    >>> TextArray((2,)).contains(np.array(["a cow", ""]))
    True

    :param shape: shape of the array.
    """

    def __init__(self, shape: Sequence[int], seed: int | np.random.Generator | None = None) -> None:
        super().__init__(tuple(int(n) for n in shape), np.str_, seed)

    @property
    def is_np_flattenable(self) -> bool:
        return False

    def sample(self, mask: None = None, probability: None = None) -> NDArray[np.str_]:
        """Return an array of random strings of lower-case letters. The lengths of the random strings are uniformly
        distributed from 0 to 100.

        :raises ValueError: ``mask`` or ``probability`` is given.
        """
        if mask is not None or probability is not None:
            raise ValueError("TextArray.sample takes neither mask nor probability")
        letters = np.array(list(string.ascii_lowercase))
        lengths = self.np_random.integers(0, MAX_SAMPLED_CHARACTERS + 1, math.prod(self._shape or ()))
        words = ["".join(self.np_random.choice(letters, n)) for n in lengths]
        return np.array(words, np.str_).reshape(self._shape or ())

    def contains(self, x: object) -> bool:
        return isinstance(x, np.ndarray) and x.shape == self._shape and x.dtype.kind == "U"

    def to_jsonable(self, sample_n: Iterable[NDArray[np.str_]]) -> list[Any]:
        return [sample.tolist() for sample in sample_n]

    def from_jsonable(self, sample_n: list[Any]) -> list[NDArray[np.str_]]:
        return [np.array(sample, np.str_).reshape(self._shape or ()) for sample in sample_n]

    def __repr__(self) -> str:
        return f"TextArray{self._shape}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TextArray) and self._shape == other._shape

    def __hash__(self) -> int:
        return hash(("TextArray", self._shape))


@batch_space.register(TextArray)
def _batch(space: TextArray, n: int = 1) -> TextArray:
    return TextArray((n, *(space.shape or ())))


@iterate.register(TextArray)
def _rows(space: TextArray, items: NDArray[np.str_]) -> Iterator[NDArray[np.str_]]:  # type: ignore[misc]
    return iter(items)


@concatenate.register(TextArray)
def _joined(space: TextArray, items: Iterable[NDArray[np.str_]], out: NDArray[np.str_]) -> NDArray[np.str_]:
    """Return a new array of strings, because the strings may be longer than those of ``out``."""
    return np.stack(list(items))


@create_empty_array.register(TextArray)
def _no_text(space: TextArray, n: int = 1, fn: Callable[..., Any] = np.zeros) -> NDArray[np.str_]:
    return np.full((n, *(space.shape or ())), "")
