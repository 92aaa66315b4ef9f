"""Makes untrusted text safe to print."""

from __future__ import annotations


def printable(text: str) -> str:
    """``text`` without control characters and lone surrogates. The result goes to terminals, files and prompts."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
