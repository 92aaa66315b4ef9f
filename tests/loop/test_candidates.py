"""Several candidates for an attempt at a coded action: the choice, the cost, resumed runs, executors."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rlgpt.domain import CodedAction, Decision, OtherStart, Rehearsal, Score, Steps, Trace, Verdict
from rlgpt.errors import TranscriptEnded
from rlgpt.executors.local import Processes
from rlgpt.llm.base import Request, RequestKey
from rlgpt.loop import run
from rlgpt.loop.candidates import evidence
from rlgpt.rl.ppo import PPO
from rlgpt.runs import Run
from rlgpt.testing.counting import counted
from rlgpt.testing.llm import FakeLLM
from story import BRIEF, BROKEN, WALK, context, reply

SEVERAL = BRIEF.model_copy(update={"candidates": 3, "iterations": 1})
IDLE = "def run():\n    yield observe()\n"
IDLE_AT_THE_END = "    yield observe()\n"


def versions(*sources: str | Exception) -> Callable[[Request], str | Exception]:
    """Scripted replies; the candidates of every attempt have ``sources``."""

    def answer(request: Request) -> str | Exception:
        if request.key.role != "fast":
            return reply(request)
        source = sources[request.key.candidate]
        if isinstance(source, Exception):
            return source
        meta = {"thoughts": "", "doc": "Walk to the row of the key.", "parameters": [], "max_steps": 10}
        return f"{json.dumps(meta)}\n```python\n{source}\n```"

    return answer


def play(folder: Path, *sources: str | Exception, **more: Any) -> list[RequestKey]:
    """Run or resume the run in ``folder`` with code alone, and return the requests to the fast agent."""
    llm = FakeLLM(versions(*sources))
    run(context(folder, PPO(), llm, kind="code_only", settings=SEVERAL, **more))
    return [key for key in llm.keys if key.role == "fast"]


def candidates(folder: Path) -> dict[str, Rehearsal]:
    found = (folder / "iterations" / "0" / "candidates" / "to_row").glob("*.json")
    return {path.stem: Rehearsal.model_validate_json(path.read_text()) for path in found}


def test_best_candidate_goes_on_and_the_steps_of_all_count(tmp_path: Path) -> None:
    """The second candidate walks. The third one equals it and is not rehearsed."""
    keys = play(tmp_path, BROKEN, WALK, WALK)
    (iteration,) = Run.open(tmp_path).iterations()
    (attempt,) = iteration.rehearsals["to_row"]
    assert [(key.attempt, key.candidate) for key in keys] == [(0, 0), (0, 1), (0, 2)]
    assert attempt.action.source.strip() == WALK.strip()
    assert attempt.review is not None
    both = candidates(tmp_path)
    assert set(both) == {"0-0", "0-1"}
    assert attempt.steps == sum(r.steps for r in both.values()) == iteration.steps.rehearsal
    record = Run.open(tmp_path).record
    assert record.steps == iteration.steps
    assert record.steps.total == counted(tmp_path / "env_steps")


def test_candidates_of_a_repair_repair_the_best_candidate(tmp_path: Path) -> None:
    keys = play(tmp_path, BROKEN, BROKEN, BROKEN)
    assert [(key.attempt, key.candidate) for key in keys] == [(a, c) for a in range(2) for c in range(3)]
    assert set(candidates(tmp_path)) == {"0-0", "1-0"}


def test_recording_without_further_candidates_gives_fewer_candidates(tmp_path: Path) -> None:
    play(tmp_path, BROKEN, WALK, TranscriptEnded("no further reply"))
    assert set(candidates(tmp_path)) == {"0-0", "0-1"}
    (iteration,) = Run.open(tmp_path).iterations()
    assert len(iteration.actions) == 1


def test_resumed_run_repeats_neither_requests_nor_rehearsals_of_candidates(tmp_path: Path) -> None:
    """The simulator fails at the first step of the second candidate's rehearsal."""
    sources = (WALK, WALK + IDLE_AT_THE_END, BROKEN)
    play(tmp_path / "whole", *sources)
    first = candidates(tmp_path / "whole")["0-0"].steps
    (tmp_path / "cut").mkdir()
    with pytest.raises(ValueError, match="the simulator failed"):
        play(tmp_path / "cut", *sources, at=first)
    assert set(candidates(tmp_path / "cut")) == {"0-0"}
    assert Run.open(tmp_path / "cut").record.steps == Steps(rehearsal=first) != Steps()
    assert play(tmp_path / "cut", *sources) == []
    cut, whole = (Run.open(tmp_path / name) for name in ("cut", "whole"))
    assert set(candidates(tmp_path / "cut")) == {"0-0", "0-1", "0-2"}
    assert cut.iterations() == whole.iterations()
    assert cut.record.steps == whole.record.steps
    assert cut.record.steps.total == counted(tmp_path / "cut" / "env_steps")


