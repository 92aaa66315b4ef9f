"""A run counts every primitive step, also in stages that failed or were interrupted."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from rlgpt.domain import Iteration, Steps
from rlgpt.errors import BudgetExceeded
from rlgpt.llm.base import Request
from rlgpt.loop import run
from rlgpt.loop.selection import Block
from rlgpt.rl.ppo import PPO
from rlgpt.rl.step_counter import STEPS_FILE, StepCounter, steps_in
from rlgpt.runs import Run
from rlgpt.testing.counting import counted
from rlgpt.testing.llm import FakeLLM
from story import SETTINGS, SHORT, context, reply

ONCE = SETTINGS.model_copy(update={"iterations": 1, "budget": 1500, "seed": 2})
"""Settings with a seed for which a rehearsal takes five steps."""


@pytest.fixture(scope="module")
def short_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run with the settings ``SHORT``."""
    folder = tmp_path_factory.mktemp("short")
    run(context(folder, PPO(), settings=SHORT))
    return folder


@pytest.fixture(scope="module")
def run_of_one_iteration(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run with the settings ``ONCE``."""
    folder = tmp_path_factory.mktemp("once")
    run(context(folder, PPO(), settings=ONCE))
    return folder


@pytest.fixture
def once(run_of_one_iteration: Path, tmp_path: Path) -> Path:
    """A copy of the run with the settings ``ONCE``, for changes."""
    return shutil.copytree(run_of_one_iteration, tmp_path / "once")


def ended(folder: Path) -> tuple[Steps, int]:
    """Return the steps in the run's record, and the number of steps that the environment counted."""
    return Run.open(folder).record.steps, counted(folder / "env_steps")


def test_run_and_environment_count_the_same_steps(short_run: Path) -> None:
    steps, taken = ended(short_run)
    assert steps.total == taken
    assert steps.lost == 0
    assert min(steps.rehearsal, steps.code, steps.training, steps.selection) > 0
    assert steps == sum((i.steps for i in Run.open(short_run).iterations()), Steps())


def judged(iteration: Iteration) -> int:
    """Return the primitive steps of the policy's evaluations."""
    return sum(e.primitive_steps for e in (iteration.evaluation, *iteration.rivals))


def test_episode_filmed_for_the_critic_is_counted(tmp_path: Path, short_run: Path) -> None:
    blind = Run.open(short_run).iterations()[0]
    result = run(context(tmp_path / "seeing", PPO(), FakeLLM(reply, supports_vision=True), settings=SHORT))
    steps, taken = ended(tmp_path / "seeing")
    assert steps.total == taken <= SHORT.budget
    assert steps.lost == 0
    assert steps == sum((i.steps for i in result.history), Steps())
    first, last = result.history
    looked_at = first.evaluation.episodes[0].primitive_steps
    assert first.steps.selection == judged(first) + looked_at
    assert last.steps.selection == judged(last), "the last iteration has no critique"
    assert blind.steps.selection == judged(blind)


def test_episode_filmed_without_a_critique_counts_as_lost(tmp_path: Path) -> None:
    def silent(request: Request) -> str | Exception:
        return BudgetExceeded("none left") if request.key.role == "critic" else reply(request)

    stopped = run(context(tmp_path, PPO(), FakeLLM(silent, supports_vision=True), settings=SHORT))
    assert isinstance(stopped.stopped, BudgetExceeded)
    steps, taken = ended(tmp_path)
    assert steps.total == taken
    assert steps.lost == stopped.history[0].evaluation.episodes[0].primitive_steps

    run(context(tmp_path, PPO(), FakeLLM(reply, supports_vision=True), settings=SHORT))
    after, taken = ended(tmp_path)
    assert after.total == taken
    assert after.lost == steps.lost


def stage_of(folder: Path) -> str:
    """Return the name of the unfinished stage of the first iteration."""
    here = folder / "iterations" / "0"
    stages = {"code": "code", "training": "training", "selection": "iteration"}
    return next(stage for stage, file in stages.items() if not (here / f"{file}.json").exists())


@pytest.mark.parametrize(
    ("at", "stage"),
    [
        pytest.param(4, "code", marks=pytest.mark.slow),
        pytest.param(60, "code", marks=pytest.mark.slow),
        (500, "training"),
        (1250, "selection"),
    ],
)
def test_failed_run_counts_the_unfinished_stage_and_resumes(at: int, stage: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the simulator failed"):
        run(context(tmp_path, PPO(), settings=ONCE, at=at))
    assert stage_of(tmp_path) == stage
    steps, taken = ended(tmp_path)
    assert Run.open(tmp_path).record.status == "failed"
    assert steps.total == taken == at
    assert (steps.lost > 0) == (stage != "training"), "a resumed training loses no steps"

    run(context(tmp_path, PPO(), settings=ONCE))
    after, taken = ended(tmp_path)
    assert after.total == taken > at
    assert after.lost == steps.lost
    assert Run.open(tmp_path).record.status == "finished"


def test_steps_of_a_repeated_stage_are_counted_twice(once: Path) -> None:
    here = once / "iterations" / "0"
    (here / "iteration.json").unlink()
    blocks = [Block.model_validate_json(path.read_text()) for path in sorted((here / "race").iterdir())]
    (here / "race" / "0.json").unlink()
    repeated = sum(e.primitive_steps for e in blocks[0].evaluations)
    before, _ = ended(once)
    run(context(once, PPO(), settings=ONCE))
    steps, taken = ended(once)
    assert steps.total == taken == before.total + repeated
    assert steps.lost == repeated > 0


def test_lost_steps_reduce_the_remaining_budget_of_a_run(tmp_path: Path, once: Path) -> None:
    """After lost steps the next training gets fewer steps. If no steps remain, no further iteration begins."""
    (free,) = Run.open(once).iterations()
    (tmp_path / "dear").mkdir()
    ctx = context(tmp_path / "dear", PPO(), settings=ONCE)
    with StepCounter(ctx.run.folder / STEPS_FILE, 3) as counter:
        counter.add(0, 600)
    dear = run(ctx).history[0]
    assert dear.steps.lost == 600
    assert free.training is not None
    assert dear.training is not None
    assert dear.training.primitive_steps <= free.training.primitive_steps - 500

    with StepCounter(once / STEPS_FILE, 3) as counter:
        counter.add(2, 10_000)
    more = run(context(once, PPO(), settings=SETTINGS))
    assert len(more.history) == 1
    assert Run.open(once).record.steps.total == free.steps.total + 10_000


def test_run_without_a_step_file_starts_counting_from_the_steps_of_its_stages(once: Path) -> None:
    """A run of an earlier version has no step file. So the counts start from the steps that its stages recorded."""
    (once / STEPS_FILE).unlink()
    (once / "iterations" / "0" / "iteration.json").unlink()
    run(context(once, PPO(), settings=SETTINGS.model_copy(update={"seed": ONCE.seed})))
    steps, taken = ended(once)
    assert steps.lost == 0
    assert steps.total == taken
    assert steps_in(once / STEPS_FILE) == steps.total - steps.training


def test_corrupt_step_file_stops_the_run_and_keeps_its_counts(once: Path) -> None:
    before, _ = ended(once)
    (once / STEPS_FILE).write_bytes(b"abc")
    with pytest.raises(Exception, match="not a count of steps"):
        run(context(once, PPO()))
    assert ended(once)[0] == before
