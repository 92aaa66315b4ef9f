"""Fixtures that install plugins for a test: the grid world, and a plugin that cannot be imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rlgpt.cli import main

sys.path.insert(0, str(Path(__file__).parent))


def install(folder: Path, name: str, source: str) -> None:
    """Write a distribution with one entry point into ``folder``, with the files that an installer writes."""
    (folder / f"{name}_plugin.py").write_text(source)
    info = folder / f"{name}_plugin-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-plugin\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text(f"[rlgpt]\n{name} = {name}_plugin\n")


GRID = """
from rlgpt.plugin import hookimpl

@hookimpl
def rlgpt_plugins():
    from rlgpt.testing.grid import GridPlugin
    return [GridPlugin()]
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the grid plugin, on the import path of this process and of its children. The current folder is
    empty.
    """
    folder = tmp_path / "site"
    folder.mkdir()
    install(folder, "grid", GRID)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return folder


@pytest.fixture
def broken(site: Path) -> None:
    """Install a second plugin, which cannot be imported."""
    install(site, "crooked", "import a_module_that_is_not_there\n")


Said = tuple[int, str, str]


@pytest.fixture
def rlgpt(site: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """A function that runs the command line in this process and returns exit status, stdout and stderr."""

    def call(*arguments: str) -> Said:
        try:
            status = main(arguments)
        except SystemExit as end:
            status = int(end.code or 0)
        told = capsys.readouterr()
        return status, told.out, told.err

    return call
