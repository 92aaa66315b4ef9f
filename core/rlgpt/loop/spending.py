"""Primitive steps that a run has spent: every one of them, through kills."""

from __future__ import annotations

from typing import Literal

from rlgpt.agents.base import History
from rlgpt.domain import Evaluation, Rehearsal, Steps, TrainingRecord
from rlgpt.errors import RunError
from rlgpt.files import read_model
from rlgpt.rl.monitor import OnStep
from rlgpt.rl.step_counter import STEPS_FILE, StepCounter
from rlgpt.runs import Run

Purpose = Literal["rehearsal", "code", "selection"]

_CELLS: dict[Purpose, int] = {"rehearsal": 0, "code": 1, "selection": 2}


class RunStepCounter:
    """Counts each step outside training when it is taken; a training counts in its own folder.

    What it holds beyond the stages that were finished was spent in stages that were cut short.

    :raises RunError: a finished stage of a run that has no ledger yet (one of an earlier version) cannot be read.
    """

    def __init__(self, run: Run) -> None:
        path = run.folder / STEPS_FILE
        history = () if path.exists() else run.iterations()
        before = spent(history) + finished_stages(run, len(history))
        self._ledger = StepCounter(path, len(_CELLS))
        if not self._ledger.total:
            for purpose, cell in _CELLS.items():
                self._ledger.add(cell, getattr(before, purpose))

    def counting(self, purpose: Purpose) -> OnStep:
        """Sees every primitive step of a stage."""
        return self._ledger.counting(_CELLS[purpose])

    @property
    def total(self) -> int:
        """Of all purposes, so far."""
        return self._ledger.total

    def bill(self, history: History, finished: Steps) -> Steps:
        """The steps of the iteration after ``history`` so far: ``finished`` stages, and what was lost meanwhile."""
        known = spent(history) + finished
        lost = max(0, self._ledger.total - (known.total - known.training))
        return finished.model_copy(update={"lost": lost})


def spent(history: History) -> Steps:
    """Of all finished iterations."""
    return sum((i.steps for i in history), Steps())


def finished_stages(run: Run, index: int) -> Steps:
    """Of the finished stages of iteration ``index``, which is not finished; none where it never began.

    :raises RunError: a stage's file cannot be read.
    """
    here = run.folder / "iterations" / str(index)

    def steps(kind: type[Rehearsal] | type[Evaluation] | type[TrainingRecord], pattern: str) -> int:
        values = (read_model(path, kind, error=RunError, limit=256 << 20) for path in here.glob(pattern))
        return sum(v.steps if isinstance(v, Rehearsal) else v.primitive_steps for v in values)

    return Steps(
        rehearsal=steps(Rehearsal, "actions/*/*.json"),
        code=steps(Evaluation, "code.json"),
        training=steps(TrainingRecord, "training.json"),
        selection=steps(Evaluation, "evaluation.json"),
    )
