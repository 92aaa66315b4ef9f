"""A run that is killed with SIGKILL at any moment and resumed has each iteration once, sends no finished request again
and counts all steps.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from rlgpt.domain import Steps
from rlgpt.runs import Run
from rlgpt.testing.counting import counted
from story import HYPERPARAMETERS, SHORT, main

STORY = Path(__file__).parent / "story.py"


def start(folder: Path, trainer: str, calls: Path, *fault: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    steps = calls.with_name(calls.name + "_steps")
    command = [sys.executable, str(STORY), str(folder), trainer, str(calls), str(steps), *fault]
    with (calls.parent / "log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)


def survive(tmp_path: Path, trainer: str, kills: int, *, longest: float, seed: int = 0) -> None:
    """Kill runs at random moments, ``kills`` times in all, and resume each until it is finished."""
    rng = random.Random(seed)
    killed = number = 0
    while killed < kills:
        folder, calls = tmp_path / f"run{number}", tmp_path / f"calls{number}"
        number += 1
        killed_here = 0
        while True:
            process = start(folder, trainer, calls)
            try:
                assert process.wait(rng.uniform(0.5, longest) if killed < kills else 300) == 0, log_of(tmp_path)
                break
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                killed += 1
                killed_here += 1
        finished(folder, calls, killed_here)


def finished(folder: Path, calls: Path, kills: int) -> None:
    run = Run.open(folder)
    assert run.record.status == "finished"
    assert [i.index for i in run.iterations()] == list(range(run.record.iterations))
    assert len(run.iterations()) == SHORT.iterations
    assert not [p for p in folder.rglob(".*.json.*") if p.suffix == ".json"], "a temporary file of a stage remains"
    recorded = [json.loads(line)["request"]["key"] for line in (folder / "llm.jsonl").read_text().splitlines()]
    again = len(recorded) - len({json.dumps(k, sort_keys=True) for k in recorded})
    assert again <= kills, "only a request whose figures changed, because a kill lost steps, may be sent again"
    asked = Counter(calls.read_text().splitlines())
    assert sum(asked.values()) - len(asked) <= kills, "only a request without a reply may be sent again"
    taken, steps = counted(calls.with_name(calls.name + "_steps")), run.record.steps
    assert 0 <= taken - steps.total <= kills * HYPERPARAMETERS.num_envs, "only an unfinished step may be uncounted"
    assert sum((i.steps for i in run.iterations()), Steps()) == steps
    for iteration in run.iterations():
        assert iteration.training is not None
        points = [p.primitive_steps for p in iteration.training.curve]
        assert points == sorted(set(points)), "a part of the training was counted twice"


@pytest.mark.slow
def test_resumed_run_counts_every_step_before_a_kill_between_two_steps(tmp_path: Path) -> None:
    """The environment kills its process between two steps, so no unfinished step is lost."""
    folder, calls = tmp_path / "run", tmp_path / "calls"
    rng = random.Random(3)
    moments = [rng.randrange(1, 6), *sorted(rng.sample(range(20, 850), 4))]
    for at in moments:
        process = start(folder, "ppo", calls, "kill", str(at))
        assert process.wait(300) == -signal.SIGKILL, log_of(tmp_path)
    assert start(folder, "ppo", calls).wait(300) == 0, log_of(tmp_path)
    record = Run.open(folder).record
    assert record.steps.total == counted(tmp_path / "calls_steps")
    assert record.steps.lost > 0
    assert record.steps.total < SHORT.budget * 1.2


def log_of(folder: Path) -> str:
    return (folder / "log").read_text()[-3000:]


def test_run_resumes_after_a_kill(tmp_path: Path) -> None:
    """The run is killed in another process, and resumes in this process, which has already imported everything."""
    folder, calls, steps = tmp_path / "run", tmp_path / "calls", tmp_path / "calls_steps"
    process = start(folder, "ppo", calls)
    while counted(steps) < SHORT.budget // 3:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    main(folder, "ppo", calls, steps)
    finished(folder, calls, 1)


@pytest.mark.slow
def test_run_resumes_after_23_kills(tmp_path: Path) -> None:
    survive(tmp_path, "ppo", 23, longest=8.0, seed=1)


@pytest.mark.slow
def test_sample_factory_run_resumes_after_2_kills(tmp_path: Path) -> None:
    pytest.importorskip("sample_factory")
    survive(tmp_path, "sample_factory", 2, longest=40.0, seed=2)
