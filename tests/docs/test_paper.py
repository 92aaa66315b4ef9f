"""The page about the paper's tables names every experiment of the paper, and all of them can be planned."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rlgpt.cli.main import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "paper.md"


def test_page_of_the_paper_names_every_experiment_that_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Planning an experiment validates the settings of its runs, and looks for its tasks and recordings."""
    monkeypatch.chdir(tmp_path)
    assert main(["experiments"]) == 0
    listed = capsys.readouterr().out
    names = re.findall(r"^(paper/\w+): ", listed, re.MULTILINE)
    assert len(names) == 10
    assert set(names) == set(re.findall(r"experiment=(paper/\w+)", PAGE.read_text()))
    assert "not installed" not in listed
