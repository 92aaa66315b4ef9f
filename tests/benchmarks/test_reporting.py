"""The commit that stands beside a result says whether the sources had changes."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "benchmarks" / "reporting.py"


def test_commit_of_a_result_is_marked_if_sources_changed_and_not_if_only_results_did(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *words], cwd=tmp_path, check=True)

    results = tmp_path / "benchmarks" / "results" / "cells.jsonl"
    results.parent.mkdir(parents=True)
    results.write_text("")
    shutil.copy(SOURCE, tmp_path / "benchmarks")
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "first")
    spec = importlib.util.spec_from_file_location("reporting_of_a_copy", tmp_path / "benchmarks" / "reporting.py")
    assert spec is not None
    assert spec.loader is not None
    reporting = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reporting)
    clean = reporting.commit()
    assert len(clean) == 12
    results.write_text("{}\n")
    assert reporting.commit() == clean
    (tmp_path / "benchmarks" / "reporting.py").write_text(SOURCE.read_text() + "\n# changed\n")
    assert reporting.commit() == f"{clean}+"
