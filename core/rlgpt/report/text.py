"""Foreign text made fit to be shown: what could deceive the eye is spelt out, and code is coloured and compared.

Escaping for HTML is done in one place, by the template engine; the two functions that return markup escape every
character of their input themselves.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterator

from markupsafe import Markup, escape

LIMIT = 6_000
"""Characters of one text that are shown."""


def visible(text: str, limit: int = LIMIT) -> str:
    """The text with invisible and direction-changing characters spelt out (``\\u202e``), cut at ``limit``.

    Such characters can make code read otherwise than it runs (Boucher and Anderson 2021, "Trojan Source").
    """
    shown = "".join(c if _plain(c) else f"\\u{ord(c):04x}" for c in text[:limit])
    return shown if len(text) <= limit else f"{shown}… ({len(text) - limit:,} more characters)"


def _plain(char: str) -> bool:
    return char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Cn")


def highlight(source: str) -> Markup:
    """Python source as HTML: ``<span class="line">`` for each line, coloured by Pygments' short class names."""
    from pygments import highlight as colour
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    html = colour(visible(source, 20_000), PythonLexer(stripnl=False), HtmlFormatter(nowrap=True))
    return Markup("".join(f'<span class="line">{line}\n</span>' for line in html.rstrip("\n").split("\n")))


def diff(before: str, after: str) -> Markup:
    """What a repair changed, as HTML lines of class ``add``, ``del``, ``same`` or ``gap``; three lines of context."""
    return Markup("").join(_diff_lines(visible(before, 20_000).splitlines(), visible(after, 20_000).splitlines()))


def _diff_lines(before: list[str], after: list[str]) -> Iterator[Markup]:
    kinds = {"+": "add", "-": "del", " ": "same", "@": "gap"}
    for line in list(difflib.unified_diff(before, after, n=3, lineterm=""))[2:]:
        kind = kinds[line[0]]
        text = "⋯" if kind == "gap" else line
        yield Markup('<span class="line {}">{}\n</span>').format(kind, escape(text))
