"""benchmarks/gpu.py runs on the CPU. Its figures are not tested."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "gpu.py"


def run(out: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), "--device", "cpu", "--quick", "--workers", "2", "--out", str(out)]
    return subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["numbers", "pixels"])
def test_gpu_benchmark_measures_each_trainer_once(kind: str, tmp_path: Path) -> None:
    out = tmp_path / "gpu.jsonl"
    first = run(out, "--rows", kind)
    assert first.returncode == 0, first.stderr
    results = {result["name"]: result for result in map(json.loads, out.read_text().splitlines())}
    trainers = ("ppo", "sample_factory", "plain_sample_factory", "ppo_overlap")
    assert set(results) == {f"gpu/cpu/{kind}/{trainer}/2" for trainer in trainers}
    assert all(result["value"] > 0 and result["commit"] for result in results.values())
    again = run(out, "--rows", kind)
    assert again.stdout.startswith("0.0 of 10 minutes")
    assert len(out.read_text().splitlines()) == len(results)


@pytest.mark.slow
def test_gpu_benchmark_measures_the_lanes_of_craftax(tmp_path: Path) -> None:
    pytest.importorskip("rlgpt_craftax")
    out = tmp_path / "gpu.jsonl"
    done = run(out, "--rows", "craftax")
    assert done.returncode == 0, done.stderr
    results = {result["name"]: result["value"] for result in map(json.loads, out.read_text().splitlines())}
    assert set(results) == {"gpu/cpu/craftax/simulator", "gpu/cpu/craftax/options"}
    assert all(value > 0 for value in results.values())


@pytest.mark.slow
def test_gpu_benchmark_leaves_out_rows_for_which_there_is_no_time(tmp_path: Path) -> None:
    done = run(tmp_path / "gpu.jsonl", "--minutes", "0.1", "--rows", "numbers/ppo/")
    assert done.returncode == 0, done.stderr
    assert "left out: ['gpu/cpu/numbers/ppo/2']" in done.stdout


def test_gpu_benchmark_prints_a_table_of_its_results(benchmark_module: Callable[[str], ModuleType]) -> None:
    results = {
        "gpu/gpu/pixels/ppo/16": {"value": 1234},
        "gpu/gpu/pixels/ppo/1": {"value": 200},
        "gpu/cpu/pixels/sample_factory/1": {"value": 5},
        "gpu/gpu/craftax/options": {"value": 99},
    }
    table = benchmark_module("gpu").table(results, "gpu")
    assert table.splitlines()[0] == "| observation | trainer | 1 workers | 16 workers |"
    assert table.splitlines()[2:] == ["| pixels | ppo | 200 | 1,234 |", "craftax/options: 99"]
