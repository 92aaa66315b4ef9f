"""Prints to the terminal. Text that this module prints cannot control the terminal, and contains no invisible
characters and no API key.
"""

from __future__ import annotations

import sys
import unicodedata
from typing import TextIO

from rlgpt.secrets import redact

_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
"""Unicode categories of invisible characters, such as C0 and C1 controls, direction overrides and surrogates."""


def visible(text: str) -> str:
    """``text`` with every invisible, controlling or direction-changing character written as an escape (``\\u202e``).

    Line breaks and tabs are kept. Escape sequences of a terminal begin with a C0 or C1 control character. Characters
    that change the direction of text can make code look different from what it does (Boucher and Anderson 2021, "Trojan
    Source").
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if _shown(c) else f"\\u{ord(c):04x}" for c in text)


def say(text: object, file: TextIO | None = None) -> None:
    """Print a line that may contain untrusted text, without API keys.

    Invisible characters (see :func:`visible`), and characters that the terminal's encoding lacks, are printed as
    escapes.

    :param file: the open file to print to; default: standard output.
    """
    out = sys.stdout if file is None else file
    encoding = getattr(out, "encoding", None) or "utf-8"
    print(visible(redact(str(text))).encode(encoding, "backslashreplace").decode(encoding), file=out, flush=True)


def _shown(char: str) -> bool:
    return char in "\n\t" or unicodedata.category(char) not in _HIDDEN
