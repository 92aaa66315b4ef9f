"""Primitive steps that a run has spent, exact through kills."""

from __future__ import annotations

from typing import Literal

from rlgpt.agents.base import History
from rlgpt.domain import Evaluation, Rehearsal, Steps, TrainingRecord
from rlgpt.options import OnStep
from rlgpt.rl.step_counter import STEPS_FILE, StepCounter
from rlgpt.runs import Run

Purpose = Literal["rehearsal", "code", "selection"]

_CELLS: dict[Purpose, int] = {"rehearsal": 0, "code": 1, "selection": 2}


class RunStepCounter:
    """Counts each step outside training when it is taken; a training counts in its own folder.

    Steps beyond those of finished stages were spent in stages that were cut short.

    :raises RunError: ``steps.bin`` is a link, or it is missing and a finished stage cannot be read.
    :raises TrainerError: ``steps.bin`` is damaged.
    """

    def __init__(self, run: Run) -> None:
        history = () if run.files.exists(STEPS_FILE) else run.iterations()
        before = spent(history) + finished_stages(run, len(history))
        self._counter = StepCounter(run.folder / STEPS_FILE, len(_CELLS))
        if not self._counter.total:
            for purpose, cell in _CELLS.items():
                self._counter.add(cell, getattr(before, purpose))

    def counting(self, purpose: Purpose) -> OnStep:
        """Called at every primitive step of a stage."""
        return self._counter.counting(_CELLS[purpose])

    @property
    def total(self) -> int:
        """Primitive steps of all purposes so far."""
        return self._counter.total

    def bill(self, history: History, finished: Steps) -> Steps:
        """The steps so far of the iteration after ``history``: of ``finished`` stages, and lost to kills."""
        known = spent(history) + finished
        lost = max(0, self._counter.total - (known.total - known.training))
        return finished.model_copy(update={"lost": lost})


def spent(history: History) -> Steps:
    """Steps of all finished iterations."""
    return sum((i.steps for i in history), Steps())


def finished_stages(run: Run, index: int) -> Steps:
    """Steps of the finished stages of iteration ``index``, which is itself unfinished; none if it never began.

    :raises RunError: a stage's file cannot be read.
    """
    here = f"iterations/{index}"
    code, evaluation = (run.stage(f"{here}/{name}", Evaluation) for name in ("code", "evaluation"))
    training = run.stage(f"{here}/training", TrainingRecord)
    return Steps(
        rehearsal=sum(rehearsal.steps for rehearsal in run.stages(index, "actions", Rehearsal)),
        code=code.primitive_steps if code else 0,
        training=training.primitive_steps if training else 0,
        selection=evaluation.primitive_steps if evaluation else 0,
    )
