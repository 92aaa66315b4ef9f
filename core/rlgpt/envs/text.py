"""A gymnasium space for arrays of text. Gymnasium itself has a space only for single strings, not for arrays of
strings.
"""

from __future__ import annotations

import math
import string
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray


class TextArray(spaces.Space[NDArray[np.str_]]):
    """A space of arrays of strings. The shape of the array is fixed; the strings in the array can have any length.

    >>> TextArray((2,)).contains(np.array(["a cow", ""]))
    True
    """

    MAX_SAMPLED_CHARACTERS = 100
    """Maximal length of a sampled string."""

    def __init__(self, shape: Sequence[int], seed: int | np.random.Generator | None = None) -> None:
        super().__init__(tuple(int(n) for n in shape), np.str_, seed)

    @property
    def is_np_flattenable(self) -> bool:
        return False

    def sample(self, mask: None = None, probability: None = None) -> NDArray[np.str_]:
        """Draw random strings of lower case letters, with uniformly distributed lengths."""
        if mask is not None or probability is not None:
            raise ValueError("TextArray.sample accepts neither mask nor probability; leave both out")
        letters = np.array(list(string.ascii_lowercase))
        count = math.prod(self._shape or ())
        lengths = self.np_random.integers(0, self.MAX_SAMPLED_CHARACTERS + 1, count)
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
