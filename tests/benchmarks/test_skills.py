"""benchmarks/skills.py plays a sequence of tasks with and without a library, replays its recordings, and resumes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rlgpt.testing.grid import FETCH
from rlgpt.testing.llm import FakeLLM

TASKS = ("grid/key", "grid/door")
OPEN = "def can_start(view):\n    return view['holding']\n" + FETCH.replace('view["key"]', 'view["door"]')
SMALL = ("report_episodes=5", "selection_episodes=3", "iterations=1", "agents=slow_fast", "rehearsal_episodes=1")


@pytest.fixture
def bench(benchmark_module: Callable[[str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    site = tmp_path / "site"
    info = site / "grid_plugin-0.1.dist-info"
    info.mkdir(parents=True)
    (site / "grid_plugin.py").write_text("from rlgpt.testing.grid import rlgpt_plugins\n")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: grid-plugin\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text("[rlgpt]\ngrid = rlgpt.testing.grid\n")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return benchmark_module("skills")


def reply(request: Any) -> str:
    """A language model that keeps the offered skills and writes all other actions."""
    offered = "The library of skills" in request.messages[0].content
    wanted = ["fetch"] if request.key.task == "grid/key" else ["fetch", "open_door"]
    if request.key.role == "slow":
        told = {"kind": "code", "description": "as the goal says", "reason": "geometry"}
        kept = {"kind": "code", "keep": True}
        actions = [{"name": n, **(kept if offered and n == "fetch" else told)} for n in wanted]
        return json.dumps({"thoughts": "", "sub_actions": actions})
    head = {"thoughts": "", "doc": "as planned", "parameters": [], "max_steps": 30}
    return f"{json.dumps(head)}\n```python\n{OPEN if request.key.sub_action == 'open_door' else FETCH}\n```"


@pytest.mark.slow
def test_benchmark_plays_compares_replays_and_resumes_a_sequence_of_tasks(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from rlgpt.config import build

    asked = FakeLLM(reply)
    row = ["kitchen", "--tasks", ",".join(TASKS), "--recordings", str(tmp_path / "recorded"), *SMALL]
    model = ["llm.model=openai/any", "llm.api_base=http://127.0.0.1:9/v1"]
    with monkeypatch.context() as patch:
        patch.setattr(build, "_checked_llm", lambda *_: lambda *_: asked)
        assert bench.main([*row, "--out", str(tmp_path / "first"), *model]) == 0
    assert "all tasks (2): with / without: tokens " in capsys.readouterr().out
    lines = (tmp_path / "first" / "kitchen.jsonl").read_text().splitlines()
    results = {(r["arm"], r["task"]): r for r in map(json.loads, lines)}
    assert [r["success"] for r in results.values()] == [1.0] * 4
    with_, without = results["with", "grid/door"], results["without", "grid/door"]
    assert (with_["offered"], with_["kept"], without["offered"], without["kept"]) == (1, 1, 0, 0)
    assert with_["requests"] == without["requests"] - 1
    assert with_["completion_tokens"] < without["completion_tokens"]
    assert with_["steps"] < without["steps"]

    again = [*row, "--out", str(tmp_path / "again"), "--arm", "with"]
    hidden = tmp_path / "recorded" / "kitchen" / "with" / "1-door.jsonl"
    hidden.rename(tmp_path / "hidden")
    assert bench.main(again) == 1
    assert "1-door is not finished (status 2)" in capsys.readouterr().out
    (tmp_path / "hidden").rename(hidden)
    assert bench.main(again) == 0
    (replayed,) = (
        r for r in map(json.loads, (tmp_path / "again" / "kitchen.jsonl").read_text().splitlines()) if r["number"]
    )
    assert {**replayed, "versions": {}} == {**with_, "versions": {}}
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "again").rglob("llm.jsonl")}
    assert bench.main(again) == 0
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "again").rglob("llm.jsonl")} == before
    with pytest.raises(SystemExit, match="was started with"):
        bench.main([*again, "seed=3"])


def test_skills_benchmark_compares_only_tasks_finished_both_with_and_without_a_library(bench: Any) -> None:
    def result(arm: str, number: int, tokens: int, steps: int) -> dict[str, Any]:
        counts = {"requests": 3, "prompt_tokens": tokens, "completion_tokens": tokens, "steps": steps}
        return {
            "arm": arm,
            "number": number,
            "task": "a/b",
            "success": 1.0,
            **counts,
            "offered": 1,
            "kept": 1,
            "changed": 0,
        }

    rows = [result("with", n, 100, 10) for n in range(7)] + [result("without", n, 400, 40) for n in range(6)]
    text = bench.table(rows)
    assert (
        "all tasks (6): with / without: tokens 0.25, tokens of replies 0.25, steps 0.25; success 1.00 and 1.00" in text
    )
    assert "from the fifth on (2): with / without: tokens 0.25" in text
    assert "from the fifth on" not in bench.table(rows[:4])
