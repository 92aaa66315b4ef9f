"""What a compiled function is made of: its module, and the modules that one imports."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
"""The folder that the package lies in."""
IMPORT = re.compile(r"^from (voxeldojo[\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)


@cache
def _bytes(path: Path) -> bytes:
    return path.read_bytes()


@cache
def _imports(path: Path) -> frozenset[Path]:
    """The package's files that one file names in its imports."""
    found = set()
    for module, names in IMPORT.findall(_bytes(path).decode()):
        place = ROOT.joinpath(*module.split("."))
        found |= {place.with_suffix(".py"), *(place / f"{name}.py" for name in re.findall(r"\w+", names))}
    return frozenset(other for other in found if other.is_file())


def sources(path: Path) -> frozenset[Path]:
    """A file and all of the package's that it imports, and they in turn."""
    reached, new = frozenset({path}), frozenset({path})
    while new:
        new = frozenset().union(*map(_imports, new)) - reached
        reached |= new
    return reached


@cache
def stamp(path: Path) -> str:
    """A digest that changes with the text of whatever the kernels of a file may call."""
    return hashlib.sha256(b"".join(map(_bytes, sorted(sources(path))))).hexdigest()
