"""Time limits and pauses between tries."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_LONGEST = 60.0
"""Seconds: the longest pause of our own, and the longest a provider may ask for."""


def pause(tries: int, asked: float | None, chance: float) -> float:
    """Seconds to wait after the ``tries``-th failed try (1 is the first): exponential, with jitter.

    ``min(60, 2^(tries - 1)) * (0.5 + chance / 2)``; where the provider asked for a time (``Retry-After``), at least
    that, up to a minute.

    :param chance: uniform in [0, 1).
    """
    own = min(_LONGEST, 2.0 ** (tries - 1)) * (0.5 + chance / 2)
    return max(own, min(_LONGEST, asked or 0.0))


def within(seconds: float, work: Callable[[], T]) -> T:
    """``work()``, given up after ``seconds``, whatever it does: a server that sends a byte now and then outlives the
    timeouts of HTTP clients, which are of each read.

    The abandoned call goes on in a daemon thread until its own timeouts end it.

    :raises TimeoutError: it took longer.
    """
    results: list[T] = []
    faults: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as fault:
            faults.append(fault)

    thread = threading.Thread(target=run, name="llm-call", daemon=True)
    thread.start()
    thread.join(seconds)
    if results:
        return results[0]
    if faults:
        raise faults[0]
    raise TimeoutError(f"not done within {seconds:g} s")
