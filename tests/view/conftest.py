"""Puts this folder on the import path, and serves the page for tests."""

import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture
def serve() -> Iterator[Callable[[Path], Any]]:
    """Serves the runs of a folder in a thread; the site is closed after the test."""
    pytest.importorskip("starlette", reason="the extra rlgpt[view] is not installed")
    from rlgpt.view.server import Site

    open_sites = []

    def start(folder: Path) -> Site:
        site = Site([folder], 0)
        thread = threading.Thread(target=site.serve, daemon=True)
        thread.start()
        open_sites.append((site, thread))
        return site

    yield start
    for site, thread in open_sites:
        site.close()
        thread.join(10)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's chromium, driven by Playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        if os.environ.get("RLGPT_REQUIRE_BROWSER"):
            pytest.fail(f"none of {', '.join(BROWSERS)} is installed, and RLGPT_REQUIRE_BROWSER is set")
        pytest.skip(f"none of {', '.join(BROWSERS)} is installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()
