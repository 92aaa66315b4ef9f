"""What a guest asked for, and how much fuel it took; other processes import it."""

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
"""In the end only its budget of fuel stops it, which takes a while."""
BUDGETS = SandboxLimits(turn_fuel=200_000_000, wall_seconds=60)


def history(guest: Guest) -> list[tuple[object, int]]:
    """Every turn and its fuel, with the verdict where one fell."""
    seen: list[tuple[object, int]] = []
    turn = guest.start("a", {})
    while isinstance(turn, Ask):
        seen.append((turn.requests, guest.fuel_used))
        turn = guest.send({"y": len(seen) / 4})
    return [*seen, (turn, guest.fuel_used)] if isinstance(turn, Verdict) else seen


def elsewhere(library: Library, both: Barrier, pipe: Connection) -> None:
    """Tells ``pipe`` the number of this process and the history of :data:`LONG`, played when ``both`` are ready."""
    action = CodedAction(name="a", doc="", source=LONG)
    guest = Sandbox(BUDGETS).open(library, [action], seed=7)
    guest.load("a")
    both.wait(timeout=60)
    pipe.send((os.getpid(), history(guest)))
