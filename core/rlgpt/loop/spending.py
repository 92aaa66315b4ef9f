"""Primitive steps that a run has spent."""

from __future__ import annotations

from rlgpt.agents.base import History
from rlgpt.domain import Evaluation, Rehearsal, Steps, TrainingRecord
from rlgpt.errors import RunError
from rlgpt.files import read_model
from rlgpt.runs import Run


def spent(history: History) -> Steps:
    """Of all finished iterations."""
    return sum((i.steps for i in history), Steps())


def under_way(run: Run, index: int) -> Steps:
    """Of the finished stages of iteration ``index``, which was stopped before its end; none where it never began.

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
