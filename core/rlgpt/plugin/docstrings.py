"""The docstring of an environment as text for a prompt: without padding, and without sections that do not describe the
environment.
"""

from __future__ import annotations

import inspect
import re

LIMIT = 6_000
"""Maximal number of characters of a docstring that prompts show."""

BESIDE = ("version history", "references", "reference", "citation", "credits", "credit", "arguments", "args")
"""Headings of sections that do not describe the world."""

_HEADING = re.compile(r"^(#+) *(.*?) *$")
_RULE = re.compile(r"^\|[\s:|-]+\|$")


def readable(doc: str, limit: int = LIMIT) -> str:
    """``doc`` without indentation, padding of tables, and sections that do not describe the environment. A note lists
    the sections that were left out.

    >>> print(readable('''Moves a car.
    ...
    ...     | Num | Action     |
    ...     |-----|------------|
    ...     | 0   | push left  |
    ...
    ...     ## Version History
    ...     - v0: first'''))
    Moves a car.
    <BLANKLINE>
    |Num|Action|
    |0|push left|
    <BLANKLINE>
    (left out: Version History)
    """
    kept: list[str] = []
    left_out: list[str] = []
    hidden = 0
    for line in inspect.cleandoc(doc).splitlines():
        heading = _HEADING.match(line)
        if heading and (not hidden or len(heading[1]) <= hidden):
            hidden = len(heading[1]) if heading[2].lower().strip(":") in BESIDE else 0
            if hidden:
                left_out.append(heading[2])
        if not hidden and not _RULE.match(line.strip()):
            kept.append(_plain(line))
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()
    note = f"\n\n(left out: {', '.join(left_out)})" if left_out else ""
    if len(text) + len(note) > limit:
        cut = limit - len(note) - 80
        note = f"\n[... the last {len(text) - cut:,} characters of the documentation are left out]{note}"
        text = text[:cut]
    return text + note


def _plain(line: str) -> str:
    """``line`` without the padding of tables. The indentation of lists and code is kept."""
    if line.strip().startswith("|"):
        return re.sub(r" *\| *", "|", line.strip())
    indent = line[: len(line) - len(line.lstrip())]
    return indent + re.sub(r"(?<=\S) {2,}", " ", line.strip())
