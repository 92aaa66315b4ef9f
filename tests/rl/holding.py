"""A process that keeps its arguments until its pipe closes. This module imports little, so that the process starts
fast.
"""

from __future__ import annotations

from contextlib import suppress
from multiprocessing.connection import Connection

from rlgpt.rl.lock import Shared


def hold(pipe: Connection, held: Shared) -> None:
    with suppress(EOFError):
        pipe.send(held.descriptor)
        pipe.recv()
