"""Plain values and long texts for prompts: rounded, and bounded in length."""

from __future__ import annotations

import json
from collections.abc import Mapping

from rlgpt.domain import CodedAction, Plain


def number(value: float) -> str:
    """Four significant digits; a whole number without a decimal point."""
    return f"{value:.4g}"


def plain(value: Plain, limit: int = 200) -> str:
    """A plain value as one line of at most ``limit`` characters, with rounded floats."""
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
    """``a=1, b=[0.5, 2]``; each value at most ``limit`` characters."""
    return ", ".join(f"{key}={plain(value, limit)}" for key, value in values.items())


def changes(before: Mapping[str, Plain], after: Mapping[str, Plain], limit: int = 200) -> list[str]:
    """``key: old -> new`` for each key whose rounded value differs."""
    lines = []
    for key in dict.fromkeys((*before, *after)):
        old, new = (plain(v[key], limit) if key in v else "(absent)" for v in (before, after))
        if old != new:
            lines.append(f"{key}: {old} -> {new}")
    return lines


def shorten(text: str, limit: int) -> str:
    """``text``, at most ``limit`` characters: a note replaces the middle of a longer one."""
    if len(text) <= limit:
        return text
    note = f" [... {len(text) - limit} characters left out ...] "
    room = max(0, limit - len(note))
    head = room * 2 // 3
    return text[:head] + note + text[len(text) - (room - head) :]


def bullets(lines: Mapping[str, str] | tuple[tuple[str, str], ...], empty: str = "(none)") -> str:
    """A line ``- name: text`` for each pair; ``empty`` where there is none."""
    pairs = lines.items() if isinstance(lines, Mapping) else lines
    return "\n".join(f"- {name}: {text}" if text else f"- {name}" for name, text in pairs) or empty


def code_block(action: CodedAction, limit: int = 6000) -> str:
    """A coded action for prompts: doc, parameters and step limit, then its source of at most ``limit`` characters."""
    parameters = "; ".join(
        f"{p.name} from {number(p.low or 0.0)} to {number(p.high or 0.0)} {p.unit}".rstrip()
        + f", default {number(float(p.default))}"
        + (f" ({p.doc})" if p.doc else "")
        for p in action.parameters
    )
    head = f"doc: {action.doc}\nparameters: {parameters or 'none'}\nmax_steps: {action.max_steps}"
    return f"{head}\n```python\n{shorten(action.source.strip(), limit)}\n```"
