"""Fixtures with a library of skills for the grid world."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from rlgpt.skills import SkillLibrary
from shelf import made


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SkillLibrary:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return SkillLibrary(tmp_path / "skills")


@pytest.fixture
def put(library: SkillLibrary) -> Callable[..., object]:
    """Add a skill to the library: ``put(name, goal=..., source=..., ...)``."""
    return lambda name, **more: library.add(*made(name, **more))
