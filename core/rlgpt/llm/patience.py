"""Pauses between requests, and a time limit for each request."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_MAX_PAUSE_S = 60.0
"""Longest pause in seconds, even if the provider asks for a longer one."""


def pause(tries: int, asked: float | None, chance: float) -> float:
    """Seconds to wait after a failed request: exponential backoff with jitter.

    ``min(60, 2^(tries - 1)) * (0.5 + chance / 2)``, and at least the time that the provider asked for, up to 60 s.

    :param tries: number of failed requests, from 1.
    :param asked: the provider's ``Retry-After`` in seconds, or None.
    :param chance: uniform in [0, 1).
    """
    own = min(_MAX_PAUSE_S, 2.0 ** (tries - 1)) * (0.5 + chance / 2)
    return max(own, min(_MAX_PAUSE_S, asked or 0.0))


def within(seconds: float, work: Callable[[], T]) -> T:
    """The result of ``work()``, which may take at most ``seconds``.

    The timeouts of HTTP clients apply to each read, so they never end a request to a server that sends a byte now and
    then. After the time limit, the call continues in a daemon thread until a timeout of its own ends it.

    :raises TimeoutError: ``work`` took longer.
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
