"""Makes the description of an environment for a prompt. The description consists of the settings of the environment and
of its docstring, without padding and without sections that do not describe the environment.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping
from typing import Any

import gymnasium

from rlgpt.secrets import is_secret

LIMIT = 10_000
"""Maximal number of characters of a description that prompts show."""

SETTINGS = 1_500
"""Maximal number of characters of an environment's settings in its description."""

BESIDE = ("version history", "references", "reference", "citation", "credits", "credit", "arguments", "args")
"""Headings of sections that do not describe the world."""

_HEADING = re.compile(r"^(#+) *(.*?) *$")
_MAKING = re.compile(r"(?ms)^[^\S\n]*```(?:(?!```).)*?\bmake\((?:(?!```).)*```[^\S\n]*\n?")
"""A block of code that makes the environment."""

_RULE = re.compile(r"^\|[\s:|-]+\|$")


def readable(doc: str, limit: int = LIMIT) -> str:
    """A docstring without indentation, padding of tables, code that makes the environment, and sections that do not
    describe the environment. A note lists the sections of the docstring that were left out.

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
    for line in _MAKING.sub("", inspect.cleandoc(doc)).splitlines():
        heading = _HEADING.match(line)
        if heading and (not hidden or len(heading[1]) <= hidden):
            hidden = len(heading[1]) if heading[2].lower().strip(":") in BESIDE else 0
            if hidden:
                left_out.append(heading[2])
        if not hidden and not _RULE.match(line.strip()):
            kept.append(_plain(line))
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()
    note = f"\n\n(left out: {', '.join(left_out)})" if left_out else ""
    return _shortened(text, limit - len(note)) + note


def described(env: gymnasium.Env[Any, Any]) -> str:
    """The description of an environment, which consists of its class, its docstring as :func:`readable` text, and its
    settings. The settings of an environment are the keyword arguments of its registration, and ``env.config`` if this
    attribute is a mapping.
    """
    plain, settings = env.unwrapped, dict[str, Any]()
    if plain.spec is not None:
        settings |= plain.spec.kwargs
    config = getattr(plain, "config", None)
    if isinstance(config, Mapping):
        settings |= {str(key): value for key, value in config.items()}
    lines = [f"Class: {type(plain).__module__}.{type(plain).__qualname__}"]
    text = json.dumps({key: value for key, value in settings.items() if not is_secret(key)}, default=str)
    if settings:
        lines.append(f"Settings: {text if len(text) <= SETTINGS else f'{text[:SETTINGS]} [...]'}")
    ends = "\n".join(lines)
    return f"{readable(type(plain).__doc__ or '', LIMIT - len(ends) - 2)}\n\n{ends}".strip()


def _shortened(text: str, limit: int) -> str:
    """``text``, shortened to at most ``limit`` characters. The longest sections of the text are cut to the same length,
    so that a long table does not displace the sections after it.
    """
    if len(text) <= limit:
        return text
    sections = [part for part in re.split(r"(?m)^(?=#+ )", text) if part]
    limit -= len(sections) * len(_CUT.format(10**5))
    room, most = limit, 0
    for count, length in enumerate(sorted(map(len, sections))):
        most = room // (len(sections) - count)
        if length > most:
            break
        room -= length
    return "".join(part if len(part) <= most else _cut(part, most) for part in sections).strip()


_CUT = "\n[... {:,} characters of this section are left out]\n\n"


def _cut(section: str, limit: int) -> str:
    """The lines of ``section`` that fit into ``limit`` characters, followed by a note about the cut. If no whole line
    of the section fits, the result has the beginning of the first line.
    """
    end = section.rfind("\n", 0, limit)
    end = end if end > limit // 2 else max(0, limit)
    return section[:end] + _CUT.format(len(section) - end)


def _plain(line: str) -> str:
    """A line of text without the padding of table cells. The line keeps its indentation, which lists and code need."""
    if line.strip().startswith("|"):
        return re.sub(r" *\| *", "|", line.strip())
    indent = line[: len(line) - len(line.lstrip())]
    return indent + re.sub(r"(?<=\S) {2,}", " ", line.strip())
