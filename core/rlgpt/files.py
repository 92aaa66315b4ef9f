"""Files that are written whole or not at all, and read with their size and schema checked."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from rlgpt.errors import RlgptError

M = TypeVar("M", bound=BaseModel)


def write_atomic(path: Path, content: str | bytes) -> None:
    """Write ``content`` to ``path`` so that a reader, or a crash, sees the old file or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read_text(path: Path, *, limit: int, error: type[RlgptError]) -> str:
    """The text of a regular file of at most ``limit`` bytes.

    :raises RlgptError: of class ``error``; missing, a link or device, too large, or not UTF-8.
    """
    if path.is_symlink() or not path.is_file():
        raise error(f"{path} is missing or no regular file.")
    size = path.stat().st_size
    if size > limit:
        raise error(f"{path} has {size} bytes; at most {limit} are read.")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as fault:
        raise error(f"{path} is not UTF-8 text ({fault}).") from fault


def read_model(path: Path, model: type[M], *, error: type[RlgptError], limit: int = 64 << 20) -> M:
    """The pydantic value that ``path`` holds as JSON.

    :raises RlgptError: of class ``error``; unreadable, or not of ``model``'s schema.
    """
    try:
        return model.model_validate_json(read_text(path, limit=limit, error=error))
    except ValidationError as fault:
        first = fault.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the whole file"
        raise error(f"{path} does not hold a valid {model.__name__}: {where}: {first['msg']}.") from fault
