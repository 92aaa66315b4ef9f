"""A hook of mkdocs that adapts docstrings to the documentation site."""

from __future__ import annotations

import re
from typing import Any

_ROLE = re.compile(r":(?:attr|class|data|exc|func|meth|mod|obj):<code>(~(?:\w+\.)*)?")
"""A Sphinx role in the HTML page that Markdown makes from a docstring. The role is in front of the code that it marks.
A tilde means that only the last part of the name is shown."""


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Remove the markers of Sphinx roles from ``html``, because Markdown has no roles. On the page docs/method.md, the
    hook also opens the folded blocks of source code.
    """
    html = _ROLE.sub("<code>", html)
    if page.file.src_uri == "method.md":
        html = html.replace('<details class="mkdocstrings-source">', '<details class="mkdocstrings-source" open>')
    return html
