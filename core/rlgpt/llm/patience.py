"""Computes the pauses between the tries of a request to a language model, and applies a time limit to each try."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_MAX_PAUSE_S = 60.0
"""Maximal pause in seconds, even if the provider asks for a longer pause."""


def pause(tries: int, asked: float | None, chance: float) -> float:
    """The number of seconds to wait after a failed try (exponential backoff with jitter).

    The pause in seconds is ``min(60, 2^(tries - 1)) * (0.5 + chance / 2)``, and at least the time that the provider
    asked for, up to 60 s.

    :param tries: number of failed tries so far, from 1.
    :param asked: the provider's ``Retry-After`` in seconds; None if the provider sent no such header.
    :param chance: a random number, uniform in [0, 1).
    """
    own = min(_MAX_PAUSE_S, 2.0 ** (tries - 1)) * (0.5 + chance / 2)
    return max(own, min(_MAX_PAUSE_S, asked or 0.0))


def within(seconds: float, work: Callable[[], T]) -> T:
    """Call ``work()`` and return its result. The call may take at most ``seconds``.

    The timeout of an HTTP client limits only each read, so a server that sends single bytes with pauses can delay the
    end of a request without limit. After the limit of ``seconds``, the call continues in a daemon thread until the HTTP
    client's timeout ends it.

    :raises TimeoutError: the call of ``work`` took longer.
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
