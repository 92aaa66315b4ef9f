"""benchmarks/run_settings.py: a run resumes only with the settings and the commit of its start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

SETTINGS = {"budget": 1000, "trainer": "ppo", "commit": "abc"}


@pytest.fixture
def runs(benchmark_module: Any) -> Any:
    return benchmark_module("run_settings")


@pytest.mark.parametrize(
    ("changes", "said"), [({"commit": "def"}, r"commit=abc \(now def\)"), ({"budget": 7}, r"budget=1000 \(now 7\)")]
)
def test_a_benchmark_run_resumes_only_with_the_recorded_settings(
    runs: Any, tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    run = tmp_path / "run"
    runs.start_or_resume(run, SETTINGS)
    (run / "checkpoint").touch()
    runs.start_or_resume(run, SETTINGS)
    with pytest.raises(SystemExit, match=f"{said}. Name another --out, or delete that folder"):
        runs.start_or_resume(run, {**SETTINGS, **changes})
    assert runs.read_settings(run) == SETTINGS


def test_a_benchmark_run_without_recorded_settings_resumes(runs: Any, tmp_path: Path) -> None:
    (tmp_path / "run.json").touch()
    runs.start_or_resume(tmp_path, SETTINGS)
    assert [p.name for p in tmp_path.iterdir()] == ["run.json"]
    assert runs.read_settings(tmp_path) == {}
