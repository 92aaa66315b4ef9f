"""benchmarks/summary.py: the lines and the table printed for the results of a comparison."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

CODE = (0.9, 0.42, 0.84, 0.78, 0.42)
RLGPT = (0.9, 0.8, 0.84, 0.78, 0.66)

Results = dict[Any, dict[str, Any]]
Make = Callable[..., Results]


@pytest.fixture
def bench(benchmark_module: Any) -> Any:
    return SimpleNamespace(summary=benchmark_module("summary"), Cell=benchmark_module("result_table").Cell)


@pytest.fixture
def results(bench: Any) -> Make:
    """``results(task, row, success_rates, **more)``: results of the seeds 0, 1, ... A tuple in ``more``
    has a value for each seed.
    """

    def make(task: str, row: str, success_rates: tuple[float, ...], **more: Any) -> Results:
        made = {}
        for seed, success in enumerate(success_rates):
            made[bench.Cell(task, row, seed)] = {
                "seed": seed,
                "commit": "abc",
                "sampled": success,
                "greedy": None,
                "steps_per_success": 30.0 / success if success else None,
                "episodes": 50,
                "primitive_steps": 100,
                **{name: value[seed] if isinstance(value, tuple) else value for name, value in more.items()},
            }
        return made

    return make


def printed_table(
    bench: Any, capsys: pytest.CaptureFixture[str], results: Results, cells: list[Any] | None = None
) -> tuple[str, list[dict[str, str]]]:
    """Return the printed caption, and each row of the table as column -> text."""
    bench.summary.print_table(results, list(results) if cells is None else cells)
    caption, rest = capsys.readouterr().out.split("\n\n")
    split = [[cell.strip() for cell in row.strip("|").split("|")] for row in rest.splitlines()]
    assert {len(row) for row in split} == {8}
    return caption.replace("\n", " "), [dict(zip(split[0], row, strict=True)) for row in split[2:]]


def printed_lines(
    bench: Any, capsys: pytest.CaptureFixture[str], results: Results, cells: list[Any] | None = None
) -> dict[str, Any]:
    """Return the JSON lines by name."""
    lines = bench.summary.lines("kitchen", results, list(results) if cells is None else cells)
    return {line["name"]: line for line in map(json.loads, lines)}


def test_benchmark_table_prints_the_worst_seed_beside_the_interquartile_mean(
    bench: Any, results: Make, capsys: Any
) -> None:
    measured = results("kitchen/kettle", "rl_setup", (0.0, 1.0, 0.94, 1.0, 0.96))
    caption, (row,) = printed_table(bench, capsys, measured)
    assert (row["success"][:4], row["worst"], row["seeds"]) == ("0.97", "0.00", "5")
    assert "95 % bootstrap interval" in caption
    assert printed_lines(bench, capsys, measured)["kitchen/kettle/rl_setup"]["worst"] == 0.0


def test_benchmark_table_prints_a_range_instead_of_an_interval_for_fewer_than_five_seeds(
    bench: Any, results: Make, capsys: Any
) -> None:
    measured = results("kitchen/kettle", "rl", (0.1, 0.5, 0.6, 0.9))
    caption, (row,) = printed_table(bench, capsys, measured)
    assert row["success"] == "0.55 [0.10, 0.90]"
    assert "the range over the 4 seeds" in caption
    assert "95 %" not in caption
    line = printed_lines(bench, capsys, measured)["kitchen/kettle/rl"]
    assert line["range"] == [0.1, 0.9]
    assert "interval" not in line


def test_figures_of_rlgpt_are_those_of_what_its_run_keeps(bench: Any, results: Make, capsys: Any) -> None:
    measured = results("kitchen/kettle", "rlgpt", (0.1, 0.5, 0.6))
    kept = {cell: {**result, "kept": 0.9} for cell, result in measured.items()}
    _, (row,) = printed_table(bench, capsys, kept)
    assert row["success"] == "0.90 [0.90, 0.90]"
    line = printed_lines(bench, capsys, kept)["kitchen/kettle/rlgpt"]
    assert (line["value"], line["worst"]) == (0.9, 0.9)


def test_benchmark_table_prints_the_number_of_seeds_when_an_average_omits_some_seeds(
    bench: Any, results: Make, capsys: Any
) -> None:
    greedy = (None, 0.7, None, None, 0.9)
    measured = results("kitchen/kettle", "rl", (0.0, 0.2, 0.4, 0.0, 1.0), greedy=greedy)
    _, (row,) = printed_table(bench, capsys, measured)
    assert row["greedy"] == "0.80 [0.70, 0.90] (2 of 5)"
    # Every episode takes 30 steps, so 150 episodes took 4,500 steps; 80 episodes succeeded.
    assert row["steps per success"] == "56 (3 of 5)"

    none = results("kitchen/microwave", "rl", (0.0,) * 5)
    _, (row,) = printed_table(bench, capsys, none)
    assert (row["greedy"], row["steps per success"]) == ("", "none")


def test_benchmark_table_prints_no_number_of_seeds_when_an_average_is_over_all_seeds(
    bench: Any, results: Make, capsys: Any
) -> None:
    measured = results("kitchen/kettle", "rl", (0.2, 0.2, 0.4, 0.2, 1.0), greedy=0.5)
    _, (row,) = printed_table(bench, capsys, measured)
    assert (row["greedy"], row["steps per success"]) == ("0.50 [0.50, 0.50]", "75")


@pytest.mark.parametrize(("row", "how"), [("code", "paired by seed"), ("rl", "unpaired")])
def test_margin_over_a_row_derived_from_rlgpt_is_paired_by_seed(
    bench: Any, results: Make, capsys: Any, row: str, how: str
) -> None:
    task = "kitchen/microwave_noisy"
    lines = printed_lines(bench, capsys, {**results(task, "rlgpt", RLGPT), **results(task, row, CODE)})
    margin = lines[f"{task}/margin"]
    assert margin["unit"] == f"success rate, rlgpt minus {row}, {how}"
    assert margin["value"] == pytest.approx(0.127, abs=5e-4)
    # A paired margin compares equal seeds, and rlgpt is never below the row `code` of the same seed. So the paired
    # interval is never below 0.
    assert (margin["interval"][0] >= 0.0) == (how == "paired by seed")


def test_each_row_except_the_variants_of_rlgpt_has_a_margin(bench: Any, results: Make, capsys: Any) -> None:
    task = "kitchen/kettle"
    low = results(task, "rl", (0.0, 0.1, 0.0, 0.2, 0.1)) | results(task, "untrained", (0.5, 0.4, 0.6, 0.5, 0.7))
    lines = printed_lines(bench, capsys, results(task, "rlgpt", RLGPT) | results(task, "rlgpt_gamma", CODE) | low)
    margins = {name.removeprefix(f"{task}/"): line for name, line in lines.items() if "margin" in name}
    assert margins.keys() == {"margin", "margin/rl", "margin/untrained"}
    assert margins["margin"]["value"] == margins["margin/untrained"]["value"] < margins["margin/rl"]["value"]
    assert margins["margin/rl"]["interval"][0] > 0


def test_margin_over_fewer_than_five_seeds_has_a_range_instead_of_an_interval(bench: Any) -> None:
    ours, theirs = {0: 1.0, 1: 0.9, 2: 0.5}, {0: 1.0, 1: 0.8, 2: 0.6}
    paired, how = bench.summary.margin(ours, theirs, derived=True)
    assert (paired.low, paired.high, how) == (pytest.approx(-0.1), pytest.approx(0.1), "paired by seed")
    unpaired, how = bench.summary.margin(ours, theirs, derived=False)
    assert (unpaired.low, unpaired.high, how) == (-0.5, pytest.approx(0.4), "unpaired")


def test_paired_margin_uses_only_the_seeds_that_both_rows_have(bench: Any) -> None:
    ours, theirs = {0: 0.1, 1: 0.5, 2: 0.9}, {1: 0.4, 2: 0.7, 3: 0.0}
    paired, _ = bench.summary.margin(ours, theirs, derived=True)
    assert (paired.low, paired.point, paired.high) == pytest.approx((0.1, 0.15, 0.2))


def test_averages_over_tasks_use_only_the_tasks_with_results_of_every_seed(
    bench: Any, results: Make, capsys: Any
) -> None:
    measured = {
        **results("kitchen/kettle", "rlgpt", (1.0,) * 5),
        **results("kitchen/kettle", "rl", (0.8,) * 5),
        **results("kitchen/microwave", "rlgpt", (0.6,) * 5),
        **results("kitchen/microwave", "rl", (0.2, 0.2, 0.2, 0.2, 0.0)),
        **results("kitchen/microwave", "rlgpt_gamma", (0.5,) * 5),
        **results("kitchen/hinge", "rlgpt", (0.1,)),
        **results("kitchen/hinge", "rl", (0.0,)),
    }
    missing = [bench.Cell("kitchen/hinge", row, seed) for row in ("rlgpt", "rl") for seed in range(1, 5)]
    cells = [*measured, *missing]
    lines = {k: v for k, v in printed_lines(bench, capsys, measured, cells).items() if k.startswith("kitchen/all/")}
    assert set(lines) == {"kitchen/all/rlgpt", "kitchen/all/rl"}
    ours, theirs = lines["kitchen/all/rlgpt"], lines["kitchen/all/rl"]
    assert ours["tasks"] == theirs["tasks"] == ["kitchen/kettle", "kitchen/microwave"]
    # Seeds are resampled within their task, so differences between tasks do not widen the interval.
    assert (ours["value"], ours["interval"], ours["mean"], ours["worst"]) == (0.8, [0.8, 0.8], 0.8, 0.6)
    assert theirs["interval"][0] < theirs["value"] <= theirs["interval"][1]
    assert theirs["worst"] == 0.0

    caption, rows = printed_table(bench, capsys, measured, cells)
    assert "*2 tasks* (kettle, microwave)" in caption
    assert [(row["method"], row["worst"], row["seeds"]) for row in rows if row["task"] == "*2 tasks*"] == [
        ("`rlgpt`", "0.60", "5 each"),
        ("`rl`", "0.00", "5 each"),
    ]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"trainer": ("ppo",) * 4 + ("sample_factory",)}, "trainer ppo (4 results) and sample_factory (1 results)."),
        ({"budget": (1000,) * 3 + (2000,) * 2}, "budget 1000 (3 results) and 2000 (2 results)."),
    ],
)
def test_benchmark_table_and_lines_name_the_settings_that_differ_between_results(
    bench: Any, results: Make, capsys: Any, settings: dict[str, Any], said: str
) -> None:
    measured = results("kitchen/kettle", "rl", (0.5,) * 5, **settings)
    warning = f"Not all cells were measured with the same settings: {said}"
    assert printed_table(bench, capsys, measured)[0].endswith(warning)
    list(bench.summary.lines("kitchen", measured, list(measured)))
    assert capsys.readouterr().err.strip() == warning


def test_benchmark_table_does_not_warn_when_tasks_have_different_budgets(
    bench: Any, results: Make, capsys: Any
) -> None:
    measured = results("kitchen/kettle", "rl", (0.5,) * 5, budget=1000) | results(
        "kitchen/hinge", "rl", (0.5,), budget=2
    )
    assert "alike" not in printed_table(bench, capsys, measured)[0]
