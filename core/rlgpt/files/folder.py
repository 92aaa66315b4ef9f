"""Safe access to a folder that may come from an untrusted source. rlgpt accesses run folders and bundles only through
the class ``Folder``.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from rlgpt.errors import RlgptError
from rlgpt.files.door import check_file, open_file, parent
from rlgpt.files.trees import walk


def is_utf8(name: str) -> bool:
    """Whether the name of a file is valid UTF-8. Any other name cannot be written into a record."""
    return name.isascii() or not any("\ud800" <= c <= "\udfff" for c in name)


class Folder:
    """Safe operations in a folder with untrusted content.

    Names are relative paths with ``/``. The user chose the folder, so its own path may contain links; the content of
    the folder must not contain links. Only regular files are opened. Every failed operation raises an error of class
    ``error``, whose message contains the path of the file and what to do.
    """

    def __init__(self, path: Path, error: type[RlgptError]) -> None:
        self.path, self.error = path, error

    def exists(self, name: str) -> bool:
        """Whether the folder contains a regular file with this name.

        :raises RlgptError: the name is that of a link, a folder or a device.
        """
        with self._faults(name, "read"):
            try:
                with parent(self.path, name) as (at, last):
                    check_file(os.stat(last, dir_fd=at, follow_symlinks=False))
            except FileNotFoundError:
                return False
        return True

    def open(self, name: str, *, limit: int) -> BinaryIO:
        """Open a regular file of at most ``limit`` bytes for reading.

        :raises RlgptError: the file is missing, not a regular file, too large, or cannot be read.
        """
        with self._faults(name, "read"), parent(self.path, name) as (at, last):
            file = os.fdopen(open_file(last, os.O_RDONLY, at), "rb")
        if (size := os.fstat(file.fileno()).st_size) > limit:
            file.close()
            raise self._too_large(name, size, limit)
        return file

    def read(self, name: str, *, limit: int) -> bytes:
        """Read a whole file as bytes; :meth:`open` documents the arguments and the errors."""
        with self.open(name, limit=limit) as file, self._faults(name, "read"):
            content = file.read(limit + 1)
        if len(content) > limit:
            raise self._too_large(name, len(content), limit)
        return content

    def read_text(self, name: str, *, limit: int) -> str:
        """Read a whole file as UTF-8 text; :meth:`open` documents the arguments and further errors.

        :raises RlgptError: the file is not UTF-8.
        """
        try:
            return self.read(name, limit=limit).decode()
        except UnicodeDecodeError as fault:
            raise self.error(f"{self.path / name} is not UTF-8 text ({fault}).") from fault

    def open_in_place(self, name: str, *, append: bool = False) -> BinaryIO:
        """Open a file so that the caller can read it and change it in place. If the file is missing, the method creates
        the file and its parent folders.

        :param append: whether every write goes to the end of the file.
        :raises RlgptError: the file is not a regular file, or it has a second name (hard link), whose content would
            change too.
        """
        flags = os.O_RDWR | os.O_CREAT | (os.O_APPEND if append else 0)
        with self._faults(name, "written"), parent(self.path, name, make=True) as (at, last):
            return os.fdopen(open_file(last, flags, at, single=True), "r+b")

    def write(self, name: str, content: str | bytes) -> None:
        """Write a file atomically. After a crash, and for any reader, the file has either the old content or the new
        content. Parent folders are created.

        :raises RlgptError: the file cannot be written.
        """
        data = content.encode() if isinstance(content, str) else content
        with self._faults(name, "written"), parent(self.path, name, make=True) as (at, last):
            above, plain = os.path.split(last)
            draft = os.path.join(above, f".{plain[:200]}.{secrets.token_hex(4)}")
            descriptor = open_file(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, at)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(draft, last, src_dir_fd=at, dst_dir_fd=at)
            except BaseException:
                os.unlink(draft, dir_fd=at)
                raise

    def remove(self, name: str) -> None:
        """Delete a file. If the name is a link, the method deletes the link and not its target. If no file has this
        name, the method does nothing.
        """
        with self._faults(name, "deleted"), suppress(FileNotFoundError), parent(self.path, name) as (at, last):
            os.unlink(last, dir_fd=at)

    def names(self, name: str) -> list[str]:
        """The sorted names of the files and folders in the subfolder ``name``; empty if the subfolder is missing.

        :raises RlgptError: the subfolder ``name`` is a link or not a folder, or contains a name that is not UTF-8.
        """
        with self._faults(name, "read"):
            try:
                with parent(self.path, f"{name}/.") as (at, last):
                    found = sorted(os.listdir(last if at is None else at))
            except FileNotFoundError:
                return []
        if wrong := next((n for n in found if not is_utf8(n)), None):
            raise self.error(f"{self.path / name} contains the name {wrong!a}, which is not UTF-8. Rename it.")
        return found

    def adopt(self, source: Path, name: str) -> bool:
        """Move the folder ``source`` to the path ``name`` in this folder, in one atomic step. Parent folders are
        created.

        :param source: a folder on the same file system, which must not be empty.
        :returns: whether the folder was moved. False means that a file or folder with this name already exists, which
            the method does not change.
        :raises RlgptError: a part of the path ``name`` is a link, or the folder cannot be moved.
        """
        with self._faults(name, "written"), parent(self.path, name, make=True) as (at, last):
            with suppress(FileNotFoundError):
                os.stat(last, dir_fd=at, follow_symlinks=False)
                return False
            try:
                os.rename(source, last, dst_dir_fd=at)
            except OSError as fault:
                if fault.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                    return False
                raise
        return True

    def take(self, name: str, target: Path) -> None:
        """Move a file, a folder or a link out of this folder to ``target``, on the same file system. The target of a
        link does not change.

        :raises RlgptError: the name does not exist, a folder above it is a link, or the file, folder or link cannot be
            moved.
        """
        with self._faults(name, "moved"), parent(self.path, name) as (at, last):
            os.rename(last, target, src_dir_fd=at)

    def subfolder(self, name: str) -> Path:
        """The path of a subfolder, which may be missing, for a Python library that opens files by itself.

        :raises RlgptError: the path or the content of the subfolder contains a link, or something that is neither a
            regular file nor a folder.
        """
        with self._faults(name, "used"):
            with suppress(FileNotFoundError), parent(self.path, f"{name}/."):
                pass
            for entry in walk(self.path / name):
                if not entry.is_dir(follow_symlinks=False):
                    self._check_below(Path(entry.path))
        return self.path / name

    def _check_below(self, where: Path) -> None:
        with self._faults(where.relative_to(self.path).as_posix(), "used"):
            check_file(where.lstat(), single=True)

    def _too_large(self, name: str, size: int, limit: int) -> RlgptError:
        return self.error(f"{self.path / name} has {size:,} bytes; at most {limit:,} are read.")

    @contextmanager
    def _faults(self, name: str, verb: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as fault:
            raise self.error(f"{self.path / name} is missing.") from fault
        except OSError as fault:
            reason = fault.strerror or str(fault)
            if fault.errno == errno.ENOTDIR:
                reason = (
                    "a folder above it is a link, or is not a folder; replace it by a folder with a copy of the content"
                )
            raise self.error(f"{self.path / name} cannot be {verb}: {reason}.") from fault
