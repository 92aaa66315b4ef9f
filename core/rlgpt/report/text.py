"""Makes untrusted text safe to show, highlights code and shows differences between versions of code.

Deceptive characters, such as marks that reverse the direction of writing, are shown by their names.

Escaping for HTML is done in one place, by the template engine; the two functions that return markup escape every
character of their input themselves.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

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


def highlight(source: str) -> Markup:
    """Python source as HTML: one ``<span class="line">`` for each line, with Pygments' short class names
    for colours.
    """
    from pygments import highlight as colour
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    html = colour(visible(source, 20_000), PythonLexer(stripnl=False), HtmlFormatter(nowrap=True))
    return Markup("".join(f'<span class="line">{line}\n</span>' for line in html.rstrip("\n").split("\n")))


def diff(before: str, after: str) -> Markup:
    """The changes of a repair as HTML lines of class ``add``, ``del``, ``same`` or ``gap``, with three
    lines of context.
    """
    return Markup("").join(_diff_lines(visible(before, 20_000).splitlines(), visible(after, 20_000).splitlines()))


def _diff_lines(before: list[str], after: list[str]) -> Iterator[Markup]:
    kinds = {"+": "add", "-": "del", " ": "same", "@": "gap"}
    for line in list(difflib.unified_diff(before, after, n=3, lineterm=""))[2:]:
        kind = kinds[line[0]]
        text = "⋯" if kind == "gap" else line
        yield Markup('<span class="line {}">{}\n</span>').format(kind, escape(text))
