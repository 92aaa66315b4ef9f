"""Reads the current stage of a run and the run's learning curve so far. Stage and learning curve are in
``events.jsonl``, to which a run in progress appends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from rlgpt.observers.entries import FILE
from rlgpt.report import curves
from rlgpt.runs import Run
from rlgpt.view.growing import GrowingLines
from rlgpt.view.plain import plain

Axis = Literal["steps", "seconds", "dollars"]
LABELS: dict[Axis, str] = {
    "steps": curves.STEPS,
    "seconds": "time of the run's sessions, in seconds",
    "dollars": "dollars for language models",
}
USAGE_POINTS = 60
MESSAGES = 40
Point = tuple[float, float]


class Event(NamedTuple):
    """The fields of a line of ``events.jsonl`` that the live page needs."""

    kind: str
    time: float | None
    step: float
    name: str
    facts: dict[str, Any]
    numbers: dict[str, float]
    text: str


class Progress:
    """Reads the progress of one run."""

    def __init__(self, run: Run) -> None:
        self._lines = GrowingLines(run.files, FILE, _event)

    def now(self, seconds: float = math.inf) -> dict[str, Any]:
        """The newest stage of the run with its details, the run's last messages, and the use of actions.

        :param seconds: maximal reading time. ``complete`` is False if ``events.jsonl`` could not be read to its end
            within ``seconds``.
        """
        events = self._lines.update(seconds)
        stage = next((e for e in reversed(events) if e.kind == "stage"), None)
        said = [e.text for e in events if e.kind == "message"][-MESSAGES:]
        shown = None if stage is None else {"name": stage.name, "facts": stage.facts}
        return {"stage": shown, "messages": said, "usage": _usage(events), "complete": self._lines.complete}

    def curve(self, axis: Axis) -> list[Point]:
        """The points of the run's learning curve, which are the points of the trainings and the results of the
        selection after each iteration.
        """
        measure = self.measure()
        points, seconds, dollars, before = [], 0.0, 0.0, None
        recent: list[Point] = []
        for e in self._lines.update():
            if e.kind != "session" and before is not None and e.time is not None:
                seconds += max(0.0, e.time - before)
            before = e.time if e.time is not None else before
            dollars = e.numbers.get("llm/dollars", dollars)
            at = {"steps": e.step, "seconds": seconds, "dollars": dollars}[axis]
            episodes = e.numbers.get("train/episodes", 1.0)
            if (value := e.numbers.get(f"train/{measure}")) is not None and episodes > 0:
                recent.append((episodes, value))
                points.append((at, curves.newest(recent)))
            if (value := e.numbers.get(f"selection/{measure}")) is not None:
                points.append((at, value))
                recent = []
        return points

    def measure(self) -> Literal["success", "score"]:
        """The quantity that the learning curve shows, which is the success rate, or the score if the task defines no
        success.
        """
        names = {name for e in self._lines.update() for name in e.numbers}
        return "score" if "train/score" in names and "selection/success" not in names else "success"


def _usage(events: Sequence[Event]) -> list[dict[str, Any]]:
    """The share of decisions for each action over the training, at evenly spaced points."""
    prefix = "train/usage/"
    points = [e for e in events if "train/episodes" in e.numbers]
    every = max(1, len(points) // USAGE_POINTS)
    return [
        {"step": e.step, "shares": {k.removeprefix(prefix): v for k, v in e.numbers.items() if k.startswith(prefix)}}
        for e in points[::-1][::every][::-1]
    ]


def _event(line: Any) -> Event | None:
    """Read an event from a line of ``events.jsonl``; None if the line contains no valid event. The run may be the work
    of a stranger, so ``line`` can be any JSON value.
    """
    if not isinstance(line, dict) or line.get("kind") in ("configuration", "table"):
        return None
    numbers, facts, step = line.get("numbers"), line.get("facts"), line.get("step")
    known = numbers.items() if isinstance(numbers, dict) else ()
    return Event(
        kind=str(line.get("kind", ""))[:20],
        time=_time(line.get("time")),
        step=float(step) if isinstance(step, int | float) and 0 <= step < 1e15 else 0.0,
        name=plain(str(line.get("name", "")), 60),
        facts=plain(facts, 200) if isinstance(facts, dict) else {},
        numbers={plain(str(k), 100): float(v) for k, v in known if curves.is_number(v)},
        text=plain(str(line.get("text", "")), 500),
    )


def _time(value: Any) -> float | None:
    try:
        return datetime.fromisoformat(value).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
