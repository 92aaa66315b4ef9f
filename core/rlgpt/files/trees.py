"""Walks through trees of folders and deletes them without recursion. An untrusted folder may be nested so deeply that
``os.walk`` and ``shutil.rmtree`` exceed Python's recursion limit.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def walk(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Yield all files, folders and links below ``folder``, a folder before its content. Links are not followed. A
    missing folder has no content.

    :raises OSError: ``folder``, or a folder below it, cannot be listed.
    """
    waiting = [os.fspath(folder)]
    while waiting:
        entries: list[os.DirEntry[str]] = []
        with suppress(FileNotFoundError), os.scandir(waiting.pop()) as found:
            entries = list(found)
        for entry in entries:
            yield entry
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)


def delete(folder: Path) -> None:
    """Delete a folder with its content. The targets of links are not deleted.

    :raises OSError: something cannot be deleted.
    """
    folders = [os.fspath(folder)]
    for entry in walk(folder):
        if entry.is_dir(follow_symlinks=False):
            folders.append(entry.path)
        else:
            os.unlink(entry.path)
    for path in reversed(folders):
        os.rmdir(path)
