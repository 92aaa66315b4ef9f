"""Draws learning curves, which show success or score against primitive steps. Each method has one learning curve, with
the confidence interval over the method's runs.
"""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlgpt.domain import Evaluation, Iteration
from rlgpt.report.stats import band
from rlgpt.terminal import visible

Curve = Sequence[tuple[float, float]]
"""The learning curve of one run: points (primitive steps since the run began, success or score) in the
order of steps. The live page also has curves over seconds and dollars.
"""

STEPS = "primitive steps since the run began"

COLOURS = ("#2f6fde", "#e0752d", "#2a9d6f", "#b4509e", "#8a7a2b", "#4aa3b8", "#c0403f")
MAX_SCORE = 1e30
"""Scores with a larger absolute value are not drawn."""
LEGEND = 30
"""Maximal number of characters in a line of the legend. A longer line would leave no room for the axes."""
_INK = "#010203"
"""Placeholder colour. In the SVG, ``currentColor`` (the text colour of the page) replaces this colour."""


def curve(iterations: Sequence[Iteration], smooth: int = 20) -> list[tuple[float, float]]:
    """The learning curve of a run over all its primitive steps. The learning curve contains the points of the trainings
    and, after each iteration, the result of the selection.

    A point of a training is a mean over at least the newest ``smooth`` episodes. The position of a point on the curve
    includes all earlier steps, also those of rehearsals and of earlier iterations, and those that were lost when a
    process was killed. The curve of a method that spends steps on rehearsals begins further to the right.
    """
    points: list[tuple[float, float]] = []
    before = 0
    for iteration in iterations:
        steps = iteration.steps
        start = before + steps.before_training
        if iteration.training is not None:
            so_far: list[tuple[float, float]] = []
            for p in iteration.training.curve:
                value = p.success if iteration.evaluation.has_success else p.score
                if p.episodes > 0 and value is not None and _is_drawable(value, iteration.evaluation):
                    so_far.append((p.episodes, value))
                    points.append((start + p.primitive_steps, newest(so_far, smooth)))
        before += steps.total
        kept = iteration.kept
        last = kept.success_rate if kept.has_success else kept.mean_score
        if last is not None and _is_drawable(last, kept):
            points.append((before, last))
    return points


def is_number(value: object) -> bool:
    """Whether a value from the run of a stranger is a number that can be drawn."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MAX_SCORE


def _is_drawable(value: float, evaluation: Evaluation) -> bool:
    """Whether a value from an untrusted run can be drawn in a figure. Sums of drawn values must be finite."""
    return 0 <= value <= 1 if evaluation.has_success else abs(value) < MAX_SCORE


def newest(points: Sequence[tuple[float, float]], episodes: int = 20) -> float:
    """The mean value over the newest points that together have at least ``episodes`` episodes.

    :param points: pairs of a number of episodes and a value, in order of time.
    """
    count, total = 0.0, 0.0
    for n, value in reversed(points):
        count += n
        total += n * value
        if count >= episodes:
            break
    return total / count


def on_grid(runs: Sequence[Curve], points: int = 120) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Interpolate the learning curves of all runs of a method on one axis of steps. On the common axis of steps, a run
    that ended early keeps its last value.

    :returns: steps ``[points]`` and success (or score) ``[runs, points]``. The axis of steps begins at the first step
        at which every run has a point, and ends at the last step of the longest run.
    """
    runs = [r for r in runs if r]
    if not runs:
        return np.zeros(0), np.zeros((0, 0))
    first = max(r[0][0] for r in runs)
    last = max(r[-1][0] for r in runs)
    grid = np.linspace(first, last, points) if last > first else np.array([float(first)])
    return grid, np.array([np.interp(grid, [float(s) for s, _ in r], [y for _, y in r]) for r in runs])


def draw(
    methods: Mapping[str, Sequence[Curve]], *, budget: int | None = None, score: str = "", axis: str = STEPS
) -> Any:
    """Draw all methods in a matplotlib figure. A method whose curve has a single point (code alone) is drawn as a mark
    at its number of steps.

    :param methods: method -> the curve of each of its runs.
    :param score: the label of the vertical axis. If the label ``score`` is empty, the axis shows success from 0 to 100
        %.
    :param axis: the label of the horizontal axis.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.4, 3.9), layout="constrained")
    axes = figure.subplots()
    for colour, (method, runs) in zip(_cycle(), methods.items(), strict=False):
        name = textwrap.fill(visible(method), LEGEND)
        steps, success = on_grid(runs)
        if not len(steps):
            continue
        middle, low, high = band(success)
        if len(steps) == 1:
            error = [[max(0.0, middle[0] - low[0])], [max(0.0, high[0] - middle[0])]]
            axes.errorbar(steps, middle, yerr=error, fmt="D", color=colour, ms=7, capsize=4, label=name, zorder=3)
        else:
            axes.plot(steps, middle, color=colour, lw=2.2, label=name, zorder=3)
            axes.fill_between(steps, low, high, color=colour, alpha=0.18, lw=0)
            axes.plot(steps[-1:], middle[-1:], "o", color=colour, ms=5, zorder=4)
    _dress(axes, budget, score, axis)
    return figure


def svg(figure: Any) -> str:
    """The figure as an ``<svg>`` element in the text colour of the page that contains the figure. Equal figures give
    equal text.
    """
    import matplotlib

    out = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "rlgpt"}):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = text[text.index("<svg") :].replace(_INK, "currentColor")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    return re.sub(
        r'<svg ([^>]*?)width="[^"]*"', r'<svg \1role="img"', re.sub(r'(<svg [^>]*?)height="[^"]*" ', r"\1", text)
    )


def png(figure: Any, dpi: int = 160) -> bytes:
    """The figure as a PNG image on a white background."""
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=dpi, facecolor="white", metadata={"Software": None})
    return out.getvalue()


def _cycle() -> Iterator[str]:
    while True:
        yield from COLOURS


def _dress(axes: Any, budget: int | None, score: str, axis: str) -> None:
    from matplotlib.ticker import FuncFormatter, PercentFormatter

    if not score:
        axes.set_ylim(-0.03, 1.05)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlim(left=0)
    if budget:
        axes.set_xlim(right=budget * 1.02)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x / 1000:g}k" if x >= 1000 else f"{x:g}"))
    axes.set_xlabel(axis, color=_INK)
    # A name or a unit may contain dollar signs, which matplotlib would read as formulas.
    axes.set_ylabel(visible(score) or "success", color=_INK, parse_math=False)
    axes.tick_params(colors=_INK, length=0)
    axes.grid(axis="y", color=_INK, alpha=0.14, lw=0.8)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(_INK)
    axes.spines["bottom"].set_alpha(0.4)
    if axes.get_legend_handles_labels()[0]:
        legend = axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), labelcolor=_INK)
        for text in legend.get_texts():
            text.set_parse_math(False)
