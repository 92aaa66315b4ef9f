"""The cache of compiled guests. The guest is compiled to machine code once, and the machine code is stored on disk.

The name of a cache file contains a hash of the inputs of the compilation and a hash of the machine code. A cache file
gets its final name, by a rename, when it is complete. A damaged cache file is refused before the WebAssembly runtime
reads it. Machine code runs with the rights of this user, without a sandbox, so a cache file that another user (except
root) owns or may write is never loaded. The least recently used cache files are deleted.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import logging
import os
import platform
import stat
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs
from filelock import FileLock

from rlgpt.errors import SandboxError
from rlgpt.sandbox import build, stamps

if TYPE_CHECKING:
    from wasmtime import Engine, Module

log = logging.getLogger(__name__)

KEPT = 4
"""Number of compiled guests that the cache keeps, so that a few versions of rlgpt can share it. Each takes 40 to 60
MB."""
_ABANDONED_SECONDS = 3600.0
"""Age of an incomplete file, in seconds, after which the process that wrote the file counts as killed."""


def folder() -> Path:
    """The folder of the compiled guests, in the user's cache folder."""
    return platformdirs.user_cache_path("rlgpt") / "guest"


def guest() -> Path:
    """The path of the guest program. If the program is missing or was built from other sources, the function builds it,
    which needs ``componentize-py``.

    :raises SandboxError: the guest program is missing or was built from other sources, and cannot be built here because
        ``componentize-py`` is missing.
    """
    if stamps.stamp(build.GUEST).get("sources") != build.sources_hash():
        if not build.can_build():
            state = "was built from other sources" if build.GUEST.exists() else "is missing"
            raise SandboxError(
                f"the sandbox's guest program {build.GUEST} {state}: run `make guest` in a checkout, "
                "or install a released wheel of rlgpt"
            )
        build.build(build.GUEST)
    return build.GUEST


def compiled(engine: Engine, guest: Path, settings: str, where: Path | None = None) -> Module:
    """The compiled guest from the cache. If the cache does not contain it, the guest is compiled (which takes a few
    seconds) and stored in the cache.

    :param guest: the path of the guest program, a WebAssembly module.
    :param settings: the engine's configuration. Machine code that was compiled with another configuration of the engine
        is not used.
    :param where: the folder of the cache. Default: the result of :func:`folder`.
    """
    from wasmtime import Module

    made_from = "\0".join((_digest(guest), importlib.metadata.version("wasmtime"), settings, platform.machine()))
    key = hashlib.sha256(made_from.encode()).hexdigest()[:24]
    where = where or folder()
    try:
        where.mkdir(parents=True, exist_ok=True, mode=0o700)
        _check_ours(where, where.stat())
        module = _load(engine, where, key)
        if module is not None:
            return module
        lock = where / f"{key}.lock"
        if lock.is_symlink() or lock.exists():
            _check_file(lock)
        with FileLock(lock):
            module = _load(engine, where, key)
            if module is not None:
                return module
            log.warning("compiling the sandbox's guest program (once, a few seconds) into %s", where)
            module = Module.from_file(engine, guest)
            _store(module.serialize(), where, key)
            return module
    except OSError as error:
        log.warning("the sandbox's cache cannot be used (%s); compiling without it", error)
        return Module.from_file(engine, guest)


def _check_ours(path: Path, state: os.stat_result) -> None:
    """:raises PermissionError: another user (except root) owns the file ``path``, or another user may write it."""
    if not hasattr(os, "getuid"):
        return
    if state.st_uid not in (os.getuid(), 0):
        raise PermissionError(f"{path} belongs to another user: remove it")
    if state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(f"{path} can be written by other users, who may have changed its code: remove it")


def _check_file(path: Path) -> None:
    """:raises PermissionError: ``path`` is not a regular file, or another user (except root) owns it, or another user
    may write it."""
    state = path.lstat()
    if not stat.S_ISREG(state.st_mode):
        raise PermissionError(f"{path} is not a regular file: remove it")
    _check_ours(path, state)


def _load(engine: Engine, where: Path, key: str) -> Module | None:
    from wasmtime import Module, WasmtimeError

    for path in sorted(where.glob(f"{key}-*.cwasm")):
        try:
            _check_file(path)
            whole = _digest(path) == path.stem.partition("-")[2]
        except FileNotFoundError:  # Another process has just removed the file.
            continue
        except PermissionError as error:
            log.warning("the compiled guest is not used: %s", error)
            continue
        if whole:
            try:
                module = Module.deserialize_file(engine, str(path))
            except WasmtimeError as error:
                log.warning(
                    "wasmtime refuses the compiled guest %s, so it is compiled again: %s", path, str(error)[:200]
                )
            else:
                with contextlib.suppress(OSError):  # The cache may be read-only.
                    os.utime(path)
                return module
        else:
            log.warning("the compiled guest %s is damaged, so it is compiled again", path)
        path.unlink(missing_ok=True)
    return None


def _store(code: bytes | bytearray, where: Path, key: str) -> None:
    number, temporary = tempfile.mkstemp(dir=where, prefix=f".{key}-")
    try:
        with os.fdopen(number, "wb") as file:
            file.write(code)
        os.replace(temporary, where / f"{key}-{_digest(Path(temporary))}.cwasm")
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise
    _drop_old(where)


def _drop_old(where: Path) -> None:
    """Delete all compiled guests of the cache folder except the :data:`KEPT` most recently used ones. Also delete the
    incomplete files of killed processes.

    A compiled guest that another process has mapped into its memory stays mapped after its file is deleted. If the
    operating system refuses to delete a cache file, the file remains.
    """
    last = sorted(((_used(path), path) for path in where.glob("*.cwasm")), reverse=True)
    half = [(used, path) for path in where.glob(".*-*") if (used := _used(path)) < time.time() - _ABANDONED_SECONDS]
    for _, path in (*last[KEPT:], *half):
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def _used(path: Path) -> float:
    """The time of the last use of the cache file, in seconds since 1970; 0 if the file does not exist."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]
