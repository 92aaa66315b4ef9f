"""How a run ends before its end: a model that stops, a failure, another process, a file that is corrupt."""

from __future__ import annotations

from pathlib import Path

import pytest
from rlgpt.errors import BudgetExceeded, RunError, TranscriptEnded
from rlgpt.llm.base import Request
from rlgpt.loop import run
from rlgpt.rl.ppo import PPO
from rlgpt.runs import Run
from rlgpt.testing.llm import FakeLLM
from story import BROKEN, SETTINGS, WALK, context, reply


@pytest.mark.parametrize("stop", [BudgetExceeded("12 calls are spent"), TranscriptEnded("no further reply")])
def test_a_model_that_stops_ends_the_run_with_the_best_so_far(tmp_path: Path, stop: Exception) -> None:
    def dries_up(request: Request) -> str:
        if request.key.iteration == 1:
            raise stop
        return reply(request)

    result = run(context(tmp_path, PPO(), FakeLLM(dries_up)))
    assert result.stopped is stop
    assert len(result.history) == 1
    assert result.report is not None
    assert Run.open(tmp_path).record.status == "stopped"
    assert str(stop) in Run.open(tmp_path).record.reason
    resumed = run(context(tmp_path, PPO()))
    assert len(resumed.history) == 2
    assert Run.open(tmp_path).record.status == "finished"


def test_a_replay_that_drifts_goes_on_without_what_was_not_recorded(tmp_path: Path) -> None:
    """A repair nobody recorded leaves the last attempt standing; a review nobody recorded lets it pass."""

    def unrecorded(request: Request) -> str:
        if request.key.role == "review" or request.key.attempt == 1:
            raise TranscriptEnded("no such reply")
        if request.key.iteration:
            return reply(request).replace(BROKEN, WALK)
        return reply(request).replace('["to_row"]', "[]")

    result = run(context(tmp_path, PPO(), FakeLLM(unrecorded)))
    first, second = result.history
    assert [r.failed for r in first.rehearsals["to_row"]] == [True]
    assert first.actions == ()
    assert [(r.failed, r.review) for r in second.rehearsals["to_row"]] == [(False, None)]
    assert [a.name for a in second.actions] == ["to_row"]


def test_a_model_that_stops_before_anything_leaves_a_run_to_resume(tmp_path: Path) -> None:
    result = run(context(tmp_path, PPO(), FakeLLM({"slow": BudgetExceeded("none left")})))
    assert result.report is None
    assert Run.open(tmp_path).record.status == "stopped"


def test_a_failure_is_recorded_with_its_cause(tmp_path: Path) -> None:
    class Broken(PPO):
        def train(self, *_: object, **__: object) -> None:  # type: ignore[override]
            raise RuntimeError("the learner is on fire")

    with pytest.raises(RuntimeError):
        run(context(tmp_path, Broken()))
    record = Run.open(tmp_path).record
    assert (record.status, record.reason) == ("failed", "RuntimeError: the learner is on fire")


def test_two_processes_cannot_work_on_one_run(tmp_path: Path) -> None:
    ctx = context(tmp_path, PPO())
    with ctx.run.lock(), pytest.raises(RunError, match="another process"):
        run(ctx)


def test_a_corrupt_stage_is_named_with_what_to_do(tmp_path: Path) -> None:
    settings = SETTINGS.model_copy(update={"iterations": 1})
    run(context(tmp_path, PPO(), settings=settings))
    (tmp_path / "report.json").unlink()
    (tmp_path / "iterations/0/iteration.json").unlink()
    (tmp_path / "iterations/0/plan.json").write_text("{")
    with pytest.raises(RunError, match=r"plan\.json is corrupt.*Delete it"):
        run(context(tmp_path, PPO(), settings=settings))
