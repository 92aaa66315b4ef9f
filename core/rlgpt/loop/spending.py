"""Counts the primitive steps that a run has spent. The count is exact even if the process was killed."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Literal

import gymnasium

from rlgpt.agents.base import History
from rlgpt.domain import Evaluation, FunctionRehearsal, Rehearsal, Steps, TrainingRecord
from rlgpt.errors import StopRequested
from rlgpt.loop.code import Tried
from rlgpt.loop.selection import Block
from rlgpt.options import OnStep
from rlgpt.rl.starts import Reached
from rlgpt.rl.step_counter import STEPS_FILE, StepCounter
from rlgpt.runs import Run

Purpose = Literal["rehearsal", "code", "selection"]

TELL_SECONDS = 2.0
"""Minimal time in seconds between two updates of the run's record while a stage counts steps."""

_CELLS: dict[Purpose, int] = {"rehearsal": 0, "code": 1, "selection": 2}


class RunStepCounter:
    """Counts each primitive step outside trainings when the step is taken. A training counts its primitive steps in its
    own folder.

    Counted steps that belong to no finished stage were spent in stages that a kill or an error ended.

    :raises RunError: the file ``steps.bin`` is a link, or it is missing and a finished stage cannot be read.
    :raises TrainerError: ``steps.bin`` is damaged.
    """

    def __init__(self, run: Run) -> None:
        history = () if run.files.exists(STEPS_FILE) else run.iterations()
        before = spent(history) + finished_stages(run, len(history))
        self._counter = StepCounter(run.folder / STEPS_FILE, len(_CELLS))
        if not self._counter.total:
            for purpose, cell in _CELLS.items():
                self._counter.add(cell, getattr(before, purpose))
        self._run, self._last_update = run, time.monotonic()
        self.follow(run.record.steps)

    def follow(self, steps: Steps) -> None:
        """Begin to update the run's record.

        :param steps: the primitive steps of the run so far, for all purposes. Steps that are taken after this call are
            added to ``steps``.
        """
        self._known, self._cells_known, self._training = steps, self._counter.cells, 0

    def counting(self, purpose: Purpose) -> OnStep:
        """Return a function that a stage calls at every primitive step. The function counts the step, and updates the
        run's record if the last update was at least :data:`TELL_SECONDS` ago.
        """
        count = self._counter.counting(_CELLS[purpose])

        def counted(env: gymnasium.Env[Any, Any], step: int) -> None:
            count(env, step)
            self.update()

        return counted

    def add(self, purpose: Purpose, steps: int) -> None:
        """Count the primitive steps of a job that another process executed. After the caller has stored the result of
        the job, it calls :meth:`update`.
        """
        self._counter.add(_CELLS[purpose], steps)

    def trained(self, steps: int) -> None:
        """Set the number of primitive steps that the training in progress has taken since this process began."""
        self._training = steps
        self.update()

    def tell(self) -> None:
        """Write the numbers of primitive steps so far into the run's record."""
        taken = dict(zip(_CELLS, map(int.__sub__, self._counter.cells, self._cells_known), strict=False))
        self._run.update(steps=self._known + Steps(training=self._training, **taken))
        self._last_update = time.monotonic()

    def update(self) -> None:
        """Update the run's record if the last update was at least :data:`TELL_SECONDS` ago.

        :raises StopRequested: somebody has requested a stop of the run.
        """
        if time.monotonic() - self._last_update >= TELL_SECONDS:
            self.tell()
            if self._run.stop_requested:
                self._run.forget_stop()
                raise StopRequested

    @property
    def counted(self) -> Steps:
        """Numbers of primitive steps of the run so far, by purpose."""
        return Steps(**dict(zip(_CELLS, self._counter.cells, strict=False)))

    @property
    def total(self) -> int:
        """Number of primitive steps of the run so far, for all purposes together."""
        return self._counter.total

    def bill(self, history: History, finished: Steps) -> Steps:
        """The primitive steps so far of the iteration after ``history``. Primitive steps in stages that a kill or an
        error ended are included as ``lost``.

        :param finished: the primitive steps of the finished stages of the iteration.
        """
        known = spent(history) + finished
        lost = max(0, self._counter.total - (known.total - known.training))
        return finished.model_copy(update={"lost": lost})


def spent(history: History) -> Steps:
    """The primitive steps of all finished iterations together."""
    return sum((i.steps for i in history), Steps())


def finished_stages(run: Run, index: int) -> Steps:
    """The primitive steps of the finished stages of the unfinished iteration ``index``; zero if this iteration never
    began.

    :raises RunError: the stored result of a stage cannot be read.
    """
    here = f"iterations/{index}"
    code = [e for name in ("code", "confirmation") if (e := run.stage(f"{here}/{name}", Evaluation))]
    code += run.values(f"{here}/remaining", Evaluation)
    old = run.stage(f"{here}/evaluation", Evaluation)  # The file of a run that an earlier version began.
    raced = [e for block in run.values(f"{here}/race", Block) for e in block.evaluations]
    training = run.stage(f"{here}/training", TrainingRecord)
    starts = run.stage(f"{here}/starts", Reached)
    plans = [f"{here}/plans/{number}" for number in run.files.names(f"{here}/plans")]
    halving = [e for plan in plans for e in run.values(f"{plan}/rounds", Evaluation)]
    return Steps(
        rehearsal=sum(_rehearsed(run, folder) for folder in (here, *plans)) + (starts.steps if starts else 0),
        code=sum(e.primitive_steps for e in (*code, *halving, *raced) if e.mode == "code"),
        training=training.primitive_steps if training else 0,
        selection=sum(e.primitive_steps for e in (*raced, *([old] if old else [])) if e.mode != "code"),
    )


def _rehearsed(run: Run, folder: str) -> int:
    """Primitive steps of the finished rehearsals whose stages are in ``folder``. The steps of a finished attempt
    include the steps of all its candidates.
    """
    steps = sum(r.steps for r in run.stages(f"{folder}/actions", Rehearsal))
    steps += sum(r.steps for r in run.stages(f"{folder}/functions", FunctionRehearsal))
    for name in run.files.names(f"{folder}/candidates"):
        finished = {r.attempt for r in run.values(f"{folder}/actions/{name}", Rehearsal)}
        candidates = run.values(f"{folder}/candidates/{name}", Rehearsal)
        steps += sum(c.steps for c in candidates if c.attempt not in finished)
    return steps


def steps_of(
    tried: Tried,
    code: Evaluation | None = None,
    training: TrainingRecord | None = None,
    evaluations: Iterable[Evaluation] = (),
    starts: Reached | None = None,
) -> Steps:
    """The primitive steps of finished stages, by purpose.

    :param evaluations: evaluations of the policy and of tuned code. If the evaluation ``code`` is among
        ``evaluations``, its steps are counted once, as steps of code.
    """
    return tried.others + Steps(
        rehearsal=tried.steps + (starts.steps if starts else 0),
        code=code.primitive_steps if code else 0,
        training=training.primitive_steps if training else 0,
        selection=sum(e.primitive_steps for e in evaluations if e is not code),
    )
