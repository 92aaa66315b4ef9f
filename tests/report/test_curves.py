"""Learning curves over all primitive steps of a run, and their figure as SVG and PNG."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from report_stories import iteration
from rlgpt.report import curves


def test_training_curve_begins_after_the_steps_of_earlier_rehearsals_and_evaluations() -> None:
    first = iteration(0, curve=((3000, 0.2), (9000, 0.6)))
    second = iteration(1, curve=((3000, 0.7),))
    points = curves.curve([first, second], smooth=1)
    before = 820 + 400
    assert points[:2] == [(before + 3000, 0.2), (before + 9000, pytest.approx(0.6))]
    assert points[2] == (first.steps.total, first.success_rate)
    assert points[3] == (first.steps.total + before + 3000, 0.7)
    assert points[-1] == (first.steps.total + second.steps.total, second.success_rate)
    assert [s for s, _ in points] == sorted(s for s, _ in points)


def test_learning_curve_is_smoothed_over_episodes_and_not_over_points() -> None:
    told = iteration(0, curve=((1000, 0.0), (2000, 1.0), (3000, 1.0)))
    assert [y for _, y in curves.curve([told], smooth=10)][:3] == [0.0, 0.5, 1.0]


def test_on_grid_gives_all_runs_one_axis_and_keeps_the_last_value_of_a_shorter_run() -> None:
    steps, success = curves.on_grid([[(0, 0.0), (100, 1.0)], [(50, 0.5), (200, 0.5)]], points=4)
    assert steps == pytest.approx([50, 100, 150, 200])
    assert success == pytest.approx(np.array([[0.5, 1.0, 1.0, 1.0], [0.5, 0.5, 0.5, 0.5]]))


def test_on_grid_returns_no_points_for_a_method_without_runs() -> None:
    assert curves.on_grid([[]])[0].size == 0


def test_svg_of_curves_is_valid_reproducible_and_uses_the_text_colour_of_the_page() -> None:
    methods = {
        "<script>alert(1)</script>": [[(0, 0.0), (100, 1.0)]] * 2,
        "pure code": [[(30, 0.4)], [(40, 0.5)]],
        "-": [[]],
    }
    text = curves.svg(curves.draw(methods, budget=100))
    assert text == curves.svg(curves.draw(methods, budget=100))
    root = ElementTree.fromstring(text)
    assert "width" not in root.attrib
    assert "height" not in root.attrib
    assert "currentColor" in text
    assert "#010203" not in text
    assert "<script>" not in text
    assert "&lt;script&gt;" in text


@pytest.mark.parametrize("text", ["$\\frac$", "$x^2$", "cost in $"])
def test_names_and_units_in_a_figure_are_not_read_as_formulas(text: str) -> None:
    figure = curves.svg(curves.draw({text: [[(0, 0.0), (100, 1.0)]]}, score=f"score ({text})"))
    labels = ["".join(element.itertext()) for element in ElementTree.fromstring(figure).iter() if "text" in element.tag]
    assert {text, f"score ({text})"} <= {label.strip() for label in labels}


def test_png_returns_the_bytes_of_a_png_image() -> None:
    assert curves.png(curves.draw({"a": [[(0, 0.0), (10, 1.0)]]}), dpi=40).startswith(b"\x89PNG")
