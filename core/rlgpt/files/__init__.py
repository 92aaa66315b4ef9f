"""Reads and writes files safely. Writes are atomic, the size and the schema of files are checked, and links are not
followed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from rlgpt.errors import RlgptError
from rlgpt.files.bounded import parse_json, read_json
from rlgpt.files.folder import Folder
from rlgpt.files.lines import JsonLines

__all__ = ["Folder", "JsonLines", "parse_json", "read_json", "read_model", "read_text", "write_atomic"]

M = TypeVar("M", bound=BaseModel)


def write_atomic(path: Path, content: str | bytes) -> None:
    """Write a file atomically at a path that the user chose, as :meth:`Folder.write` does.

    :raises RlgptError: the file cannot be written.
    """
    Folder(path.parent, RlgptError).write(path.name, content)


def read_text(path: Path, *, limit: int, error: type[RlgptError]) -> str:
    """Read a text file at a path that the user chose, as :meth:`Folder.read_text` does.

    :raises RlgptError: (an error of the class ``error``) the text file cannot be read.
    """
    return Folder(path.parent, error).read_text(path.name, limit=limit)


def read_model(path: Path, model: type[M], *, error: type[RlgptError], limit: int = 32 << 20) -> M:
    """Read a pydantic value from a JSON file.

    :raises RlgptError: (an error of the class ``error``) the JSON file cannot be read, or its content does not fit
        ``model``.
    """
    return read_json(read_text(path, limit=limit, error=error), model, path, error)
