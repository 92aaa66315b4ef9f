"""Keys never reach a record, an error or a terminal."""

from __future__ import annotations

import os
import re

_NAMES = ("_API_KEY", "_API_TOKEN", "_ACCESS_KEY", "_AUTH_TOKEN")
_SHORTEST = 8
"""Values below this length are no keys ("none", "ollama"): cutting them out would maim ordinary text."""

_PATTERNS = re.compile(r"\bsk-[A-Za-z0-9_*-]{8,}|(?<=://)[^/@\s]+(?=@)|\b(?i:bearer) +[A-Za-z0-9._~+/=-]{8,}")


def redact(text: str) -> str:
    """``text`` without the values of environment variables that hold keys, and without what looks like one."""
    held = {v for k, v in os.environ.items() if k.endswith(_NAMES) and len(v) >= _SHORTEST}
    for key in sorted(held, key=len, reverse=True):
        text = text.replace(key, "[redacted]")
    return _PATTERNS.sub("[redacted]", text)
