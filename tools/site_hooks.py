"""Adapts docstrings to the documentation site: mkdocs runs this file as a hook."""

from __future__ import annotations

import re
from typing import Any

_ROLE = re.compile(r":(?:attr|class|data|exc|func|meth|mod|obj):<code>(~(?:\w+\.)*)?")
"""A Sphinx role. In the page that Markdown makes of a docstring it is in front of the code it marks. A tilde means that
only the last part of the name is shown."""


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Drop the markers of Sphinx roles: Markdown has none. Open the sources that the page of the method shows."""
    html = _ROLE.sub("<code>", html)
    if page.file.src_uri == "method.md":
        html = html.replace('<details class="mkdocstrings-source">', '<details class="mkdocstrings-source" open>')
    return html
