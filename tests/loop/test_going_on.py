"""A run that is resumed after a stop at any stage, or with other settings, loses and repeats no stage and uses no
outdated result.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from rlgpt.domain import Episode, Evaluation
from rlgpt.errors import TranscriptEnded
from rlgpt.executors.local import InProcess
from rlgpt.llm.base import Request
from rlgpt.loop import run
from rlgpt.loop.kept import KeptJob
from rlgpt.loop.report import PART
from rlgpt.rl.ppo import PPO
from rlgpt.runs import Run
from rlgpt.sandbox import SandboxLimits
from rlgpt.testing.llm import FakeLLM
from story import BRIEF, BROKEN, context, reply

ONCE = BRIEF.model_copy(update={"iterations": 1, "budget": 400})


def test_run_that_stops_at_the_critique_keeps_the_iteration(tmp_path: Path) -> None:
    def no_critique(request: Request) -> str:
        if request.key.role == "critic":
            raise TranscriptEnded("no critique is recorded")
        return reply(request)

    result = run(context(tmp_path, PPO(), FakeLLM(no_critique), settings=BRIEF))
    assert result.stopped is not None
    assert [i.critique for i in result.history] == [None]
    assert result.report is not None
    assert (tmp_path / "bundle" / "bundle.json").exists()
    resumed = run(context(tmp_path, PPO(), settings=BRIEF))
    assert resumed.stopped is None
    assert [i.critique is not None for i in resumed.history] == [True, False]
    assert Run.open(tmp_path).iterations() == resumed.history


def test_run_record_counts_the_steps_of_a_stopped_iteration(tmp_path: Path) -> None:
    def stops_at_setup(request: Request) -> str:
        if request.key.role == "setup":
            raise TranscriptEnded("no setup is recorded")
        return reply(request)

    run(context(tmp_path, PPO(), FakeLLM(stops_at_setup), settings=BRIEF))
    attempts = [json.loads(p.read_text())["steps"] for p in tmp_path.glob("iterations/0/actions/*/*.json")]
    record = Run.open(tmp_path).record
    assert record.status == "stopped"
    assert record.steps.rehearsal == sum(attempts) > 0
    assert record.steps.total == record.steps.rehearsal + record.steps.code > record.steps.rehearsal


def test_run_resumed_with_more_iterations_writes_a_new_report(tmp_path: Path) -> None:
    first = run(context(tmp_path, PPO(), settings=ONCE))
    llm = FakeLLM(reply)
    more = run(context(tmp_path, PPO(), llm, settings=BRIEF.model_copy(update={"report_episodes": 3})))
    assert (len(first.history), len(more.history)) == (1, 2)
    assert llm.keys[0].role == "critic", "the next plan needs the missing critique of the last iteration"
    assert first.report is not None
    assert more.report is not None
    assert (len(first.report.evaluation.episodes), len(more.report.evaluation.episodes)) == (2, 3)
    assert more.report.iteration == Run.open(tmp_path).record.best


def test_run_stopped_in_its_report_repeats_no_finished_part_of_it(tmp_path: Path) -> None:
    played: list[tuple[int, ...]] = []

    class StopsAtTheSecondPart(InProcess[Any, Any]):
        def submit(self, job: Any) -> None:
            if isinstance(job, KeptJob):
                played.append(job.seeds)
                if len(played) == 2:
                    raise KeyboardInterrupt
            super().submit(job)

    settings = ONCE.model_copy(update={"report_episodes": PART + 2})
    ctx = context(tmp_path, PPO(), settings=settings, kind="code_only", executor=StopsAtTheSecondPart)
    with pytest.raises(KeyboardInterrupt):
        run(ctx)
    result = run(ctx)
    seeds = ctx.seeds.report(PART + 2)
    assert played == [seeds[:PART], seeds[PART:], seeds[PART:]]
    assert result.report is not None
    assert tuple(e.seed for e in result.report.evaluation.episodes) == seeds
    assert result.report.evaluation == ctx.evaluate_kept(result.history[0], seeds=seeds)


def test_resume_after_a_kill_between_iteration_and_record_repairs_the_run_record(tmp_path: Path) -> None:
    run(context(tmp_path, PPO(), settings=ONCE))
    before = Run.open(tmp_path).record
    report = (tmp_path / "report.json").stat().st_mtime_ns
    path = tmp_path / "run.json"
    stale: dict[str, Any] = {"status": "running", "best": None, "iterations": 0, "success_rate": None}
    path.write_text(json.dumps({**json.loads(path.read_text()), **stale}))
    run(context(tmp_path, PPO(), settings=ONCE))
    assert Run.open(tmp_path).record == before
    assert (tmp_path / "report.json").stat().st_mtime_ns == report, "a finished stage was repeated"


def test_rehearsal_uses_the_sandbox_limits_of_the_run(tmp_path: Path) -> None:
    def without_coded_actions(request: Request) -> str:
        return setup(request, coded_actions=[]) if request.key.role == "setup" else reply(request)

    ctx = context(
        tmp_path, PPO(), FakeLLM(without_coded_actions), settings=ONCE, sandbox_limits=SandboxLimits(source_bytes=40)
    )
    attempts = run(ctx).history[0].rehearsals["to_row"]
    assert [a.verdict.kind for a in attempts if a.verdict] == ["load", "load"]


def test_stage_file_with_an_infinite_reward_can_be_read_again(tmp_path: Path) -> None:
    here = Run.create(tmp_path, task="grid/key", seed=0, config={})
    lost = Episode(seed=0, success=False, total_reward=-math.inf, primitive_steps=1, decisions=1)
    for _ in range(2):
        found = here.once("code", Evaluation, lambda: Evaluation(mode="code", episodes=(lost,)))
    assert found.mean_reward == -math.inf


def setup(request: Request, **changes: Any) -> str:
    return json.dumps({**json.loads(reply(request)), **changes})


@pytest.mark.parametrize("kind", ["slow_fast_critic", "code_only", "untrained"])
def test_run_without_a_working_coded_action_finishes(tmp_path: Path, kind: str) -> None:
    meta = json.dumps({"thoughts": "", "doc": "Walk to the row of the key.", "parameters": [], "max_steps": 10})

    def always_broken(request: Request) -> str:
        if request.key.role == "fast":
            return f"{meta}\n```python\n{BROKEN}\n```"
        return setup(request, coded_actions=[]) if request.key.role == "setup" else reply(request)

    result = run(context(tmp_path, PPO(), FakeLLM(always_broken), kind=kind, settings=BRIEF))
    assert [i.actions for i in result.history] == [(), ()]
    assert result.report is not None
    assert result.report.evaluation.is_code == (kind == "code_only")
    assert Run.open(tmp_path).record.status == "finished"


def test_run_accepts_plans_without_code_and_setups_without_coded_actions(tmp_path: Path) -> None:
    """The second training has no warm start, because its observation differs from that of the first training."""

    def learn_then_code(request: Request) -> str:
        if request.key.role == "slow" and request.key.iteration == 0:
            part = {
                "name": "search",
                "kind": "rl",
                "description": "all of it is searched for",
                "reason": "it is simple",
            }
            return json.dumps({"thoughts": "", "sub_actions": [part]})
        if request.key.role == "setup":
            seen = ["agent", "key"] if request.key.iteration == 0 else ["agent", "key", "door", "holding"]
            return setup(request, coded_actions=[], observation_keys=seen)
        return reply(request)

    result = run(context(tmp_path, PPO(), FakeLLM(learn_then_code), settings=BRIEF))
    assert [len(i.actions) for i in result.history] == [0, 1]
    assert all(i.training is not None for i in result.history)


def test_resumed_run_keeps_a_finished_training_that_the_new_settings_would_skip(tmp_path: Path) -> None:
    """A kill in the stage ``race`` leaves a finished training without an iteration record. The steps spent since then
    must not change the decision to train.
    """
    before = run(context(tmp_path, PPO(), settings=ONCE))
    (tmp_path / "iterations/0/iteration.json").unlink()
    again = run(context(tmp_path, PPO(), settings=ONCE.model_copy(update={"min_decisions": 10**6})))
    assert before.history[0].training is not None
    assert again.history[0].training == before.history[0].training
    assert again.history[0].evaluation == before.history[0].evaluation
