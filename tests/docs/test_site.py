"""The documentation site builds without a warning and loads nothing from another host."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOADED = re.compile(
    r"<(?:script|img|iframe|video|source)\b[^>]*\bsrc=[\"']?([^\"' >]+)|<link\b[^>]*\bhref=[\"']?([^\"' >]+)"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    build = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert build.returncode == 0, build.stdout + build.stderr
    return folder


def test_documentation_site_loads_nothing_from_another_host(site: Path) -> None:
    loads = [
        f"{page.relative_to(site)}: {address}"
        for page in site.rglob("*.html")
        for match in LOADED.finditer(page.read_text())
        for address in filter(None, match.groups())
        if "//" in address and 'rel="canonical"' not in match[0]
    ]
    assert not loads


def test_reference_pages_of_the_site_show_no_unresolved_sphinx_role(site: Path) -> None:
    pages = list((site / "reference").glob("*.html"))
    assert pages
    assert not [page.name for page in pages if re.search(r":(class|func|meth|attr|mod):|<code>~", page.read_text())]


def test_every_page_of_the_site_is_in_the_navigation(site: Path) -> None:
    shown = (site / "index.html").read_text()
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    assert not [page for page in sorted(map(str, pages)) if page != "index.html" and f'href="{page}"' not in shown]
    assert ">None<" not in "".join(shown.split())
