"""Renders a report as one HTML page. The page contains no script and loads nothing from other servers, and all text
from language models is escaped.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from rlgpt.domain import Iteration, Steps, Verdict, kept_attempt
from rlgpt.report import attempts, text
from rlgpt.report.figures import mean_score, metric_figures, round_result, score_name, success_range
from rlgpt.report.learned import learning_facts
from rlgpt.report.terms import HEIGHT, WIDTH, term_rows
from rlgpt.report.values import Page

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "page"

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:; base-uri 'none'; form-action 'none'"
)
"""Content Security Policy of the page. The policy prevents scripts and connections to servers even if escaping has a
fault.
"""


def render(page: Page) -> str:
    """The page as HTML."""
    return (
        _environment()
        .get_template("report.html")
        .render(page=page, policy=POLICY, style=Markup((TEMPLATES / "style.css").read_text()))
    )


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        visible=text.visible,
        highlight=text.highlight,
        count=lambda n: f"{round(n):,}" if math.isfinite(n) else "\N{EN DASH}",
        percent=lambda x: f"{100 * x:.0f} %",
        dollars=_dollars,
        data_url=lambda mp4: f"data:video/mp4;base64,{base64.b64encode(mp4).decode()}",
        trusted=Markup,
        figure=lambda x: f"{x:g}" if isinstance(x, int | float) else str(x),
    )
    environment.globals.update(attempt_state=attempts.state, attempt_title=attempts.title, fate=attempts.fate)
    environment.globals.update(kept_attempt=kept_attempt)
    environment.globals.update(diff=text.diff, shares=shares, total=total, distinct=distinct)
    environment.globals.update(success_range=success_range, round_result=round_result)
    environment.globals.update(score_name=score_name, mean_score=mean_score, metrics=lambda e: list(metric_figures(e)))
    environment.globals.update(learning=learning_facts)
    environment.globals.update(terms=term_rows, curve_width=WIDTH, curve_height=HEIGHT)
    return environment


def shares(iteration: Iteration) -> list[tuple[str, int, float]]:
    """The primitive steps of an iteration by purpose, as tuples of purpose, number of steps, and share in percent."""
    steps = iteration.steps.model_dump()
    whole = max(1, iteration.steps.total)
    return [(name, n, 100 * n / whole) for name, n in steps.items() if n]


def distinct(verdicts: Sequence[Verdict], each: int = 3) -> list[tuple[Verdict, int]]:
    """Different verdicts of the sandbox with their counts, the most frequent first; at most ``each`` verdicts for one
    action.
    """
    alike: dict[tuple[str, str, int | None, str], list[Verdict]] = {}
    for verdict in verdicts:
        alike.setdefault((verdict.action, verdict.kind, verdict.line, verdict.message), []).append(verdict)
    shown: list[tuple[Verdict, int]] = []
    for group in sorted(alike.values(), key=len, reverse=True):
        if sum(v.action == group[0].action for v, _ in shown) < each:
            shown.append((group[0], len(group)))
    return shown


def total(iterations: tuple[Iteration, ...]) -> int:
    return sum((i.steps for i in iterations), Steps()).total


def _dollars(amount: Any) -> str:
    if amount is None:
        return "unknown"
    return f"${amount:.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"
