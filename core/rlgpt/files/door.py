"""Opens files in an untrusted folder. The functions of this module follow no link out of the folder, and read no device
or pipe.

Each part of a path is opened relative to the descriptor of its parent folder, and must not be a link. On systems
without descriptors of folders (Windows), the parts of the path are checked one after the other. Every failed check
raises an ``OSError``.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

CLOEXEC = getattr(os, "O_CLOEXEC", 0)
PLAIN = CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Flags for every call of ``open``. With these flags a link is an error, and opening a pipe does not wait for a
writer.
"""
_DIRECTORY = getattr(os, "O_DIRECTORY", 0)


@contextmanager
def parent(root: Path, name: str, *, make: bool = False) -> Iterator[tuple[int | None, str]]:
    """A context in which the folder that contains ``name`` is open. Its value is the descriptor of this folder and the
    last part of the name. If the system has no descriptors of folders, the value is None and the whole path.

    :param make: whether missing folders above the file ``name`` are created.
    :raises OSError: a part of the path is a link or not a folder, or the name points outside ``root``.
    """
    parts = name.split("/")
    if "\0" in name or any(part in ("", "..") for part in parts):
        raise OSError(errno.EINVAL, "this is not the name of a file in that folder")
    if make:
        root.mkdir(parents=True, exist_ok=True)
    if os.open not in os.supports_dir_fd:
        yield None, _checked_path(root, parts, make)
        return
    at = os.open(root, os.O_RDONLY | CLOEXEC | _DIRECTORY)
    try:
        for part in parts[:-1]:
            if make:
                _make(part, at)
            below = os.open(part, os.O_RDONLY | PLAIN | _DIRECTORY, dir_fd=at)
            os.close(at)
            at = below
        yield at, parts[-1]
    finally:
        os.close(at)


def open_file(name: str, flags: int, at: int | None, *, single: bool = False) -> int:
    """Open a regular file and return its descriptor. A missing file is an error unless ``flags`` contain the flag that
    creates a file.

    :param at: the descriptor of the folder that contains the file; None if ``name`` is the whole path (see
        :func:`parent`).
    :param single: whether the file must not have a second name (hard link), because the caller changes the file in
        place.
    :raises OSError: the file ``name`` is a link, a folder, a device or a pipe, is missing, or has a forbidden second
        name.
    """
    with suppress(
        FileNotFoundError
    ):  # The type is checked before the file is opened, because opening a device can have effects.
        check_file(os.stat(name, dir_fd=at, follow_symlinks=False), single=single)
    descriptor = os.open(name, flags | PLAIN, 0o644, dir_fd=at)
    try:
        check_file(os.fstat(descriptor), single=single)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def check_file(status: os.stat_result, *, single: bool = False) -> None:
    """Check the status of a file.

    :raises OSError: the file is not a regular file, or ``single`` is True and the file has a second name (hard link).
    """
    if stat.S_ISLNK(status.st_mode):
        raise OSError(errno.ELOOP, "it is a link; replace it by a copy of the content")
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file; delete it")
    if single and status.st_nlink > 1:
        raise OSError(errno.EMLINK, "it has a second name (hard link), which would change too; replace it by a copy")


def _checked_path(root: Path, parts: list[str], make: bool) -> str:
    where = root
    for part in parts[:-1]:
        where = where / part
        if make:
            _make(str(where), None)
        if not stat.S_ISDIR(where.lstat().st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    return str(where / parts[-1])


def _make(name: str, at: int | None) -> None:
    with suppress(FileExistsError):
        os.mkdir(name, 0o755, dir_fd=at)
