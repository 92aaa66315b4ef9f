"""When a run trains a policy: code alone does not solve the task, and there are enough decisions to learn from."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rlgpt.domain import CodedAction, Episode, Evaluation, TrainingRecord
from rlgpt.errors import TranscriptEnded
from rlgpt.llm.base import Request
from rlgpt.loop import LoopContext, Observer, Result, Seeds, run
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.evaluation import evaluate_code
from rlgpt.rl.ppo import PPO
from rlgpt.runs import Run
from rlgpt.testing.counting import counted
from rlgpt.testing.grid import FETCH, GridPlugin
from rlgpt.testing.llm import FakeLLM
from story import HALF, SETTINGS, SHORT, TASK, context, half_solved, reply


def test_run_does_not_train_when_code_alone_solves_the_task(tmp_path: Path) -> None:
    meta = json.dumps({"thoughts": "", "doc": "Fetch it.", "parameters": [], "max_steps": 30})

    def all_code(request: Request) -> str:
        return f"{meta}\n```python\n{FETCH}\n```" if request.key.role == "fast" else reply(request)

    result = run(context(tmp_path, PPO(), FakeLLM(all_code), settings=SHORT))
    assert len(result.history) == 1
    assert result.history[0].training is None
    assert result.history[0].evaluation.mode == "code"
    assert result.report is not None
    assert result.report.evaluation.is_code
    assert result.report.evaluation.success_rate == 1.0
    assert Run.open(tmp_path).record.steps.training == 0


class NeverTrains(PPO):
    def train(self, *_: Any, **__: Any) -> TrainingRecord:
        raise AssertionError("there is nothing to train")


def test_iteration_with_too_few_decisions_leaves_its_training_steps_to_the_next_iteration(tmp_path: Path) -> None:
    """The last iteration trains with all remaining steps if these steps give a tenth of the required decisions."""
    said: list[str] = []

    class Listening(Observer):
        def message(self, text: str) -> None:
            said.append(text)

    budgets: list[int] = []

    class Noting(PPO):
        def train(self, spec: EnvSpec, **named: Any) -> TrainingRecord:
            budgets.append(named["budget"])
            return super().train(spec, **named)

    settings = SHORT.model_copy(update={"budget": 1500, "min_decisions": 1000})
    result = run(context(tmp_path, Noting(), FakeLLM(half_solved), settings=settings, observer=Listening()))
    first, second = result.history
    assert first.training is None
    assert first.evaluation == first.code_evaluation
    assert first.steps.selection == 0
    assert second.training is not None
    assert len(budgets) == 1
    assert settings.budget / 2 < budgets[0] < settings.budget
    assert any(text.startswith("no training:") and "next iteration" in text for text in said)
    few = settings.model_copy(update={"min_decisions": 10**6})
    never = run(context(tmp_path / "never", NeverTrains(), FakeLLM(half_solved), settings=few))
    assert [i.training for i in never.history] == [None, None]


@pytest.mark.parametrize("budget", [5, 1500])
def test_run_says_whether_its_budget_is_spent_and_exceeded(budget: int, tmp_path: Path) -> None:
    said: list[str] = []

    class Listening(Observer):
        def message(self, text: str) -> None:
            said.append(text)

    settings = SHORT.model_copy(update={"budget": budget, "min_decisions": 10**6})
    result = run(context(tmp_path, NeverTrains(), FakeLLM(half_solved), settings=settings, observer=Listening()))
    exceeded = sum(i.steps.total for i in result.history) > budget
    assert exceeded == (budget == 5)
    assert ("no training: the budget=5 of primitive steps is spent" in said) == exceeded
    assert any(text.startswith("no training: ") and "next iteration" in text for text in said) != exceeded
    assert any("more than its budget=5: rehearsals took" in text for text in said) == exceeded


def test_last_iteration_of_a_recording_trains_with_all_remaining_steps(tmp_path: Path) -> None:
    """The recording ends after one iteration. So this iteration trains with the steps of the missing iteration too."""

    def once(request: Request) -> str:
        if request.key.iteration:
            raise TranscriptEnded("one iteration is recorded")
        return half_solved(request)

    settings = SETTINGS.model_copy(update={"budget": 1500, "min_decisions": 1000})
    result = run(context(tmp_path, PPO(), FakeLLM(once), settings=settings))
    assert result.stopped is not None
    (iteration,) = result.history
    assert iteration.training is not None
    assert Run.open(tmp_path).iterations() == result.history
    record = Run.open(tmp_path).record
    assert record.steps.total == counted(tmp_path / "env_steps")
    assert record.steps.lost == 0


def test_iteration_that_is_repeated_as_the_last_one_plays_no_seed_twice(tmp_path: Path) -> None:
    """The steps allow only a part of the code's episodes before the recording ends, and no training at all."""

    def once(request: Request) -> str:
        if request.key.iteration:
            raise TranscriptEnded("one iteration is recorded")
        return half_solved(request)

    few = {"budget": 1200, "judging": 0.3, "min_decisions": 10**6, "selection_episodes": 10}
    result = run(context(tmp_path, NeverTrains(), FakeLLM(once), settings=SETTINGS.model_copy(update=few)))
    (iteration,) = result.history
    assert iteration.code_evaluation is not None
    seeds = [episode.seed for episode in iteration.code_evaluation.episodes]
    assert len(seeds) == len(set(seeds)) == 10
    assert Run.open(tmp_path).record.steps.total == counted(tmp_path / "env_steps")


