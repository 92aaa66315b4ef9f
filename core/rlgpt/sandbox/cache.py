"""The guest, compiled to machine code once and kept on disk.

A cache file is named by what it was made from and by the hash of what is in it: it appears whole by one rename, and a
damaged one is noticed before WebAssembly's runtime trusts it. Those that were not used for longest are dropped.
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
    from wasmtime import Engine
    from wasmtime.component import Component

log = logging.getLogger(__name__)

KEPT = 4
"""Compiled guests that stay (40 to 60 MB each): those of a few versions side by side."""
_HALF_WRITTEN = 3600.0
"""Seconds after which a file that was never given its name is nobody's any more."""


def folder() -> Path:
    """Where compiled guests are kept: the user's cache folder."""
    return platformdirs.user_cache_path("rlgpt") / "guest"


def guest() -> Path:
    """The guest program; built first where it is missing or of other sources and ``componentize-py`` is at hand.

    :raises SandboxError: there is none, or it was built from other sources, and it cannot be built here.
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


def compiled(engine: Engine, guest: Path, settings: str, where: Path | None = None) -> Component:
    """The compiled guest, from the cache where it is there and whole; compiled (seconds) and kept otherwise.

    :param guest: the program, a component.
    :param settings: the engine's configuration in words; code compiled under another is never used.
    :param where: the cache's folder; default :func:`folder`.
    """
    from wasmtime.component import Component

    made_from = "\0".join((_digest(guest), importlib.metadata.version("wasmtime"), settings, platform.machine()))
    key = hashlib.sha256(made_from.encode()).hexdigest()[:24]
    where = where or folder()
    try:
        where.mkdir(parents=True, exist_ok=True, mode=0o700)
        _own(where)
        found = _load(engine, where, key)
        if found is not None:
            return found
        with FileLock(where / f"{key}.lock"):
            found = _load(engine, where, key)
            if found is not None:
                return found
            log.warning("compiling the sandbox's guest program (once, some seconds) into %s", where)
            component = Component.from_file(engine, guest)
            _store(component.serialize(), where, key)
            return component
    except OSError as error:
        log.warning("the sandbox's cache cannot be used (%s); compiling without it", error)
        return Component.from_file(engine, guest)


def _own(where: Path) -> None:
    """:raises OSError: others may write into the folder: code from there runs as this user, without any sandbox."""
    state = where.stat()
    if not hasattr(os, "getuid"):
        return
    if state.st_uid not in (os.getuid(), 0) or state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(f"{where} can be written by others: chmod go-w it, or remove it")


def _load(engine: Engine, where: Path, key: str) -> Component | None:
    from wasmtime import WasmtimeError
    from wasmtime.component import Component

    for path in sorted(where.glob(f"{key}-*.cwasm")):
        try:
            whole = _digest(path) == path.stem.partition("-")[2]
        except FileNotFoundError:  # another process has just dropped it
            continue
        if whole:
            try:
                component = Component.deserialize_file(engine, str(path))
            except WasmtimeError as error:
                log.warning(
                    "wasmtime does not take the compiled guest %s, it is made again: %s", path, str(error)[:200]
                )
            else:
                with contextlib.suppress(OSError):  # a cache that can only be read serves as well
                    os.utime(path)
                return component
        else:
            log.warning("the compiled guest %s is damaged: it is made again", path)
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
    """Keep the :data:`KEPT` guests that were used last, and nothing that a killed process left half written.

    What another process has loaded stays mapped there when its name goes; where the system does not allow that, the
    file stays.
    """
    last = sorted(((_used(path), path) for path in where.glob("*.cwasm")), reverse=True)
    half = [(used, path) for path in where.glob(".*-*") if (used := _used(path)) < time.time() - _HALF_WRITTEN]
    for _, path in (*last[KEPT:], *half):
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def _used(path: Path) -> float:
    """When a file was used last, seconds since 1970; 0 where it is gone already."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]