@pytest.mark.slow
def test_candidates_in_other_processes_have_the_same_record(tmp_path: Path) -> None:
    for name, more in (("one", {}), ("several", {"executor": functools.partial(Processes, jobs=2)})):
        play(tmp_path / name, BROKEN, WALK, IDLE, **more)
    one, several = (Run.open(tmp_path / name) for name in ("one", "several"))
    assert several.iterations() == one.iterations()
    assert several.record.steps.total == counted(tmp_path / "several" / "env_steps")


def test_run_with_one_candidate_has_no_candidates_in_its_files(tmp_path: Path) -> None:
    llm = FakeLLM(reply)
    run(context(tmp_path, PPO(), llm, kind="code_only", settings=BRIEF.model_copy(update={"iterations": 1})))
    assert not (tmp_path / "iterations" / "0" / "candidates").exists()
    assert "candidate" not in (tmp_path / "llm.jsonl").read_text()


def test_request_key_of_a_candidate_is_read_as_it_was_written() -> None:
    key = RequestKey(task="grid/key", role="fast", sub_action="to_row", candidate=2)
    assert RequestKey.model_validate_json(key.model_dump_json()) == key
    assert "candidate" not in key.model_copy(update={"candidate": 0}).model_dump_json()


ACTION = CodedAction(name="walk", doc="It walks.", source=WALK)
FAILED = Verdict(action="walk", kind="error", message="no")


def rehearsal(
    *,
    success: bool = False,
    reward: float = 0.0,
    score: float | None = None,
    verdict: Verdict | None = None,
    **more: Any,
) -> Rehearsal:
    decision = Decision(action="walk", ended=more.pop("ended", "returned"), reward=reward, duration=1)
    trace = Trace(seed=0, success=success, total_reward=reward, primitive_steps=1, decisions=(decision,), score=score)
    return Rehearsal(attempt=0, action=ACTION, steps=more.pop("steps", 1), trace=trace, verdict=verdict, **more)


def other(**more: Any) -> OtherStart:
    return OtherStart(seed=1, ended=more.pop("ended", "returned"), success=more.pop("success", False), **more)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (rehearsal(), rehearsal(success=True, verdict=FAILED)),
        (rehearsal(), rehearsal(success=True, others=(other(verdict=FAILED),))),
        (rehearsal(others=(other(verdict=FAILED),)), rehearsal(verdict=FAILED)),
        (rehearsal(), rehearsal(ended="masked", reward=9.0)),
        (rehearsal(others=(other(),)), rehearsal(reward=9.0, others=(other(ended="masked"),))),
        (rehearsal(others=(other(success=True),)), rehearsal(reward=9.0, others=(other(),))),
        (rehearsal(score=1.0), rehearsal(score=2.0, reward=9.0)),
        (rehearsal(reward=1.0), rehearsal(reward=0.5, steps=0)),
        (rehearsal(steps=3), rehearsal(steps=4)),
    ],
)
def test_evidence_orders_rehearsals(better: Rehearsal, worse: Rehearsal) -> None:
    score = Score(metric="time", maximize=False)
    assert evidence(better, score) > evidence(worse, score)
