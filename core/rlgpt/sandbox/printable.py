"""Makes untrusted text safe to print."""

from __future__ import annotations


def printable(text: str) -> str:
    """Return ``text`` without control characters and lone surrogates, so that terminals, files and prompts can contain
    it.
    """
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
