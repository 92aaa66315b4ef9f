"""Finds the source files of a compiled function, which are its module and, recursively, the modules that this module
imports.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
"""The parent folder of the package."""
IMPORT = re.compile(r"^from (voxeldojo[\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)


@cache
def _bytes(path: Path) -> bytes:
    return path.read_bytes()


@cache
def _imports(path: Path) -> frozenset[Path]:
    """Return the files of the package ``voxeldojo`` that the file ``path`` imports."""
    found = set()
    for module, names in IMPORT.findall(_bytes(path).decode()):
        place = ROOT.joinpath(*module.split("."))
        found |= {place.with_suffix(".py"), *(place / f"{name}.py" for name in re.findall(r"\w+", names))}
    return frozenset(other for other in found if other.is_file())


def sources(path: Path) -> frozenset[Path]:
    """Return the file ``path`` and, recursively, all files of the package ``voxeldojo`` that it imports."""
    reached, new = frozenset({path}), frozenset({path})
    while new:
        new = frozenset().union(*map(_imports, new)) - reached
        reached |= new
    return reached


@cache
def stamp(path: Path) -> str:
    """Return a digest of all source files that the kernels of the file ``path`` can call."""
    return hashlib.sha256(b"".join(map(_bytes, sorted(sources(path))))).hexdigest()
