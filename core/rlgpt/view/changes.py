"""Reports changes of runs to the live page, as server-sent events."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from rlgpt.view.catalogue import Catalogue

SECONDS = 1.0
"""Time between two checks of the files, in seconds."""
_ENTRIES = 5_000
_DEPTH = 5


async def changes(
    catalogue: Catalogue, opened: Path | None, ends: Callable[[], bool] = lambda: False
) -> AsyncIterator[str]:
    """Yield an event for each change. An event contains the ids of the runs whose records changed, and whether a file
    of the opened run changed.

    :param opened: the folder of the run that the live page shows.
    :param ends: a function that returns whether the server ends; no event follows after the end.
    """
    before = await asyncio.to_thread(catalogue.stamps)
    files = await asyncio.to_thread(_signature, opened)
    yield ": connected\n\n"
    while not ends():
        await asyncio.sleep(SECONDS)
        now = await asyncio.to_thread(catalogue.stamps)
        here = await asyncio.to_thread(_signature, opened)
        changed = [key for key in {*now, *before} if now.get(key) != before.get(key)]
        if changed or here != files:
            yield f"data: {json.dumps({'runs': changed, 'opened': here != files})}\n\n"
        else:
            yield ": nothing\n\n"  # A regular message is the only way to notice a closed connection.
        before, files = now, here


def _signature(folder: Path | None) -> int:
    """A number that changes with the names, sizes and modification times of the files in the folder. Symbolic links are
    not followed.
    """
    if folder is None:
        return 0
    found: list[tuple[str, int, int]] = []
    level = [folder]
    for _ in range(_DEPTH):
        below: list[Path] = []
        for above in level:
            try:
                with os.scandir(above) as entries:
                    for entry in entries:
                        if entry.is_dir(follow_symlinks=False):
                            below.append(Path(entry.path))
                        status = entry.stat(follow_symlinks=False)
                        found.append((entry.path, status.st_mtime_ns, status.st_size))
            except OSError:
                continue
            if len(found) > _ENTRIES:
                return hash(tuple(found))
        level = below
    return hash(tuple(found))
