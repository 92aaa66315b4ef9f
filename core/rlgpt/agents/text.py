"""Renders values and long texts for prompts. Numbers in the texts for prompts are rounded, and the length of a text is
limited.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from rlgpt.domain import CodedAction, Plain


def number(value: float) -> str:
    """A number as text with four significant digits. A whole number below 10,000 is written without a decimal point,
    and zero is written without a sign.
    """
    return f"{value + 0.0:.4g}"


def plain(value: Plain, limit: int = 200) -> str:
    """A plain value as one line of at most ``limit`` characters, with rounded floats.

    If the line is too long, an array of numbers is replaced by its shape, and any other list or dict shows only the
    items that fit.
    """
    text = _line(value)
    if len(text) <= limit:
        return text
    if (shape := _shape(value)) and len(shape) > 1:
        text = f"({' x '.join(map(str, shape))} numbers)"
    elif isinstance(value, list | dict) and value:
        text = _some(value, limit)
    return shorten(text, limit)


def _some(value: list[Plain] | dict[str, Plain], limit: int) -> str:
    """The first items of a list or dict as text, with the number of omitted items."""
    items = (
        [f"{_key(k)}: {_line(v)}" for k, v in value.items()] if isinstance(value, dict) else [_line(v) for v in value]
    )
    room, shown = limit - 20, list[str]()
    while len(shown) < len(items) and len(items[len(shown)]) + 2 <= room:
        room -= len(items[len(shown)]) + 2
        shown.append(items[len(shown)])
    left = len(items) - len(shown)
    first, last = "{}" if isinstance(value, dict) else "[]"
    return f"{first}{', '.join([*shown, f'... {left} more'])}{last}"


def _shape(value: Plain) -> tuple[int, ...]:
    """The shape of an array of numbers in the form of nested lists of equal length; empty for any other value."""
    if not isinstance(value, list) or not value:
        return ()
    if all(_is_number(item) for item in value):
        return (len(value),)
    shapes = {_shape(item) for item in value}
    inner = shapes.pop()
    return (len(value), *inner) if inner and not shapes else ()


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
    """Names and values as text, for example ``a=1, b=[0.5, 2]``. The text of each value has at most ``limit``
    characters.
    """
    return ", ".join(f"{key}={plain(value, limit)}" for key, value in values.items())


LONG = 12
"""Length above which only those numbers of a list that changed most are shown."""

MOST = 6

FLOOR = 0.1
"""Size of a number below which changes count less, because changes of small numbers are often noise."""

SHORT_LIST = 80
"""Maximal number of characters of a changed list that is shown completely. For a longer list, only the removed and the
added items are shown.
"""


def changes(before: Mapping[str, Plain], after: Mapping[str, Plain], limit: int = 200) -> list[str]:
    """Lines of the form ``key: old -> new`` for the keys of the view whose rounded values differ. For a long list, a
    line shows only the elements that differ.
    """
    keys = dict.fromkeys((*before, *after))
    return [
        f"{key}: {_change(before, after, key, limit)}"
        for key in keys
        if (key in before) != (key in after) or _line(before[key]) != _line(after[key])
    ]


def most_changed(before: Mapping[str, Plain], after: Mapping[str, Plain], most: int, limit: int = 200) -> list[str]:
    """The lines of :func:`changes` for the ``most`` keys of the view with the largest changes, in the order of
    :func:`changes`. A last line states how many further keys of the view changed.
    """
    changed = {line.partition(": ")[0]: line for line in changes(before, after, limit)}
    ranked = sorted(changed, key=lambda key: -_relative(before.get(key), after.get(key)))[:most]
    left = len(changed) - len(ranked)
    lines = [line for key, line in changed.items() if key in ranked]
    return [*lines, *([f"{left} more key{'s' if left > 1 else ''} changed less"] if left else [])]


def _relative(old: Plain, new: Plain) -> float:
    """The relative change of a value, 0 to 2. The relative change of a number is its change, divided by :data:`FLOOR`
    plus the larger absolute value. The relative change of a list is the largest one among its numbers. The relative
    change is 1 for values that are not numbers, and for lists of different lengths.
    """
    ours, theirs = ([v for _, v in _flat(value)] for value in (old, new))
    if len(ours) != len(theirs) or not all(_is_number(v) for v in (*ours, *theirs)):
        return 1.0
    pairs = [(float(a), float(b)) for a, b in zip(ours, theirs, strict=True)]  # type: ignore[arg-type]
    return max((abs(a - b) / (max(abs(a), abs(b)) + FLOOR) for a, b in pairs), default=0.0)


def _change(before: Mapping[str, Plain], after: Mapping[str, Plain], key: str, limit: int) -> str:
    old, new = before.get(key), after.get(key)
    if key in before and key in after:
        if elements := _elements(old, new):
            most = sorted(elements, key=lambda e: -abs(e[1] - e[2]))[:MOST]
            shown = ", ".join(f"{where} {number(a)} -> {number(b)}" for where, a, b in most)
            return f"{shown}{f' and {len(elements) - MOST} more' if len(elements) > MOST else ''}"
        if isinstance(old, str) and isinstance(new, str) and (rows := _rows(old, new)):
            more = f" and {len(rows) - MOST} more lines" if len(rows) > MOST else ""
            return f"{', '.join(f'line {i} {plain(a, 80)} -> {plain(b, 80)}' for i, a, b in rows[:MOST])}{more}"
        if isinstance(old, list) and isinstance(new, list) and len(_line(old)) + len(_line(new)) > SHORT_LIST:
            if _shape(old) and _shape(old) == _shape(new):
                return " -> ".join(_line(value) for value in (old, new))
            if count := _lines_of(old, new):
                return f"now {_line(new)}" if limit >= len(_line(new)) // 2 else f"{count} of {len(new)} lines differ"
            gone, come = ([i for i in one if i not in other] for one, other in ((old, new), (new, old)))
            parts = [_items(what, items, limit // 2) for what, items in (("gone", gone), ("new", come)) if items]
            return f"{len(old)} -> {len(new)} items; {', '.join(parts) or 'in another order'}"
    texts = [plain(values[key], limit) if key in values else "(absent)" for values in (before, after)]
    return " -> ".join(texts)


def _items(what: str, items: list[Plain], limit: int) -> str:
    """The items that were removed from a list or added to a list, as text. If no item fits into ``limit`` characters,
    the text has only the number of items.
    """
    text = plain(items, limit)
    return f"{len(items)} {what}" if text.startswith("[... ") else f"{what} {text}"


def _lines_of(old: list[Plain], new: list[Plain]) -> int:
    """The number of lines that differ between two maps; 0 for lists that are not maps. A map is a list of texts, such
    as the rows of a grid, and both maps have equally many lines.
    """
    if len(old) != len(new) or not all(isinstance(line, str) for line in (*old, *new)):
        return 0
    return sum(a != b for a, b in zip(old, new, strict=True))


def _rows(old: str, new: str) -> list[tuple[int, str, str]]:
    """The lines that differ between two texts with the same number of lines. Each item of the result has the number of
    the line (from 0), the old line and the new line. If the two texts have different numbers of lines, the result is
    empty.
    """
    ours, theirs = old.split("\n"), new.split("\n")
    if len(ours) == 1 or len(ours) != len(theirs):
        return []
    return [(i, a, b) for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b]


def _elements(old: Plain, new: Plain) -> list[tuple[str, float, float]]:
    """The elements that differ between two long lists of the same shape. Each item of the result has the position
    (``[i][j]``), the old number and the new number. For other values, the list is empty.
    """
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
    """``text``, shortened to at most ``limit`` characters. A note replaces the middle of a text that is too long.

    :param what: a name for the text, which the note about the omitted middle contains.
    """
    if len(text) <= limit:
        return text
    note = f" [... {len(text) - limit} characters{f' of {what}' if what else ''} left out ...] "
    room = max(0, limit - len(note))
    head = room * 2 // 3
    return text[:head] + note + text[len(text) - (room - head) :]


def bullets(lines: Mapping[str, str] | tuple[tuple[str, str], ...], empty: str = "(none)") -> str:
    """Text with one line for each pair of a name and a text; the text ``empty`` if ``lines`` has no pairs."""
    pairs = lines.items() if isinstance(lines, Mapping) else lines
    return "\n".join(f"- {name}: {text}" if text else f"- {name}" for name, text in pairs) or empty


def signature(action: CodedAction) -> str:
    """Docstring, parameters and step limit of a coded action, as text."""
    parameters = "; ".join(
        f"{p.name} from {number(p.low or 0.0)} to {number(p.high or 0.0)} {p.unit}".rstrip()
        + f", default {number(float(p.default))}"
        + (f" ({p.doc})" if p.doc else "")
        for p in action.parameters
    )
    steps = action.max_steps or "the task's default"
    return f"doc: {action.doc}\nparameters: {parameters or 'none'}\nmax_steps: {steps}"


def code_block(action: CodedAction, limit: int | None = None) -> str:
    """A coded action with its source, as text for prompts.

    :param limit: maximal length of the shown source in characters. If ``limit`` is None, the whole source is shown,
        because a repair by edits needs the whole source.
    """
    return f"{signature(action)}\n{source_block(action.source, limit)}"


def source_block(source: str, limit: int | None = None) -> str:
    text = source.strip()
    return f"```python\n{text if limit is None else shorten(text, limit, 'the source')}\n```"
