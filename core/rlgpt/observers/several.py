"""Combines several observers into one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

from rlgpt.domain import CurvePoint
from rlgpt.llm.budget import Spending
from rlgpt.loop import Observer
from rlgpt.runs import Run
from rlgpt.terminal import say


class Several(Observer):
    """Forwards each event to every observer. An observer that raises an error gets no further events; one message
    reports the error, and the run continues.
    """

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = list(observers)
        self._entered: list[Observer] = []

    def __enter__(self) -> Self:
        def enter(observer: Observer) -> None:
            observer.__enter__()
            self._entered.append(observer)

        self._each(enter)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        entered, self._entered = self._entered, []
        for observer in reversed(entered):
            self._call(observer, lambda o: o.__exit__(kind, error, trace))

    def begins(self, run: Run) -> None:
        self._each(lambda o: o.begins(run))

    def stage(self, name: str, **facts: Any) -> None:
        self._each(lambda o: o.stage(name, **facts))

    def finished(self, name: str, **facts: Any) -> None:
        self._each(lambda o: o.finished(name, **facts))

    def training(self, point: CurvePoint, budget: int) -> None:
        self._each(lambda o: o.training(point, budget))

    def spent(self, spending: Spending) -> None:
        self._each(lambda o: o.spent(spending))

    def message(self, text: str) -> None:
        self._each(lambda o: o.message(text))

    def _each(self, call: Callable[[Observer], None]) -> None:
        for observer in tuple(self._observers):
            self._call(observer, call)

    def _call(self, observer: Observer, call: Callable[[Observer], object]) -> None:
        try:
            call(observer)
        except Exception as fault:  # An error of an observer must not end the run.
            if observer not in self._observers:
                return  # The first error of this observer was already reported.
            self._observers.remove(observer)
            text = " ".join(str(fault).split())[:300]
            line = f"observer {type(observer).__name__} is dropped: {type(fault).__name__}: {text}"
            if self._observers:
                self.message(line)
            else:
                say(line, sys.stderr)
