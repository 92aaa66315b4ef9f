"""The history of a guest, which is the list of its requests and their fuel. Other processes import this module."""

from __future__ import annotations

import os
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier

from rlgpt.domain import CodedAction, Verdict
from rlgpt.sandbox import Ask, Guest, Library, Sandbox, SandboxLimits

SOURCE = """
def run():
    for name in {"b", "a", "c"}:
        outcome = yield move_to(x=random.uniform(-1, 1), tries=ord(name) % 20)
        yield move_to(x=random.Random().random(), y=outcome["y"] * random.random())
"""
LONG = f"""{SOURCE}
    table = {{}}
    while True:
        table[random.random()] = object()
"""
"""The source of an action that runs until it has no fuel."""
LIMITS = SandboxLimits(turn_fuel=200_000_000, wall_seconds=60)


def history(guest: Guest) -> list[tuple[object, int]]:
    """Return the list of all turns, each with its fuel. The last turn can be a verdict."""
    seen: list[tuple[object, int]] = []
    turn = guest.start("a", {})
    while isinstance(turn, Ask):
        seen.append((turn.requests, guest.fuel_used))
        turn = guest.send({"y": len(seen) / 4})
    return [*seen, (turn, guest.fuel_used)] if isinstance(turn, Verdict) else seen


def elsewhere(library: Library, both: Barrier, pipe: Connection) -> None:
    """Send the process ID and the history of :data:`LONG` through ``pipe``. Start when both processes wait at the
    barrier.
    """
    action = CodedAction(name="a", doc="", source=LONG)
    guest = Sandbox(LIMITS).open(library, [action], seed=7)
    guest.load("a")
    both.wait(timeout=60)
    pipe.send((os.getpid(), history(guest)))
