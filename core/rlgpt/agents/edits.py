"""Applies edits to a source. A model writes a repair as search-and-replace blocks, so the model need not repeat
unchanged lines.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

MAX_EDITS = 40

_SEARCH, _SPLIT, _REPLACE = "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"


class Edit(NamedTuple):
    """One edit. The lines ``search`` of a source are replaced by the lines ``replace``."""

    search: tuple[str, ...]
    replace: tuple[str, ...]


def is_patch(text: str) -> bool:
    """Whether ``text`` consists of edits of a source, and is not a source."""
    return any(line.startswith("<<<<<<<") for line in text.splitlines())


def patched(source: str, patch: str) -> str:
    """The source ``source`` after the edits of ``patch`` were applied in order. Each edit must match exactly one place
    in the source that the earlier edits produced.

    :raises ValueError: an edit is malformed, or does not match exactly one place of the source. The message names every
        such edit.
    """
    lines, faults = source.splitlines(), list[str]()
    edits = list(_edits(patch, faults))
    if len(edits) > MAX_EDITS:
        faults.append(f"there are {len(edits)} edits; at most {MAX_EDITS} are taken: send the whole source")
    for number, edit in enumerate(edits[:MAX_EDITS], start=1):
        found = _places(lines, edit.search)
        if len(found) == 1:
            lines[found[0] : found[0] + len(edit.search)] = edit.replace
        else:
            faults.append(f"edit {number}: {_mismatch(lines, edit.search, len(found))}")
    if faults:
        raise ValueError("; ".join(faults))
    return "\n".join(lines).strip("\n") + "\n"


def _edits(patch: str, faults: list[str]) -> Iterator[Edit]:
    """Yield the complete edits of ``patch``. Messages about incomplete edits and other lines are added to
    ``faults``.
    """
    sides: list[list[str]] = []
    others = 0
    for line in patch.splitlines():
        mark = line.strip()
        if mark.startswith("<<<<<<<"):
            if sides:
                faults.append("an edit begins before the one before it ended")
            sides = [[]]
        elif mark == _SPLIT and len(sides) == 1:
            sides.append([])
        elif mark.startswith(">>>>>>>") and len(sides) == 2:
            yield Edit(tuple(sides[0]), tuple(sides[1]))
            sides = []
        elif sides:
            sides[-1].append(line.rstrip())
        else:
            others += bool(mark)
    if sides:
        faults.append(f"the last edit is not complete: it needs lines {_SEARCH}, {_SPLIT} and {_REPLACE}")
    if others:
        faults.append(f"{others} lines are outside of the edits; send edits alone, or the whole source")


def _places(lines: Sequence[str], search: Sequence[str]) -> list[int]:
    """The indices of the elements of ``lines`` at which the lines ``search`` begin. Spaces at line ends are ignored."""
    if not any(search):
        return []
    plain = [line.rstrip() for line in lines]
    return [i for i, line in enumerate(plain) if line == search[0] and plain[i : i + len(search)] == list(search)]


def _mismatch(lines: Sequence[str], search: Sequence[str], count: int) -> str:
    if not any(search):
        return "its SEARCH part is empty; give the lines that it replaces"
    if count > 1:
        return f"its SEARCH lines occur {count} times in the source; add lines around them until they occur once"
    for line in search:
        if line.strip() and line not in {known.rstrip() for known in lines}:
            near = difflib.get_close_matches(line, lines, n=1, cutoff=0.6)
            hint = f"; the nearest is {near[0]!r}" if near else ""
            return f"the source has no line {line!r:.200}{hint}. Copy lines exactly, with their indentation"
    return "its SEARCH lines are not in the source in this order"
