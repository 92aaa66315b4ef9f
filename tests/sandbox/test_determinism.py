"""The same seed, sources and replies give the same requests and the same fuel, whatever ran before."""

from __future__ import annotations

from collections.abc import Callable

from rlgpt.sandbox import Ask, Guest

SOURCE = """
def run():
    for name in {"b", "a", "c"}:
        outcome = yield move_to(x=random.uniform(-1, 1), tries=ord(name) % 20)
        yield move_to(x=random.Random().random(), y=outcome["y"] * random.random())
"""


def _history(guest: Guest) -> list[tuple[object, int]]:
    seen: list[tuple[object, int]] = []
    turn = guest.start("a", {})
    while isinstance(turn, Ask):
        seen.append((turn.requests, guest.fuel_used))
        turn = guest.send({"y": 0.5})
    return seen


def test_same_seed_same_requests_same_fuel(open_guest: Callable[..., Guest]) -> None:
    first = _history(open_guest(SOURCE, seed=7))
    assert len(first) == 6
    open_guest("def run():\n    while True: pass\n    yield").start("a", {})
    assert _history(open_guest(SOURCE, seed=7)) == first


def test_other_seeds_differ(open_guest: Callable[..., Guest]) -> None:
    histories = [_history(open_guest(SOURCE, seed=seed)) for seed in (0, 1, -1, 2**70)]
    assert all(a != b for i, a in enumerate(histories) for b in histories[:i])
