"""Runs that end early: the language model stops, a stage fails, another process has the lock of the folder, or a file
is corrupt.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from rlgpt.errors import BudgetExceeded, RunError, TranscriptEnded
from rlgpt.llm.base import Request
from rlgpt.loop import run
from rlgpt.rl.ppo import PPO
from rlgpt.runs import Run
from rlgpt.testing.llm import FakeLLM
from story import BRIEF, BROKEN, WALK, context, reply


@pytest.mark.parametrize(
    "stop",
    [BudgetExceeded("12 calls are spent"), pytest.param(TranscriptEnded("no further reply"), marks=pytest.mark.slow)],
)
def test_run_keeps_its_best_iteration_when_the_llm_budget_or_the_recording_ends(
    tmp_path: Path, stop: Exception
) -> None:
    def stops_in_iteration_1(request: Request) -> str:
        if request.key.iteration == 1:
            raise stop
        return reply(request)

    result = run(context(tmp_path, PPO(), FakeLLM(stops_in_iteration_1), settings=BRIEF))
    assert result.stopped is stop
    assert len(result.history) == 1
    assert result.report is not None
    assert Run.open(tmp_path).record.status == "stopped"
    assert str(stop) in Run.open(tmp_path).record.reason
    resumed = run(context(tmp_path, PPO(), settings=BRIEF))
    assert len(resumed.history) == 2
    assert Run.open(tmp_path).record.status == "finished"


def test_run_continues_when_the_recording_lacks_a_repair_or_a_review(tmp_path: Path) -> None:
    """If the recording lacks the repair, the last attempt is the final one. If the recording lacks the review, the
    attempt is accepted.
    """

    def unrecorded(request: Request) -> str:
        if request.key.role == "review" or request.key.attempt == 1:
            raise TranscriptEnded("no such reply")
        if request.key.iteration:
            return reply(request).replace(BROKEN, WALK)
        return reply(request).replace('["to_row"]', "[]")

    result = run(context(tmp_path, PPO(), FakeLLM(unrecorded), settings=BRIEF))
    first, second = result.history
    assert [r.failed for r in first.rehearsals["to_row"]] == [True]
    assert first.actions == ()
    assert [(r.failed, r.review) for r in second.rehearsals["to_row"]] == [(False, None)]
    assert [a.name for a in second.actions] == ["to_row"]


def test_run_is_marked_as_stopped_when_the_llm_budget_ends_before_the_first_plan(tmp_path: Path) -> None:
    result = run(context(tmp_path, PPO(), FakeLLM({"slow": BudgetExceeded("none left")}), settings=BRIEF))
    assert result.report is None
    assert Run.open(tmp_path).record.status == "stopped"


def test_failed_run_records_its_error(tmp_path: Path) -> None:
    class Broken(PPO):
        def train(self, *_: object, **__: object) -> None:  # type: ignore[override]
            raise RuntimeError("the learner is on fire")

    with pytest.raises(RuntimeError):
        run(context(tmp_path, Broken(), settings=BRIEF))
    record = Run.open(tmp_path).record
    assert (record.status, record.reason) == ("failed", "RuntimeError: the learner is on fire")


def test_run_refuses_to_start_while_another_process_has_its_lock(tmp_path: Path) -> None:
    ctx = context(tmp_path, PPO())
    with ctx.run.lock(), pytest.raises(RunError, match="another process"):
        run(ctx)


def test_error_about_a_corrupt_stage_file_names_the_file_and_gives_advice(tmp_path: Path) -> None:
    settings = BRIEF.model_copy(update={"iterations": 1})
    run(context(tmp_path, PPO(), settings=settings))
    (tmp_path / "report.json").unlink()
    (tmp_path / "iterations/0/iteration.json").unlink()
    (tmp_path / "iterations/0/plan.json").write_text("{")
    with pytest.raises(RunError, match=r"plan\.json does not contain a valid ActionPlan.*Delete it"):
        run(context(tmp_path, PPO(), settings=settings))
