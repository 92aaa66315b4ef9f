"""Puts this folder on the import path, and makes an empty run."""

import sys
from pathlib import Path

import pytest
from rlgpt.runs import Run

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "run", task="grid/door", seed=3, config={"budget": 3000, "llm": {"model": "m"}})