def test_iteration_without_a_recorded_setup_is_kept_when_the_recording_ends(tmp_path: Path) -> None:
    """The recording has an iteration whose code was not trained, and ends. So there is no reply for a training's
    setup, and the run keeps the code.
    """

    def untrained(request: Request) -> str:
        if request.key.role in ("setup", "critic"):
            raise TranscriptEnded("one iteration without a training is recorded")
        return half_solved(request)

    settings = SETTINGS.model_copy(update={"budget": 1500, "min_decisions": 1000})
    result = run(context(tmp_path, NeverTrains(), FakeLLM(untrained), settings=settings))
    assert isinstance(result.stopped, TranscriptEnded)
    (iteration,) = result.history
    assert iteration.training is None
    assert iteration.evaluation == iteration.code_evaluation
    assert result.report is not None
    assert Run.open(tmp_path).iterations() == result.history
    record = Run.open(tmp_path).record
    assert (record.status, record.steps.lost) == ("stopped", 0)


def test_first_iteration_whose_setup_is_not_recorded_ends_with_its_code_and_a_resumed_run_trains_it(
    tmp_path: Path,
) -> None:
    """The recording ends before the setup of the first training. The run reports its code. When the run is resumed with
    a model that replies, the same iteration learns.
    """

    def without_setup(request: Request) -> str:
        if request.key.role == "setup":
            raise TranscriptEnded("no setup is recorded")
        return half_solved(request)

    settings = SETTINGS.model_copy(update={"iterations": 1})

    def play(answer: Callable[[Request], str]) -> Result:
        return run(context(tmp_path, PPO(), FakeLLM(answer), settings=settings))

    for _ in range(2):
        stopped = play(without_setup)
        assert isinstance(stopped.stopped, TranscriptEnded)
        (iteration,) = stopped.history
        assert iteration.training is None
        assert iteration.evaluation == iteration.code_evaluation
        assert stopped.report is not None
        assert stopped.report.evaluation.is_code
        assert Run.open(tmp_path).iterations() == stopped.history
        record = Run.open(tmp_path).record
        assert (record.status, record.steps.lost) == ("stopped", 0)
    resumed = play(half_solved)
    assert resumed.stopped is None
    (iteration,) = resumed.history
    assert iteration.training is not None
    assert Run.open(tmp_path).iterations() == resumed.history
    record = Run.open(tmp_path).record
    assert (record.status, record.steps.lost) == ("finished", 0)
    assert record.steps.total == counted(tmp_path / "env_steps")


def test_run_killed_before_the_race_of_its_last_iteration_resumes_with_the_same_result(tmp_path: Path) -> None:
    """The recording ends after one iteration, so this iteration is the last one: its race may take all steps that are
    left for judging, also after a resume.
    """

    def once(request: Request) -> str:
        if request.key.iteration:
            raise TranscriptEnded("one iteration is recorded")
        return half_solved(request)

    class Interrupting(Observer):
        def stage(self, name: str, **facts: Any) -> None:
            if name == "select":
                raise KeyboardInterrupt

    more = {"budget": 4000, "iterations": 4, "min_decisions": 1000, "selection_episodes": 12}
    settings = SETTINGS.model_copy(update=more)

    def play(folder: Path, observer: Observer) -> Any:
        return run(context(folder, PPO(), FakeLLM(once), settings=settings, observer=observer))

    whole = play(tmp_path / "whole", Observer())
    with pytest.raises(KeyboardInterrupt):
        play(tmp_path / "killed", Interrupting())
    resumed = play(tmp_path / "killed", Observer())
    (one,), (other,) = whole.history, resumed.history
    assert one.training is not None
    assert len(one.evaluation.episodes) >= 12, "a share of one of four iterations would pay for fewer"
    assert (other.evaluation, other.rivals, other.code_evaluation) == (one.evaluation, one.rivals, one.code_evaluation)
    assert resumed.report == whole.report
    record = Run.open(tmp_path / "whole").record
    assert record.steps.lost == 0, "no episode of code is played twice"
    assert record.steps.total == counted(tmp_path / "whole" / "env_steps")


def test_code_that_reaches_the_target_plays_confirmation_episodes(tmp_path: Path) -> None:
    """The first episodes of the code succeed, but its confirmation episodes fail. So the task is not solved, and the
    run trains.
    """
    seeds = Seeds(0).selection(50)
    wins = {e.seed: e.success for e in _half(seeds)}
    assert len(set(wins.values())) == 2

    class Lucky(Seeds):
        def selection(self, n: int) -> tuple[int, ...]:
            won, lost = ([s for s in seeds if wins[s] is good] for good in (True, False))
            return (*won[:3], *lost)[:n]

    class Fortunate(LoopContext):
        @property
        def seeds(self) -> Seeds:
            return Lucky(0)

    settings = SHORT.model_copy(update={"iterations": 1, "confirmation_episodes": 10, "target_success": 0.9})
    plain = context(tmp_path, PPO(), FakeLLM(half_solved), settings=settings)
    result = run(Fortunate(**{f.name: getattr(plain, f.name) for f in dataclasses.fields(plain)}))
    (iteration,) = result.history
    first = Evaluation.model_validate_json((tmp_path / "iterations/0/code.json").read_text())
    confirmation = Evaluation.model_validate_json((tmp_path / "iterations/0/confirmation.json").read_text())
    assert first.success_rate == 1
    assert [e.success for e in confirmation.episodes] == [False, False], "a second failure of 13 ends the confirmation"
    assert iteration.training is not None


def _half(seeds: tuple[int, ...]) -> tuple[Episode, ...]:
    action = CodedAction(name="to_row", doc="", source=HALF, max_steps=30)
    plugin = GridPlugin()
    spec = EnvSpec(TASK, plugin.default_setup(TASK), factory=lambda task: plugin)
    return evaluate_code(spec, (action,), seeds=seeds).episodes
