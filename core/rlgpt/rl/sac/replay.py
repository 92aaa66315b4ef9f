"""The replay memories, which store the newest decisions of a training."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from rlgpt.rl.memory import rows_within

Rows = dict[str, torch.Tensor]

MOST_BYTES = 400 << 20
"""Maximal size of a replay memory. A checkpoint contains up to four replay memories, and rlgpt reads no checkpoint of
more than 2 GiB.
"""


class Replay:
    """A memory of rows of tensors. If the replay memory is full, the newest rows replace the oldest rows.

    :param most_bytes: maximal size in bytes. The first row reduces :attr:`capacity` so that all rows fit.
    :ivar capacity: maximal number of rows.
    """

    def __init__(self, capacity: int, most_bytes: int = MOST_BYTES) -> None:
        self.capacity, self._most_bytes = capacity, most_bytes
        self._rows: Rows = {}
        self._size = self._next = 0

    def __len__(self) -> int:
        return self._size

    def add(self, rows: Rows) -> None:
        """Store B rows.

        :param rows: for each name of a tensor, the new rows as a tensor ``[B, ...]``. If the number B of new rows is
            larger than :attr:`capacity`, the first rows are not stored.
        """
        if not self._rows:
            self.capacity = min(self.capacity, rows_within(self._most_bytes, rows))
        rows = {key: values[-self.capacity :] for key, values in rows.items()}
        count = len(next(iter(rows.values())))
        self._reserve(rows, min(self.capacity, self._size + count))
        at = (self._next + torch.arange(count)) % self.capacity
        for key, values in rows.items():
            self._rows[key][at] = values
        self._next = int(self._next + count) % self.capacity
        self._size = min(self.capacity, self._size + count)

    def sample(self, count: int, generator: torch.Generator) -> Rows:
        """Draw ``count`` rows of the replay memory uniformly with replacement."""
        at = torch.randint(self._size, (count,), generator=generator)
        return {key: values[at] for key, values in self._rows.items()}

    def mean(self, name: str) -> float:
        """The mean of the tensor ``name`` over all stored rows. At least one row must be stored."""
        return float(self._rows[name][: self._size].mean())

    def tensors(self) -> Rows:
        """All stored rows in the order of their age, the oldest first, for a checkpoint."""
        at = (self._next - self._size + torch.arange(self._size)) % self.capacity
        return {key: values[at] for key, values in self._rows.items()}

    def restore(self, rows: Mapping[str, torch.Tensor]) -> None:
        """Restore the result of :meth:`tensors`.

        :raises ValueError: the stored tensors have different lengths, or a number in them is not finite.
        """
        if len({len(values) for values in rows.values()}) > 1:
            raise ValueError("the tensors of the replay memory have different lengths")
        if not all(bool(torch.isfinite(values).all()) for values in rows.values()):
            raise ValueError("the replay memory contains NaN or infinity")
        self._rows, self._size, self._next = {}, 0, 0
        if rows and len(next(iter(rows.values()))):
            self.add(dict(rows))

    def _reserve(self, like: Rows, size: int) -> None:
        """Enlarge the tensors of the replay memory to at least ``size`` rows. Each time, the size at least doubles, up
        to the capacity. A short training therefore needs little memory, and the tensors are seldom copied.
        """
        held = len(next(iter(self._rows.values()))) if self._rows else 0
        if size <= held:
            return
        room = min(self.capacity, max(size, 2 * held, 1024))
        for key, values in like.items():
            grown = values.new_zeros((room, *values.shape[1:]))
            if held:
                grown[:held] = self._rows[key]
            self._rows[key] = grown


class Experience:
    """The data from which one policy learns, in two replay memories.

    :ivar own: decisions of the policy itself.
    :ivar others: primitive steps that code chose, in the form of decisions of the policy.
    """

    def __init__(self, capacity: int) -> None:
        self.own, self.others = Replay(capacity), Replay(capacity)

    def __len__(self) -> int:
        return len(self.own) + len(self.others)

    def sample(self, count: int, generator: torch.Generator) -> Rows:
        """Draw ``count`` rows. At least half of them are decisions of the policy itself (Ball et al., 2023), if there
        are any: a policy learns more from its own actions than from those of bad code.
        """
        own = max(count // 2, count * len(self.own) // len(self)) if len(self.own) else 0
        own = own if len(self.others) else count
        parts = [(self.own, own), (self.others, count - own)]
        drawn = [memory.sample(size, generator) for memory, size in parts if size]
        return {key: torch.cat([rows[key] for rows in drawn]) for key in drawn[0]}

    def mean(self, name: str) -> float:
        """The mean of the tensor ``name`` over the decisions of the policy itself, or over the others if it has none.
        At least one row must be stored.
        """
        return (self.own if len(self.own) else self.others).mean(name)

    def tensors(self) -> Rows:
        """The rows of both replay memories, for a checkpoint."""
        named = {_OWN: self.own.tensors(), _OTHERS: self.others.tensors()}
        return {f"{prefix}{key}": values for prefix, rows in named.items() for key, values in rows.items()}

    def restore(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Restore the result of :meth:`tensors`. Tensors with other names are ignored.

        :raises ValueError: as :meth:`Replay.restore`.
        """
        self.own.restore(part(tensors, _OWN))
        self.others.restore(part(tensors, _OTHERS))


_OWN, _OTHERS = "row ", "primitive row "


def part(tensors: Mapping[str, torch.Tensor], prefix: str) -> Rows:
    """The tensors whose names begin with ``prefix``, by the rest of their names."""
    return {key.removeprefix(prefix): values for key, values in tensors.items() if key.startswith(prefix)}
