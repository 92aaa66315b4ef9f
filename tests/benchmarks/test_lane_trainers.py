"""benchmarks/lane_trainers.py stores each turn and continues after the stored turns."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from rlgpt.rl.lanes import learns_from_lanes


@pytest.fixture
def lane_trainers(benchmark_module: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch) -> Any:
    for name in ("XLA_FLAGS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "")  # The import sets these variables; afterwards, they have their former values.
    return benchmark_module("lane_trainers")


class FakeTrainer:
    """A trainer whose speed is known; a trainer with lanes is twice as fast as the others."""

    def __init__(self, name: str) -> None:
        self.cost = 0.005 if name.endswith("lanes") else 0.01

    def turn(self) -> tuple[float, float]:
        return self.cost, self.cost


def test_interrupted_measurement_continues_after_the_stored_turns(
    lane_trainers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started: list[int] = []

    @contextlib.contextmanager
    def processes(script: Path, names: Sequence[str], folder: Path, seed: int, **_: Any) -> Iterator[dict[str, Any]]:
        started.append(seed)
        yield {name: FakeTrainer(name) for name in names}

    monkeypatch.setattr(lane_trainers, "trainer_processes", processes)
    monkeypatch.setattr(lane_trainers, "commit", lambda: "abc")
    stored = tmp_path / "turns.jsonl"
    lane_trainers.measure("voxels", 2, stored)
    capsys.readouterr()
    for turns in (5, 5):
        lane_trainers.measure("voxels", turns, stored)
        lines = {line["name"]: line for line in map(json.loads, capsys.readouterr().out.splitlines())}
        assert set(lines) == {f"lanes/trainers/voxels/{name}" for name in lane_trainers.NAMES["voxels"]}
        for name, line in lines.items():
            expected = (200, 2.0) if name.endswith("lanes") else (100, 1.0)
            assert (line["value"], line["over_single_sample_factory"], line["turns"]) == (*expected, 5)
    assert started == [0, 2], "a complete measurement starts no trainer"
    assert [json.loads(row)["turn"] for row in stored.read_text().splitlines()] == list(range(5))
    monkeypatch.setattr(lane_trainers, "commit", lambda: "def")
    lane_trainers.measure("voxels", 1, stored)
    assert started == [0, 2, 0], "the turns of another commit do not count"


def test_single_environments_of_the_benchmark_have_no_lanes(lane_trainers: Any) -> None:
    lanes, single = (lane_trainers.spec_of("voxels", kind) for kind in ("lanes", "single"))
    assert lanes.setup == single.setup
    assert learns_from_lanes(lanes)
    assert not learns_from_lanes(single)
