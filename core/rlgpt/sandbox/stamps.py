"""Writes and reads the stamp of a built guest. The stamp of a guest is a custom section at the end of its file, with a
hash of the sources from which the file was built.

This module imports nothing from rlgpt, because the build of a wheel loads this module by its path, without any
dependency.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

FILES = (
    *("app.py", "exchange.py", "floats.py", "modules.py", "packing.py", "primitives.py", "surroundings.py", "vec.py"),
    "rlgpt.wit",
)
"""The names of the files that are the guest's sources."""
_SECTION = b"rlgpt-guest"


def sources_hash(sources: Path) -> str:
    """SHA-256 over the guest's source files in the folder ``sources``."""
    digest = hashlib.sha256()
    for name in FILES:
        digest.update(name.encode() + b"\0" + (sources / name).read_bytes() + b"\0")
    return digest.hexdigest()


def stamp(guest: Path) -> dict[str, str]:
    """Read the stamp of a built guest.

    :param guest: the file of the guest.
    :returns: a dict with the keys ``sources`` (a hash) and ``componentize_py`` (a version); empty if the file cannot be
        read or has no valid stamp.
    """
    try:
        with guest.open("rb") as file:
            file.seek(max(0, guest.stat().st_size - 512))
            _, found, text = file.read().rpartition(_SECTION)
        value = json.loads(text) if found else {}
    except (OSError, ValueError):
        return {}
    return {str(k): str(v) for k, v in value.items()} if isinstance(value, dict) else {}


def section(stamp: dict[str, str]) -> bytes:
    """Make a WebAssembly custom section (id 0) named ``rlgpt-guest`` (core specification, section 2.5.2 of the binary
    format).
    """
    body = bytes([len(_SECTION)]) + _SECTION + json.dumps(stamp).encode()
    return b"\0" + _leb128(len(body)) + body


def _leb128(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])
