"""Observers: objects that receive the events of a run and cannot change it."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from rlgpt.domain import CurvePoint, Evaluation
from rlgpt.llm.budget import Spending
from rlgpt.runs import Run


def outcome(evaluation: Evaluation) -> dict[str, float]:
    """The results of an evaluation for observers: ``success`` and ``score``, if the task has them."""
    facts = {"success": evaluation.success_rate} if evaluation.has_success else {}
    score = evaluation.mean_score
    return facts if score is None else {**facts, "score": score}


class Observer:
    """Receives the events of a run. The methods of this class do nothing; a subclass overrides the methods that it
    needs.

    An observer is a context manager: a run enters it before its first event and leaves it after its last one.
    """

    def begins(self, run: Run) -> None:
        """Receive the beginning of the run, or of its continuation. An observer may read ``run`` until the observer is
        left, and may write only to files that no stage uses.
        """

    def stage(self, name: str, **facts: Any) -> None:
        """Receive the beginning of a stage.

        :param name: ``plan``, ``write``, ``rehearse``, ``review``, ``setup``, ``code``, ``train``, ``select``,
            ``critique`` or ``report``.
        :param facts: what the stage is about, for example ``iteration`` (its index) and ``sub_action`` (its name). The
            stage ``train`` has ``budget``, and ``start``: the primitive steps of the run before this training.
        """

    def finished(self, name: str, **facts: Any) -> None:
        """Receive the end of a stage, which was played now or read from disk. ``facts`` are its results, for example
        ``success``.
        """

    def training(self, point: CurvePoint, budget: int) -> None:
        """Receive a new point of the learning curve. ``budget`` is the budget of this training in primitive steps."""

    def spent(self, spending: Spending) -> None:
        """Receive the cost of the language models since the run began. Called after every reply."""

    def message(self, text: str) -> None:
        """Receive one line of text for the user."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None
