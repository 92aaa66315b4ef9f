"""The memory of whole episodes for self-imitation: its content, its order, and its bounded size."""

from __future__ import annotations

from collections import deque

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from rlgpt.rl.memory import Memory
from rlgpt.rl.network import Batch

Episode = tuple[Batch, torch.Tensor]


def episode(length: int, first: int) -> Episode:
    """Return an episode in which every tensor contains the number of its decision."""
    number = torch.arange(first, first + length)
    entries = {
        "obs": number[:, None].float().expand(-1, 2).contiguous(),
        "image_eye": (number % 256).to(torch.uint8)[:, None, None, None].expand(-1, 3, 4, 4).contiguous(),
    }
    return entries, -number[:, None].float()


def expected(lengths: list[int], capacity: int) -> list[range]:
    """Return the newest episodes that fit into the memory together. Of a single episode that is too long, the end is
    kept.
    """
    kept: deque[range] = deque()
    at = 0
    for length in lengths:
        kept.append(range(max(at, at + length - capacity), at + length))
        at += length
        while sum(map(len, kept)) > capacity:
            kept.popleft()
    return list(kept)


@given(lengths=st.lists(st.integers(1, 9), max_size=12), capacity=st.integers(1, 20), again=st.integers(1, 20))
@settings(max_examples=150)
def test_imitation_memory_keeps_the_newest_whole_episodes(lengths: list[int], capacity: int, again: int) -> None:
    memory, at = Memory(capacity), 0
    for length in lengths:
        memory.add(*episode(length, at))
        at += length
        assert len(memory) <= capacity
    for held, size in ((memory, capacity), (restored(memory, again), min(capacity, again))):
        kept = expected([len(r) for r in expected(lengths, capacity)], size)
        shift = at - (kept[-1].stop if kept else at)
        numbers = [n + shift for r in kept for n in r]
        assert list(held.lengths) == [len(r) for r in kept]
        assert len(held) == len(numbers)
        if numbers:
            tensors = held.tensors()
            assert (-tensors["actions"][:, 0]).tolist() == numbers
            assert tensors["entry obs"].tolist() == [[n, n] for n in numbers]
            assert (tensors["entry image_eye"].flatten(1).float().mean(1)).tolist() == [n % 256 for n in numbers]


def test_imitation_memory_keeps_the_newest_rows_that_fit_into_its_bytes() -> None:
    row = 8 + 48 + 4  # bytes of obs, of the image, and of the action
    memory = Memory(1000, 5 * row + 1)
    for length, first in ((3, 0), (2, 3), (7, 5)):
        memory.add(*episode(length, first))
        assert sum(v.nbytes for key, v in memory.tensors().items() if key != "lengths") <= 5 * row
    assert (-memory.tensors()["actions"][:, 0]).tolist() == [7, 8, 9, 10, 11]
    assert memory.capacity == 5


def restored(memory: Memory, capacity: int) -> Memory:
    fresh = Memory(capacity)
    fresh.restore(memory.tensors())
    return fresh


def test_restored_imitation_memory_samples_the_same_decisions_as_the_saved_memory() -> None:
    memory = Memory(10)
    for length, first in ((6, 0), (4, 6), (3, 10)):
        memory.add(*episode(length, first))
    entries, actions = memory.sample(7000, torch.Generator().manual_seed(0))
    shares = torch.bincount((-actions[:, 0]).long(), minlength=13) / 7000
    assert shares[:6].sum() == 0
    assert float((shares[6:] - 1 / 7).abs().max()) < 0.02
    assert torch.equal(entries["obs"][:, :1], -actions)
    assert entries["image_eye"].dtype == torch.uint8
    entries_again, actions_again = restored(memory, 10).sample(7000, torch.Generator().manual_seed(0))
    assert torch.equal(actions_again, actions)
    assert all(torch.equal(entries_again[key], entries[key]) for key in entries)


def test_imitation_memory_refuses_tensors_of_different_lengths() -> None:
    memory = Memory(10)
    memory.add(*episode(4, 0))
    tensors = memory.tensors()
    with pytest.raises(ValueError, match="4 decisions"):
        Memory(10).restore({**tensors, "actions": tensors["actions"][:2]})
