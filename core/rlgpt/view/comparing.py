"""Computes the learning curves of one or several runs, and the settings in which runs differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, Literal

from rlgpt.observers.entries import settings
from rlgpt.planner.stored import graph_curve
from rlgpt.report import curves
from rlgpt.report.curves import Curve
from rlgpt.report.methods import methods
from rlgpt.report.stats import spread
from rlgpt.runs import Run
from rlgpt.view.plain import plain
from rlgpt.view.progress import LABELS, Axis, Progress

INK = {"light": "#1c2230", "dark": "#e6e8ee"}
RUNS = 200
"""Maximal number of runs that are compared."""
LINES = 24
"""Maximal number of lines in a figure."""
_NOT_COMPARED = ("folder",)
_DRAWING = Lock()
"""Matplotlib draws one figure at a time."""

Shown = tuple[Run, Progress, str]
"""A run that the page compares with others: the run, its progress and its name."""


def differences(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The settings in which the runs differ. An entry contains the name of a setting and the setting's value in each
    run. The value of a setting is a dash if the run has no such setting.
    """
    flat = [settings(run.record.config) for run in runs]
    keys = sorted({key for each in flat for key in each if key not in _NOT_COMPARED})
    rows = [(key, [str(each.get(key, "-")) for each in flat]) for key in keys]
    return [
        {"name": plain(key, 200), "values": [plain(v, 200) for v in values]}
        for key, values in rows
        if len(set(values)) > 1
    ]


def series(shown: Sequence[Shown], axis: Axis, by: Literal["run", "method"]) -> dict[str, list[Curve]]:
    """A dict from the label of a line in the figure to the learning curves of the runs that the line shows. Runs
    without points are left out.
    """
    drawn = {id(run): points for run, progress, _ in shown if (points := _curve(run, progress, axis))}
    names = {id(run): name for run, _, name in shown}
    runs = [run for run, _, _ in shown if id(run) in drawn]
    if by == "method":
        return {name: [drawn[id(run)] for run in group] for name, group in methods(runs).items()}
    return {names[id(run)]: [drawn[id(run)]] for run in runs[:LINES]}


def figure(lines: Mapping[str, Sequence[Curve]], axis: Axis, theme: str, score: str = "") -> bytes:
    """The figure of learning curves with the given lines, as the content of an SVG file.

    :param theme: ``light`` or ``dark``.
    :param score: the label of the figure's vertical axis for scores. If the label is empty, the vertical axis shows
        success.
    """
    if len(lines) == 1:
        lines = {"": next(iter(lines.values()))}  # A single line needs no legend.
    with _DRAWING:
        svg = curves.svg(curves.draw(lines, score=score, axis=LABELS[axis]))
    return svg.replace("currentColor", INK.get(theme, INK["light"])).encode()


def left_out(shown: Sequence[Shown], axis: Axis, by: Literal["run", "method"]) -> dict[str, Any]:
    """The names of the runs that have no curve over the axis ``axis``, and the number of runs that are left out because
    the figure has the maximal number of lines.
    """
    without = [name for run, progress, name in shown if not _curve(run, progress, axis)]
    return {
        "without": plain(without[:LINES], 200),
        "crowded": max(0, len(shown) - len(without) - LINES) if by == "run" else 0,
    }


def ends(lines: Mapping[str, Sequence[Curve]]) -> list[dict[str, Any]]:
    """The first and the last point of each learning curve as text, for people who cannot see the figure."""
    return [
        {
            "name": plain(name, 200),
            "runs": len(group),
            "points": sum(map(len, group)),
            "first": plain(group[0][0][1]),
            "last": plain(str(spread([c[-1][1] for c in group]))),
            "end": plain(max(c[-1][0] for c in group)),
        }
        for name, group in lines.items()
    ]


def _curve(run: Run, progress: Progress, axis: Axis) -> Curve:
    """The learning curve of a run, from the run's file ``events.jsonl``. A run of an earlier version of rlgpt has no
    ``events.jsonl``; its curve has only a point at the end of each iteration. For a run with a graph of sub-goals, each
    point of the curve is the success of the whole graph on the selection seeds.
    """
    if axis == "steps" and (played := graph_curve(run)):
        return played
    points: Curve = progress.curve(axis)
    return points if points or axis != "steps" else curves.curve(run.iterations())
