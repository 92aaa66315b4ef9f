"""Fixtures: a real run, made by replay with the command line, and a copy of that run, which rlgpt treats as made by
others.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from stranger import CANARY, make_run

GRID = """
from rlgpt.plugin import hookimpl

@hookimpl
def rlgpt_plugins():
    from rlgpt.testing.grid import GridPlugin
    return [GridPlugin()]
"""


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The user's folders: an installed grid plugin, and the state folder that lists the user's own runs."""
    home = tmp_path_factory.mktemp("home")
    info = home / "site" / "grid_plugin-0.1.dist-info"
    info.mkdir(parents=True)
    (home / "site" / "grid_plugin.py").write_text(GRID)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: grid-plugin\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text("[rlgpt]\ngrid = grid_plugin\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(home / "state"))
        patch.syspath_prepend(str(home / "site"))
        patch.setenv("PYTHONPATH", os.pathsep.join([str(home / "site"), os.environ.get("PYTHONPATH", "")]))
        patch.chdir(home)
        yield home


@pytest.fixture(scope="session")
def own_run(home: Path) -> Path:
    """The folder of a finished run of this user."""
    return make_run(home)


@pytest.fixture
def shared(own_run: Path, tmp_path: Path) -> Path:
    """A copy of the user's run, for changes that another person could make."""
    folder = tmp_path / "shared"
    shutil.copytree(own_run, folder)
    return folder


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """A folder with the user's private files."""
    folder = tmp_path / "private"
    (folder / "deep").mkdir(parents=True)
    (folder / "id_rsa").write_text(CANARY)
    (folder / "deep" / "notes.txt").write_text(CANARY)
    return folder
