"""A run on a task that defines a score but not success: selection, report, record and bundle use the score."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rlgpt.agents.build import build_agents
from rlgpt.agents.rendering import render_attempts
from rlgpt.llm.base import Request
from rlgpt.llm.record import Recorder
from rlgpt.loop import LoopContext, LoopSettings, Observer, Result, run
from rlgpt.options import load_bundle
from rlgpt.plugin.library import library_of
from rlgpt.report.html import render
from rlgpt.report.write import page_of, table
from rlgpt.rl.ppo import PPO
from rlgpt.runs import Run
from rlgpt.testing.llm import FakeLLM
from rlgpt.testing.scored import TASK, WalkPlugin, walk_plugin
from story import BROKEN, HYPERPARAMETERS, WALK, reply

SETTINGS = LoopSettings(budget=1200, iterations=2, repairs=1, selection_episodes=4, report_episodes=6)


class Facts(Observer):
    def __init__(self) -> None:
        self.seen: dict[str, dict[str, object]] = {}

    def finished(self, name: str, **facts: object) -> None:
        self.seen[name] = facts


def play(
    folder: Path, model: Callable[[Request], str] = reply, kind: str = "slow_fast_critic", **settings: object
) -> tuple[Result, Facts]:
    folder.mkdir(exist_ok=True)
    record = Run.create(folder, task=TASK.id, seed=0, config={})
    plugin, facts = WalkPlugin(), Facts()
    agents = build_agents(kind, Recorder(FakeLLM(model), folder / "llm.jsonl"), plugin, TASK)
    chosen = SETTINGS.model_copy(update=settings)
    library = library_of(plugin, TASK)
    context = LoopContext(
        chosen, TASK, plugin, walk_plugin, agents, PPO(), HYPERPARAMETERS, record, library, observer=facts
    )
    return run(context), facts


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Facts, Path]:
    folder = tmp_path_factory.mktemp("scored")
    return *play(folder), folder


def test_selection_and_report_use_the_score_if_the_task_defines_no_success(played: tuple[Result, Facts, Path]) -> None:
    result, facts, _ = played
    assert result.report is not None
    reported = result.report.evaluation
    assert not reported.has_success
    assert reported.mean_score is not None
    assert all(e.score == e.metrics["walked"] for e in reported.episodes)
    kept = {i.index: i.kept for i in result.history}
    assert kept[result.report.iteration].rank == max(k.rank for k in kept.values())
    assert facts.seen["report"] == {"score": reported.mean_score}
    assert "success" not in facts.seen["iteration"]
    assert all(p.score is not None for i in result.history if i.training for p in i.training.curve)


def test_run_record_and_bundle_contain_the_score_and_no_success_rate(played: tuple[Result, Facts, Path]) -> None:
    result, _, folder = played
    assert result.report is not None
    mean = result.report.evaluation.mean_score
    record = Run.open(folder).record
    assert (record.score, record.success_rate) == (mean, None)
    tested_on = load_bundle(folder / "bundle").tested_on
    assert tested_on is not None
    assert (tested_on.score, tested_on.success_rate) == (mean, None)


def test_report_page_and_table_show_score_and_metrics_and_no_success(played: tuple[Result, Facts, Path]) -> None:
    _, _, folder = played
    page = page_of([Run.open(folder)])
    text = table(page)
    assert "score (walked, cells, more is better)" in text
    assert "success" not in text
    html = render(page)
    assert "Score against primitive steps" in html
    assert "steps per success</th><th>tokens" not in html
    assert '<tr><th scope="row">row</th>' in html


def test_run_ends_after_the_first_iteration_when_the_score_reaches_its_target(tmp_path: Path) -> None:
    result, _ = play(tmp_path / "low", target_score=0.0)
    assert len(result.history) == 1
    assert result.report is not None
    assert result.report.evaluation.is_code, "code alone reached the target, so nothing was trained"


def test_iteration_without_working_code_has_an_evaluation_without_episodes_and_success(tmp_path: Path) -> None:
    def broken(request: Request) -> str:
        return reply(request).replace(WALK, BROKEN).replace('["to_row"]', "[]")

    result, _ = play(tmp_path / "none", broken, "code_only", iterations=1, repairs=0)
    assert result.report is not None
    for evaluation in (result.history[0].evaluation, result.report.evaluation):
        assert (evaluation.episodes, evaluation.has_success, evaluation.score) == ((), False, TASK.score)


WALKS = "def run():\n    for _ in range(6):\n        yield [go(direction='{}', cells=1), go(direction='{}', cells=1)]\n"
PATROLS, STANDS = WALKS.format("down", "up"), "def run():\n    for _ in range(12):\n        yield use()\n"
STOPS = "def run():\n    yield use()\n"
STANDS_TOO = STANDS + "    return\n"
NEVER = "def can_start(view):\n    return False\n\n" + STANDS


@pytest.mark.parametrize(
    ("attempts", "kept"),
    [
        ((PATROLS, STANDS), PATROLS),
        ((STANDS, PATROLS), PATROLS),
        ((PATROLS, STOPS), STOPS),
        ((PATROLS, NEVER), PATROLS),
        ((STANDS, STANDS_TOO), STANDS_TOO),
    ],
    ids=["worse", "better", "ends earlier, so scores are no evidence", "never runs", "equal, so the newest is kept"],
)
def test_best_attempt_is_kept_if_no_repair_satisfies_the_critic(
    attempts: tuple[str, str], kept: str, tmp_path: Path
) -> None:
    def answer(request: Request) -> str:
        if request.key.role == "review":
            finding = {"problem": "it walks too little", "suggestion": "walk more"}
            return json.dumps({"thoughts": "", "works": False, "findings": [finding]})
        if request.key.role == "fast":
            meta = {"thoughts": "", "doc": "Walk.", "parameters": [], "max_steps": 12}
            return f"{json.dumps(meta)}\n```python\n{attempts[request.key.attempt]}\n```"
        return reply(request)

    result, _ = play(tmp_path / "run", answer, "code_only", iterations=1)
    (iteration,) = result.history
    assert [a.source.strip() for a in iteration.actions] == [kept.strip()]
    said = render_attempts(iteration.rehearsals["to_row"], iteration.actions)
    number = attempts.index(kept) + 1
    assert ("the last one failed" if number == 2 else "the best one, number 1, is used; it failed") in said
    assert ("version 1 is used" in render(page_of([Run.open(tmp_path / "run")]))) == (number == 1)
