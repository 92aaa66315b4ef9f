"""benchmarks/sandbox.py runs and prints its figures. Their values are not tested."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rlgpt.rl.policy_env import build
from rlgpt.sandbox import Sandbox

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "sandbox.py"
SIZES = ("small", "large", "limit")
CALLS = (
    *("plain/primitive", "plain/fresh", "plain/small", "plain/large", *(f"plain/look/{size}" for size in SIZES)),
    *("crossing", "primitive", "primitive/int", "chunk", "small", "large", *(f"look/{size}" for size in SIZES)),
    *("call", "can_start", "can_start/large", "can_start/six", "fresh", "fresh/new"),
    *(f"read/{size}" for size in SIZES),
)
NAMES = {
    *(f"sandbox/calls/{name}" for name in CALLS),
    *(f"sandbox/workers/{name}" for name in ("plain", "primitive", "large", "ratio")),
    *(f"sandbox/memory/{name}" for name in ("runtime", "instance", "plain", "mapped")),
}


def lines(*arguments: str) -> dict[str, dict[str, object]]:
    done = subprocess.run([sys.executable, str(SCRIPT), "--quick", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return {line["name"]: line for line in map(json.loads, done.stdout.splitlines())}


@pytest.mark.slow
def test_quick_run_of_the_sandbox_benchmark_prints_its_figures_as_json_lines(benchmark_module: Any) -> None:
    found = lines()
    assert set(found) == NAMES
    assert all(line["unit"] and line["rows"] for line in found.values())
    for name, goal in benchmark_module("sandbox_calls").GOALS.items():
        assert found[f"sandbox/calls/{name}"]["goal"] == goal
        assert (
            0
            < float(str(found[f"sandbox/calls/{name}"]["least"]))
            <= float(str(found[f"sandbox/calls/{name}"]["value"]))
        )


@pytest.mark.slow
def test_training_with_sandboxed_and_with_unsandboxed_actions_reports_a_success_above_0_3() -> None:
    found = lines("--parts", "training")
    assert set(found) == {"sandbox/training/plain", "sandbox/training/guarded"}
    assert all(float(str(line["value"])) > 0.3 for line in found.values())


@pytest.mark.parametrize("kind", [pytest.param("plain", marks=pytest.mark.slow), "guarded"])
def test_unsandboxed_copy_of_an_action_plays_the_same_steps(
    benchmark_module: Any, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compared runs differ only in the sandbox."""
    training = benchmark_module("sandbox_training")
    names = [action.name for action in training.actions(kind)]

    def play() -> list[tuple[float, float, int, str]]:
        env = build(training.coded_spec(tmp_path / "steps", kind), seed=0)
        env.reset(seed=0)
        played = []
        for turn in range(6):
            seen, reward, _, _, info = env.step(env.form.coded(names[turn % len(names)]))
            assert "verdicts" not in info
            played.append((float(seen["obs"].sum()), reward, info["duration"], info["ended"]))
        env.close()
        return played

    in_the_sandbox = play()
    monkeypatch.setattr(Sandbox, "open", training.open_plain)
    assert play() == in_the_sandbox
    assert sum(duration for _, _, duration, _ in in_the_sandbox) > 100
