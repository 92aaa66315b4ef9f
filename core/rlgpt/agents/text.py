"""Renders values and long texts for prompts: numbers are rounded, and the length is bounded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from rlgpt.domain import CodedAction, Plain


def number(value: float) -> str:
    """A number with four significant digits; a whole number has no decimal point."""
    return f"{value:.4g}"


def plain(value: Plain, limit: int = 200) -> str:
    """A JSON-like value as one line of at most ``limit`` characters, with rounded floats."""
    return shorten(_line(value), limit)


def _line(value: Plain) -> str:
    if isinstance(value, float):
        return number(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(_line, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)}: {_line(item)}" for key, item in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name, ensure_ascii=False)


def fields(values: Mapping[str, Plain], limit: int = 200) -> str:
    """Fields as text, for example ``a=1, b=[0.5, 2]``. Each value has at most ``limit`` characters."""
    return ", ".join(f"{key}={plain(value, limit)}" for key, value in values.items())


LONG = 6
"""Lists with more numbers than this are told by the numbers that changed most."""

MOST = 3


def changes(before: Mapping[str, Plain], after: Mapping[str, Plain], limit: int = 200) -> list[str]:
    """``key: old -> new`` for each key whose rounded value differs; of long lists the elements that changed most."""
    lines = []
    for key in dict.fromkeys((*before, *after)):
        old, new = (plain(v[key], limit) if key in v else "(absent)" for v in (before, after))
        if old == new:
            continue
        elements = _elements(before[key], after[key]) if key in before and key in after else []
        if elements:
            most = sorted(elements, key=lambda e: -abs(e[1] - e[2]))[:MOST]
            told = ", ".join(f"{where} {number(a)} -> {number(b)}" for where, a, b in most)
            others = f" and {len(elements) - MOST} more" if len(elements) > MOST else ""
            lines.append(f"{key}: {told}{others}")
        else:
            lines.append(f"{key}: {old} -> {new}")
    return lines


def _elements(old: Plain, new: Plain) -> list[tuple[str, float, float]]:
    """``[i][j]``, old and new number of the elements that differ, of two long lists of the same form; else nothing."""
    ours, theirs = dict(_flat(old)), dict(_flat(new))
    if len(ours) <= LONG or ours.keys() != theirs.keys() or "" in ours:
        return []
    if not all(_is_number(v) for v in (*ours.values(), *theirs.values())):
        return []
    pairs = [(where, float(ours[where]), float(theirs[where])) for where in ours]  # type: ignore[arg-type]
    return [(where, a, b) for where, a, b in pairs if number(a) != number(b)]


def _flat(value: Plain, where: str = "") -> Iterator[tuple[str, Plain]]:
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from _flat(item, f"{where}[{i}]")
    else:
        yield where, value


def _is_number(value: Plain) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def shorten(text: str, limit: int, what: str = "") -> str:
    """``text``, at most ``limit`` characters: a note replaces the middle of a longer one.

    :param what: what the text is, for the note.
    """
    if len(text) <= limit:
        return text
    note = f" [... {len(text) - limit} characters{f' of {what}' if what else ''} left out ...] "
    room = max(0, limit - len(note))
    head = room * 2 // 3
    return text[:head] + note + text[len(text) - (room - head) :]


def bullets(lines: Mapping[str, str] | tuple[tuple[str, str], ...], empty: str = "(none)") -> str:
    """A line ``- name: text`` for each pair; ``empty`` if there are no pairs."""
    pairs = lines.items() if isinstance(lines, Mapping) else lines
    return "\n".join(f"- {name}: {text}" if text else f"- {name}" for name, text in pairs) or empty


def signature(action: CodedAction) -> str:
    """A coded action without its source: doc, parameters and step limit."""
    parameters = "; ".join(
        f"{p.name} from {number(p.low or 0.0)} to {number(p.high or 0.0)} {p.unit}".rstrip()
        + f", default {number(float(p.default))}"
        + (f" ({p.doc})" if p.doc else "")
        for p in action.parameters
    )
    steps = action.max_steps or "the task's default"
    return f"doc: {action.doc}\nparameters: {parameters or 'none'}\nmax_steps: {steps}"


def code_block(action: CodedAction, limit: int | None = None) -> str:
    """A coded action for prompts.

    :param limit: of characters of the source; None: it is whole, as a repair by edits needs it.
    """
    return f"{signature(action)}\n{source_block(action.source, limit)}"


def source_block(source: str, limit: int | None = None) -> str:
    text = source.strip()
    return f"```python\n{text if limit is None else shorten(text, limit, 'the source')}\n```"
