"""A bounded memory of decisions for self-imitation. The memory keeps whole episodes, and the newest episodes replace
the oldest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

import torch

from rlgpt.rl.network import Batch

MOST_BYTES = 1 << 30
"""Maximal size of a memory. A checkpoint contains the memory, and rlgpt reads no checkpoint of more than 2 GiB."""

_ACTIONS, _LENGTHS = "actions", "lengths"
_ENTRY = "entry "


def rows_within(most_bytes: int, rows: Mapping[str, torch.Tensor]) -> int:
    """How many rows like those of ``rows`` fit into ``most_bytes`` bytes; at least 1."""
    row = sum(values[:1].nbytes for values in rows.values())
    return max(1, most_bytes // max(1, row))


class Memory:
    """Stores observations and actions, one row for each decision, with their original types (an image stays uint8).

    When the first episode is stored, all ``capacity`` rows are allocated; the memory never grows. A row of the memory
    takes four bytes for each number and one byte for each byte of an image. An image of 64 x 64 x 3 takes 12 KiB.

    :param most_bytes: maximal size in bytes. The first episode reduces :attr:`capacity` so that all rows fit.
    :ivar capacity: maximal number of decisions. Of an episode with more than ``capacity`` decisions, only the newest
        decisions are kept.
    :ivar lengths: number of decisions of each kept episode, the oldest episode first.
    """

    def __init__(self, capacity: int, most_bytes: int = MOST_BYTES) -> None:
        self.capacity, self._most_bytes = capacity, most_bytes
        self.lengths: deque[int] = deque()
        self._rows: Batch = {}
        self._start = self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, observations: Batch, actions: torch.Tensor) -> None:
        """Store an episode. If the memory has no room for the new episode, the oldest episodes are dropped.

        :param observations: entries ``[L, ...]``.
        :param actions: flat actions, ``[L, action_size]``.
        """
        rows = {_ENTRY + key: values for key, values in observations.items()} | {_ACTIONS: actions}
        if not self._rows:
            self.capacity = min(self.capacity, rows_within(self._most_bytes, rows))
        rows = {key: values[-self.capacity :] for key, values in rows.items()}
        length = len(rows[_ACTIONS])
        while self._size + length > self.capacity:
            oldest = self.lengths.popleft()
            self._start, self._size = self._start + oldest, self._size - oldest
        if not self._rows:
            self._rows = {key: values.new_zeros((self.capacity, *values.shape[1:])) for key, values in rows.items()}
        at = self._places(torch.arange(self._size, self._size + length))
        for key, values in rows.items():
            self._rows[key][at] = values
        self.lengths.append(length)
        self._size += length

    def sample(self, count: int, generator: torch.Generator | None) -> tuple[Batch, torch.Tensor]:
        """Observations and actions of ``count`` decisions, drawn uniformly with replacement from the memory."""
        drawn = self._take(torch.randint(self._size, (count,), generator=generator))
        return {key.removeprefix(_ENTRY): v for key, v in drawn.items() if key != _ACTIONS}, drawn[_ACTIONS]

    def tensors(self) -> dict[str, torch.Tensor]:
        """The whole content of the memory, for a checkpoint."""
        kept = self._take(torch.arange(self._size))
        return {**kept, _LENGTHS: torch.tensor(list(self.lengths), dtype=torch.int64)}

    def restore(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Restore the result of :meth:`tensors`. If the capacity of the memory is smaller now, only the newest episodes
        are restored.

        :raises ValueError: the tensors differ in length.
        """
        self._rows, self._start, self._size = {}, 0, 0
        self.lengths.clear()
        lengths = [int(n) for n in tensors[_LENGTHS]]
        parts = {key: values for key, values in tensors.items() if key != _LENGTHS}
        if any(len(values) != sum(lengths) for values in parts.values()):
            rows = [len(v) for v in parts.values()]
            raise ValueError(f"the episodes have {sum(lengths)} decisions, but the tensors have {rows} rows")
        split = {key: torch.split(values, lengths) for key, values in parts.items()}
        for i in range(len(lengths)):
            episode = {key: values[i] for key, values in split.items()}
            self.add({k.removeprefix(_ENTRY): v for k, v in episode.items() if k != _ACTIONS}, episode[_ACTIONS])

    def _take(self, rows: torch.Tensor) -> dict[str, torch.Tensor]:
        """The rows of the memory with the numbers ``rows``; number 0 is the oldest row."""
        at = self._places(rows)
        return {key: values[at] for key, values in self._rows.items()}

    def _places(self, rows: torch.Tensor) -> torch.Tensor:
        return (self._start + rows) % self.capacity
