"""A process that holds its arguments until its pipe closes. It imports little, because it is spawned."""

from __future__ import annotations

from contextlib import suppress
from multiprocessing.connection import Connection

from rlgpt.rl.lock import Shared


def hold(pipe: Connection, held: Shared) -> None:
    with suppress(EOFError):
        pipe.send(held.descriptor)
        pipe.recv()
