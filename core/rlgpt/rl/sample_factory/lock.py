"""One training at a time in a folder."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rlgpt.errors import TrainerError

LOCK = "lock"


@contextmanager
def exclusive(folder: Path, *, patience: float = 15.0) -> Iterator[int]:
    """Hold the folder's lock; yields a descriptor that a child may inherit, and then holds the lock as well.

    A training whose parent was killed takes seconds to end, so the lock is waited for.

    :param patience: seconds to wait.
    :raises TrainerError: another training holds it for longer.
    """
    import fcntl

    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        deadline = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise TrainerError(
                        f"another training runs in {folder}. Wait for its end, or train in another folder."
                    ) from None
                time.sleep(0.1)
        yield descriptor
    finally:
        os.close(descriptor)
