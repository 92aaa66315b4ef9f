"""The progress display: a line with live updates on a terminal, and lines of text for other outputs."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from rlgpt.domain import CurvePoint
from rlgpt.llm.budget import Spending
from rlgpt.observers.progress import Meter, PlainProgressReporter, RichProgressReporter, headline, progress_reporter


def point(steps: int, success: float = 0.5) -> CurvePoint:
    return CurvePoint(primitive_steps=steps, episodes=5, success=success, total_reward=0.0, decisions=steps)


@pytest.fixture
def clock() -> Iterator[int]:
    return iter(range(0, 1000, 2))


def test_progress_meter_measures_the_step_rate_from_the_first_point(clock: Iterator[int]) -> None:
    meter = Meter(lambda: next(clock))
    assert meter.rate(5000) is None
    assert meter.rate(5100) == 50
    assert meter.rate(5400) == 100
    meter.restart()
    assert meter.rate(5400) is None


def test_plain_progress_prints_a_line_at_each_tenth_of_the_budget(clock: Iterator[int]) -> None:
    out = io.StringIO()
    told = PlainProgressReporter(out, lambda: next(clock))
    told.stage("train", iteration=1, budget=1000)
    for steps in range(50, 1001, 50):
        told.training(point(steps), 1000)
    lines = out.getvalue().splitlines()
    assert lines[0] == "train: iteration 1, budget 1,000"
    assert len(lines) == 1 + 11
    assert lines[-1] == "  1,000 of 1,000 steps, 25 steps/s, success 0.50"


def test_plain_progress_reports_the_llm_spending_only_when_it_changes() -> None:
    out = io.StringIO()
    told = PlainProgressReporter(out)
    for spending in (Spending(), Spending(), Spending(calls=1, prompt_tokens=1200, dollars=0.01)):
        told.spent(spending)
    assert len(out.getvalue().splitlines()) == 2
    assert "1,200 tokens" in out.getvalue()


def test_progress_headline_names_the_stage_and_its_facts() -> None:
    assert headline("plan", {}) == "plan"
    assert headline("write", {"sub_action": "grasp", "attempt": 0, "works": False, "x": None}) == (
        "write: sub action grasp, attempt 0, works no"
    )


def test_progress_on_a_terminal_is_a_line_with_live_updates() -> None:
    from rich.console import Console

    out = io.StringIO()
    with RichProgressReporter(Console(file=out, force_terminal=True, width=140)) as told:
        told.stage("train", iteration=0)
        told.training(point(100, 0.25), 1000)
        told.spent(Spending(calls=1, prompt_tokens=7))
        told.finished("train", success=0.25)
        told.message("[bold]text, not markup[/bold]")
        told._bar.refresh()
    shown = out.getvalue()
    for words in ("train: iteration 0", "100/1,000", "success 0.25", "7 tokens", "[bold]text, not markup[/bold]"):
        assert words in shown


def test_progress_without_a_terminal_is_lines_of_text() -> None:
    assert isinstance(progress_reporter(io.StringIO()), PlainProgressReporter)
