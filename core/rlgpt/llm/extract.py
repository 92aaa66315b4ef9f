"""Finds JSON objects and Python code in a model's reply. The time of the search is linear in the length of the
reply.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

REPLY_LIMIT = 200_000
"""Maximal length of a reply in characters. A longer reply is refused before it is parsed."""

_STARTS = 500
"""Maximal number of opening braces at which an object is searched. The limit bounds the work on a reply that consists
of braces.
"""

_FENCE = re.compile(r"[ \t]*+(`{3,}+)[ \t]*+([A-Za-z0-9_+-]*+)[^`\n]*+")
_THINKING = re.compile(r"\A\s*<(think|thinking)>")


@dataclass(frozen=True)
class Found:
    """The JSON objects and the code that were found in a model's reply.

    :ivar objects: the outermost JSON objects of the reply, in order.
    :ivar code: the last Python block of the reply that defines a function, or else the last Python block; None if the
        reply has no Python block.
    :ivar fault: the reason why the text at the first ``{`` is not a JSON object; empty if an object was found, or if
        the reply has no ``{``.
    """

    objects: tuple[dict[str, Any], ...]
    code: str | None
    fault: str = ""


def find(text: str) -> Found:
    """Find the JSON objects and the Python block in a reply of a language model.

    Python blocks are removed before the search for JSON objects, so that a dict in code is not found. Line breaks
    within JSON strings are accepted, because language models write them. The words NaN and Infinity are not accepted; a
    number beyond the range of floats, such as 1e999, becomes infinite, which the later checks of a reply refuse.

    :param text: the text of a model's reply, with at most :data:`REPLY_LIMIT` characters. The caller checks the length.
    """
    prose, blocks = _cut_code(_without_thinking(text))
    functions = [b for b in blocks if "def " in b]
    code = next(reversed(functions or blocks), None)
    faults: list[str] = []
    objects = tuple(_objects(prose, faults))
    return Found(objects, code, "" if objects or not faults else faults[0])


def _without_thinking(text: str) -> str:
    """``text`` without the part ``<think>...</think>`` at its beginning, in which some models write their thoughts."""
    opened = _THINKING.match(text)
    if opened is None:
        return text
    _, closed, rest = text.partition(f"</{opened[1]}>")
    return rest if closed else text


def _cut_code(text: str) -> tuple[str, list[str]]:
    """``text`` without its Python blocks, and the Python blocks without common indentation. A block without an end
    remains in the text.
    """
    prose: list[str] = []
    blocks: list[str] = []
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        opened = _FENCE.fullmatch(lines[at])
        end = _closing(lines, at + 1, opened[1]) if opened else None
        if opened is None or end is None:
            prose.append(lines[at])
            at += 1
            continue
        body, language = lines[at + 1 : end], opened[2].lower()
        if language in ("python", "py", "python3") or (not language and any("def " in line for line in body)):
            blocks.append(textwrap.dedent("\n".join(body)).strip("\n") + "\n")
        else:
            prose.extend(body)
        at = end + 1
    return "\n".join(prose), blocks


def _closing(lines: list[str], start: int, fence: str) -> int | None:
    """The index of the line that closes a fenced block; None if another block begins before such a line. Because a
    search ends at the next block, the time of all searches is linear in the number of lines.
    """
    for at in range(start, len(lines)):
        line = lines[at].strip()
        if line.startswith(fence) and not line.strip("`"):
            return at
        if line.startswith("```") and _FENCE.fullmatch(lines[at]):
            return None
    return None


def _objects(text: str, faults: list[str]) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder(strict=False, parse_constant=_refuse)
    at = 0
    for _ in range(_STARTS):
        at = text.find("{", at)
        if at < 0:
            return
        try:
            value, at = decoder.raw_decode(text, at)
            yield value
        except json.JSONDecodeError as fault:
            cut = fault.pos >= len(text.rstrip()) or fault.msg.startswith("Unterminated string")
            where = "it broke off before the object was closed" if cut else _around(text, fault)
            faults.append(where)
            at += 1
        except (ValueError, RecursionError) as fault:
            faults.append("it is nested too deeply" if isinstance(fault, RecursionError) else str(fault)[:200])
            at += 1


def _around(text: str, fault: json.JSONDecodeError) -> str:
    return f"{fault.msg} near {text[max(0, fault.pos - 30) : fault.pos + 10]!r}"


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")
