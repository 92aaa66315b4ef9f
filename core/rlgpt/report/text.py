"""Makes untrusted text safe to show, highlights code and shows differences between versions of code.

Deceptive characters, such as marks that reverse the direction of writing, are replaced by their names.

The template engine escapes all text of the report for HTML. Only the functions :func:`highlight` and :func:`diff`
return markup; each of them escapes every character of its input. The live page gets the tokens and lines of a source as
data instead of markup.
"""

from __future__ import annotations

import difflib

from markupsafe import Markup, escape

from rlgpt import terminal

LIMIT = 6_000
"""Maximal number of characters of one text that are shown."""


def visible(text: str, limit: int = LIMIT) -> str:
    """At most ``limit`` characters of a text. In the visible text, each invisible character is replaced by its name. A
    note at the end of the text says how many characters were left out.
    """
    shown = terminal.visible(text[:limit])
    return shown if len(text) <= limit else f"{shown}… ({len(text) - limit:,} more characters)"


Token = tuple[str, str]
"""A token of source code: the short name that Pygments gives to its CSS class (or an empty text), and the text."""
DiffLine = tuple[str, str]
"""A line of a difference: its kind (``add``, ``del``, ``same`` or ``gap``), and its text with the sign of the kind."""


def tokens(source: str) -> list[list[Token]]:
    """The tokens of each line of a Python source. In the tokens, each invisible character is replaced by its name."""
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
    """Python source as HTML, with one ``<span class="line">`` for each line. The colours of the source come from CSS
    classes with the short names of Pygments.
    """
    span = Markup('<span class="{}">{}</span>')
    lines = (Markup("").join(span.format(c, t) if c else escape(t) for c, t in line) for line in tokens(source))
    return Markup("").join(Markup('<span class="line">{}\n</span>').format(line) for line in lines)


def diff_lines(before: str, after: str) -> list[DiffLine]:
    """The lines that a repair changed between the source before and the source after it, with three lines of
    context.
    """
    kinds = {"+": "add", "-": "del", " ": "same", "@": "gap"}
    old, new = visible(before, 20_000).splitlines(), visible(after, 20_000).splitlines()
    changes = list(difflib.unified_diff(old, new, n=3, lineterm=""))[2:]
    return [(kinds[line[0]], "⋯" if line[0] == "@" else line) for line in changes]


def diff(before: str, after: str) -> Markup:
    """The result of :func:`diff_lines` as HTML."""
    line = Markup('<span class="line {}">{}\n</span>')
    return Markup("").join(line.format(kind, text) for kind, text in diff_lines(before, after))
