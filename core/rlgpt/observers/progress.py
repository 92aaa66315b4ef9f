"""Shows the progress of a run as a live line on a terminal, and otherwise as lines of text."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TextIO

from rlgpt.domain import CurvePoint
from rlgpt.llm.budget import Spending
from rlgpt.loop import Observer
from rlgpt.secrets import redact
from rlgpt.terminal import say, visible


class Meter:
    """Meter measures the speed of a training in primitive steps per second. The speed is measured from the first point
    of the learning curve on, because the step count of a resumed training does not start at zero.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start: tuple[float, int] | None = None

    def restart(self) -> None:
        self._start = None

    def rate(self, steps: int) -> float | None:
        """Primitive steps per second since the first call after :meth:`restart`; None in that first call.

        :param steps: number of primitive steps of the training so far.
        """
        now = self._clock()
        if self._start is None or steps < self._start[1]:
            self._start = (now, steps)
            return None
        seconds = now - self._start[0]
        return (steps - self._start[1]) / seconds if seconds > 0 else None


def headline(name: str, facts: dict[str, Any]) -> str:
    """The title of a stage as text, with the name of the stage and its facts (iteration, action, attempt)."""
    parts = [f"{key.replace('_', ' ')} {_figure(value)}" for key, value in facts.items() if value is not None]
    return f"{name}: {', '.join(parts)}" if parts else name


class PlainProgressReporter(Observer):
    """PlainProgressReporter shows the progress of a run as lines of text, for logs. A training gets one line of
    progress for each tenth of its budget.
    """

    def __init__(self, out: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._out = sys.stderr if out is None else out
        self._meter = Meter(clock)
        self._tenths = -1
        self._bill = ""

    def stage(self, name: str, **facts: Any) -> None:
        self._meter.restart()
        self._tenths = -1
        self._write(headline(name, facts))

    def finished(self, name: str, **facts: Any) -> None:
        if facts:
            self._write(f"  {headline(name, facts)}")

    def training(self, point: CurvePoint, budget: int) -> None:
        rate = self._meter.rate(point.primitive_steps)
        tenths = 10 * point.primitive_steps // max(budget, 1)
        if tenths > self._tenths:
            self._tenths = tenths
            self._write(f"  {point.primitive_steps:,} of {budget:,} steps{_rate(rate)}, {_result(point)}")

    def spent(self, spending: Spending) -> None:
        bill = str(spending)
        if bill != self._bill:
            self._bill = bill
            self._write(f"  {bill}")

    def message(self, text: str) -> None:
        self._write(text)

    def _write(self, text: str) -> None:
        say(text, self._out)


class RichProgressReporter(Observer):
    """RichProgressReporter shows the progress of a run as one live line with stage, progress bar, steps per second,
    success and cost so far. The titles and results of the stages, and the messages, stay above the live line.
    """

    def __init__(self, console: Any) -> None:
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        self._console = console
        self._meter = Meter()
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[figures]}", markup=False),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._task = self._bar.add_task("start", total=None, figures="")
        self._figures = {"training": "", "cost": ""}

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def stage(self, name: str, **facts: Any) -> None:
        self._meter.restart()
        text = headline(name, facts)
        self._console.print(visible(redact(text)), markup=False, highlight=False)
        self._figures["training"] = ""
        self._bar.reset(self._task, total=None, description=text, figures=self._line())

    def finished(self, name: str, **facts: Any) -> None:
        if facts:
            self._console.print(f"  {headline(name, facts)}", markup=False, highlight=False)

    def training(self, point: CurvePoint, budget: int) -> None:
        rate = self._meter.rate(point.primitive_steps)
        self._figures["training"] = f"{point.primitive_steps:,}/{budget:,}{_rate(rate)}, {_result(point)}"
        self._bar.update(self._task, total=budget, completed=point.primitive_steps, figures=self._line())

    def spent(self, spending: Spending) -> None:
        self._figures["cost"] = str(spending)
        self._bar.update(self._task, figures=self._line())

    def message(self, text: str) -> None:
        self._console.print(visible(redact(text)), markup=False, highlight=False)

    def _line(self) -> str:
        return "  ".join(figure for figure in self._figures.values() if figure)


def _figure(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else _words(value)


def _words(value: Any) -> str:
    """Untrusted text as one line without control characters."""
    return " ".join(visible(redact(str(value))).split())


def _result(point: CurvePoint) -> str:
    """Success and score of a point of the learning curve, as text. For a task with a score, the success is shown only
    if an episode succeeded.
    """
    parts = [f"success {point.success:.2f}"] if point.success or point.score is None else []
    return ", ".join([*parts, *([f"score {point.score:.4g}"] if point.score is not None else [])])


def _rate(rate: float | None) -> str:
    return "" if rate is None else f", {rate:,.0f} steps/s"


def progress_reporter(out: TextIO | None = None) -> Observer:
    """The progress reporter that writes to the stream ``out``, by default to standard error. The reporter shows a live
    line if ``out`` is a terminal, and lines of text otherwise.
    """
    stream = sys.stderr if out is None else out
    if not stream.isatty():
        return PlainProgressReporter(stream)
    from rich.console import Console

    return RichProgressReporter(Console(file=stream))
