"""Makes untrusted text safe to show, highlights code and shows differences between versions of code.

Deceptive characters, such as marks that reverse the direction of writing, are shown by their names.

Escaping for HTML is done in one place, by the template engine; the two functions that return markup escape every
character of their input themselves. The live page gets the same tokens and lines as data.
"""

from __future__ import annotations

import difflib

from markupsafe import Markup, escape

from rlgpt import terminal

LIMIT = 6_000
"""Maximal number of characters of one text that are shown."""


def visible(text: str, limit: int = LIMIT) -> str:
    """At most ``limit`` characters of a text, with invisible characters replaced by their names and a
    note about omitted text.
    """
    shown = terminal.visible(text[:limit])
    return shown if len(text) <= limit else f"{shown}… ({len(text) - limit:,} more characters)"


Token = tuple[str, str]
"""Pygments' short class name for the colour, or empty; and the text."""
DiffLine = tuple[str, str]
"""``add``, ``del``, ``same`` or ``gap``; and the line with its sign."""


def tokens(source: str) -> list[list[Token]]:
    """The tokens of each line of a Python source, invisible characters replaced by their names."""
    from pygments.lexers import PythonLexer
    from pygments.token import STANDARD_TYPES

    lines: list[list[Token]] = [[]]
    for kind, text in PythonLexer(stripnl=False).get_tokens(visible(source, 20_000)):
        while kind not in STANDARD_TYPES:
            kind = kind.parent
        for number, part in enumerate(text.split("\n")):
            if number:
                lines.append([])
            if part:
                lines[-1].append((STANDARD_TYPES[kind], part))
    while len(lines) > 1 and not lines[-1]:
        lines.pop()
    return lines


def highlight(source: str) -> Markup:
    """Python source as HTML: one ``<span class="line">`` for each line, with Pygments' short class names for
    colours.
    """
    span = Markup('<span class="{}">{}</span>')
    lines = (Markup("").join(span.format(c, t) if c else escape(t) for c, t in line) for line in tokens(source))
    return Markup("").join(Markup('<span class="line">{}\n</span>').format(line) for line in lines)


def diff_lines(before: str, after: str) -> list[DiffLine]:
    """The changes of a repair, with three lines of context."""
    kinds = {"+": "add", "-": "del", " ": "same", "@": "gap"}
    old, new = visible(before, 20_000).splitlines(), visible(after, 20_000).splitlines()
    changes = list(difflib.unified_diff(old, new, n=3, lineterm=""))[2:]
    return [(kinds[line[0]], "⋯" if line[0] == "@" else line) for line in changes]


def diff(before: str, after: str) -> Markup:
    """The changes of a repair as HTML lines; see :func:`diff_lines`."""
    line = Markup('<span class="line {}">{}\n</span>')
    return Markup("").join(line.format(kind, text) for kind, text in diff_lines(before, after))
