"""Combines several observers into one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

from rlgpt.domain import CurvePoint
from rlgpt.llm.budget import Spending
from rlgpt.loop import Observer


class Several(Observer):
    """Forwards each event to every observer. An observer that raises an error is dropped; the run continues."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = list(observers)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for observer in self._observers:
                stack.enter_context(observer)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

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
            try:
                call(observer)
            except Exception as fault:  # An observer's fault must not end the run.
                self._observers.remove(observer)
                name = type(observer).__name__
                self.message(
                    f"observer {name} is dropped: {type(fault).__name__}: {' '.join(str(fault).split())[:300]}"
                )
