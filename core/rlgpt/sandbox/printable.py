"""Text of strangers, made safe to show."""

from __future__ import annotations


def printable(text: str) -> str:
    """``text`` without control characters and lone surrogates: it goes to terminals, files and prompts."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
