"""The interface of observers. An observer receives the events of a run and cannot change the run."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from rlgpt.domain import CurvePoint, Evaluation
from rlgpt.llm.budget import Spending
from rlgpt.runs import Run

REASON = 200
"""Maximal number of characters of a reason that observers get."""


def outcome(evaluation: Evaluation) -> dict[str, float]:
    """The results of an evaluation for observers, with the keys ``success`` and ``score`` (if the task has them)."""
    facts = {"success": evaluation.success_rate} if evaluation.has_success else {}
    score = evaluation.mean_score
    return facts if score is None else {**facts, "score": score}


def reason(why: str) -> dict[str, str]:
    """The beginning of the text ``why`` in one line for observers, with the key ``why``; empty if there is no text."""
    line = " ".join(why.split())
    return {"why": line if len(line) <= REASON else f"{line[: REASON - 3]}..."} if line else {}


class Observer:
    """Receives the events of a run. The methods of this class do nothing; a subclass overrides the methods that it
    needs.

    An observer is a context manager. The run enters the observer's context before its first event, and leaves the
    context after its last event.
    """

    def begins(self, run: Run) -> None:
        """Receive the beginning of the run, or of a resumed run. The observer may read ``run`` until the observer's
        context is left. The observer may write only to files that no stage of the run uses.
        """

    def stage(self, name: str, **facts: Any) -> None:
        """Receive the beginning of a stage.

        :param name: the name of the stage, which is ``plan``, ``write``, ``rehearse``, ``review``, ``halving``,
            ``setup``, ``code``, ``train``, ``select``, ``critique``, ``report`` or ``video``.
        :param facts: facts about the stage, for example ``iteration`` (the index of the iteration) and ``sub_action``
            (the name of the sub-action). For the stage ``train``, ``facts`` has ``budget`` (the primitive steps of the
            training) and ``start`` (the primitive steps of the run before the training).
        """

    def finished(self, name: str, **facts: Any) -> None:
        """Receive the end of a stage. Either the stage was executed now, or its result was read from the run folder.
        ``facts`` has the results of the stage, for example ``success``.
        """

    def training(self, point: CurvePoint, budget: int) -> None:
        """Receive a new point of the learning curve. ``budget`` is the budget of the training in primitive steps."""

    def spent(self, spending: Spending) -> None:
        """Receive the cost of the language models since the run began. ``spent`` is called after every reply of a
        language model.
        """

    def message(self, text: str) -> None:
        """Receive one line of text for the user."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None
