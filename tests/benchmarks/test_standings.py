"""benchmarks/standings.py: what is told of a contest's results."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
CODE = (0.9, 0.42, 0.84, 0.78, 0.42)
RLGPT = (0.9, 0.8, 0.84, 0.78, 0.66)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return SimpleNamespace(**{name: importlib.import_module(name) for name in ("cells", "standings")})


@pytest.fixture
def kept(bench: Any, tmp_path: Path) -> Any:
    """``kept(task, row, successes, **more)``: results of seeds 0, 1, ...; ``more`` is of each, a tuple by seed."""

    def keep(task: str, row: str, successes: tuple[float, ...], **more: Any) -> list[Any]:
        cells = [bench.cells.Cell(task, row, seed) for seed in range(len(successes))]
        for cell, success in zip(cells, successes, strict=True):
            of_each = {k: v[cell.seed] if isinstance(v, tuple) else v for k, v in more.items()}
            steps = 30.0 / success if success else None
            told = {"sampled": success, "greedy": None, "steps_per_success": steps, "episodes": 50}
            bench.cells.save(cell, tmp_path, {**told, "primitive_steps": 100, **of_each}, commit="abc")
        return cells

    return keep


def printed(bench: Any, capsys: pytest.CaptureFixture[str], folder: Path, cells: list[Any]) -> tuple[str, list[Any]]:
    """The caption and the rows of the table, each a list of its cells."""
    bench.standings.table(folder, cells)
    caption, rest = capsys.readouterr().out.split("\n\n")
    head, rule, *rows = rest.splitlines()
    split = [[cell.strip() for cell in row.strip("|").split("|")] for row in (head, rule, *rows)]
    assert {len(row) for row in split} == {8}
    return caption.replace("\n", " "), [dict(zip(split[0], row, strict=True)) for row in split[2:]]


def lines(bench: Any, capsys: pytest.CaptureFixture[str], folder: Path, cells: list[Any]) -> dict[str, Any]:
    bench.standings.summary("kitchen", folder, cells)
    return {line["name"]: line for line in map(json.loads, capsys.readouterr().out.splitlines())}


def test_a_dead_seed_is_seen_beside_the_iqm(bench: Any, kept: Any, tmp_path: Path, capsys: Any) -> None:
    cells = kept("kitchen/kettle", "rl_setup", (0.0, 1.0, 0.94, 1.0, 0.96))
    caption, (row,) = printed(bench, capsys, tmp_path, cells)
    assert (row["sampled"][:4], row["worst"], row["seeds"]) == ("0.97", "0.00", "5")
    assert "95 % bootstrap interval" in caption
    assert lines(bench, capsys, tmp_path, cells)["kitchen/kettle/rl_setup"]["worst"] == 0.0


def test_few_seeds_have_a_range_and_no_interval(bench: Any, kept: Any, tmp_path: Path, capsys: Any) -> None:
    cells = kept("kitchen/kettle", "rl", (0.1, 0.5, 0.6, 0.9))
    caption, (row,) = printed(bench, capsys, tmp_path, cells)
    assert row["sampled"] == "0.55 [0.10, 0.90]"
    assert "the range over the 4 seeds" in caption
    assert "95 %" not in caption
    line = lines(bench, capsys, tmp_path, cells)["kitchen/kettle/rl"]
    assert line["range"] == [0.1, 0.9]
    assert "interval" not in line


def test_averages_of_some_seeds_say_of_how_many(bench: Any, kept: Any, tmp_path: Path, capsys: Any) -> None:
    greedy = (None, 0.7, None, None, 0.9)
    cells = kept("kitchen/kettle", "rl", (0.0, 0.2, 0.4, 0.0, 1.0), greedy=greedy)
    _, (row,) = printed(bench, capsys, tmp_path, cells)
    assert row["greedy"] == "0.80 [0.70, 0.90] (2 of 5)"
    # 30 steps an episode whatever comes of it: 150 episodes took 4,500 steps and won 80
    assert row["steps per success"] == "56 (3 of 5)"

    none = kept("kitchen/microwave", "rl", (0.0,) * 5)
    _, (row,) = printed(bench, capsys, tmp_path, none)
    assert (row["greedy"], row["steps per success"]) == ("", "none")


def test_figures_of_all_seeds_say_no_more(bench: Any, kept: Any, tmp_path: Path, capsys: Any) -> None:
    cells = kept("kitchen/kettle", "rl", (0.2, 0.2, 0.4, 0.2, 1.0), greedy=0.5)
    _, (row,) = printed(bench, capsys, tmp_path, cells)
    assert (row["greedy"], row["steps per success"]) == ("0.50 [0.50, 0.50]", "75")


@pytest.mark.parametrize(("row", "how"), [("code", "paired by seed"), ("rl", "unpaired")])
def test_a_margin_is_paired_with_what_was_made_of_the_same_run(
    bench: Any, kept: Any, tmp_path: Path, capsys: Any, row: str, how: str
) -> None:
    task = "kitchen/microwave_noisy"
    found = lines(bench, capsys, tmp_path, kept(task, "rlgpt", RLGPT) + kept(task, row, CODE))
    margin = found[f"{task}/margin"]
    assert margin["unit"] == f"success rate, rlgpt minus {row}, {how}"
    assert margin["value"] == pytest.approx(0.127, abs=5e-4)
    # never below its own code: what seeds have in common is no uncertainty of the margin
    assert (margin["interval"][0] >= 0.0) == (how == "paired by seed")


def test_each_other_row_has_its_margin(bench: Any, kept: Any, tmp_path: Path, capsys: Any) -> None:
    task = "kitchen/kettle"
    low = kept(task, "rl", (0.0, 0.1, 0.0, 0.2, 0.1)) + kept(task, "untrained", (0.5, 0.4, 0.6, 0.5, 0.7))
    found = lines(bench, capsys, tmp_path, kept(task, "rlgpt", RLGPT) + kept(task, "rlgpt_gamma", CODE) + low)
    margins = {name.removeprefix(f"{task}/"): line for name, line in found.items() if "margin" in name}
    assert margins.keys() == {"margin", "margin/rl", "margin/untrained"}
    assert margins["margin"]["value"] == margins["margin/untrained"]["value"] < margins["margin/rl"]["value"]
    assert margins["margin/rl"]["interval"][0] > 0


def test_a_margin_of_few_seeds_is_a_range(bench: Any) -> None:
    ours, theirs = {0: 1.0, 1: 0.9, 2: 0.5}, {0: 1.0, 1: 0.8, 2: 0.6}
    paired, how = bench.standings.margin(ours, theirs, derived=True)
    assert (paired.low, paired.high, how) == (pytest.approx(-0.1), pytest.approx(0.1), "paired by seed")
    apart, how = bench.standings.margin(ours, theirs, derived=False)
    assert (apart.low, apart.high, how) == (-0.5, pytest.approx(0.4), "unpaired")


def test_pairs_are_of_the_seeds_that_both_have(bench: Any) -> None:
    ours, theirs = {0: 0.1, 1: 0.5, 2: 0.9}, {1: 0.4, 2: 0.7, 3: 0.0}
    paired, _ = bench.standings.margin(ours, theirs, derived=True)
    assert (paired.low, paired.point, paired.high) == pytest.approx((0.1, 0.15, 0.2))


def test_rows_are_told_over_the_tasks_that_are_whole(bench: Any, kept: Any, tmp_path: Path, capsys: Any) -> None:
    cells = [
        *kept("kitchen/kettle", "rlgpt", (1.0,) * 5),
        *kept("kitchen/kettle", "rl", (0.8,) * 5),
        *kept("kitchen/microwave", "rlgpt", (0.6,) * 5),
        *kept("kitchen/microwave", "rl", (0.2, 0.2, 0.2, 0.2, 0.0)),
        *kept("kitchen/microwave", "rlgpt_gamma", (0.5,) * 5),
        *kept("kitchen/hinge", "rlgpt", (0.1,)),
        *(bench.cells.Cell("kitchen/hinge", row, seed) for row in ("rlgpt", "rl") for seed in range(1, 5)),
        *kept("kitchen/hinge", "rl", (0.0,)),
    ]
    found = {k: v for k, v in lines(bench, capsys, tmp_path, cells).items() if k.startswith("kitchen/all/")}
    assert set(found) == {"kitchen/all/rlgpt", "kitchen/all/rl"}
    ours, theirs = found["kitchen/all/rlgpt"], found["kitchen/all/rl"]
    assert ours["tasks"] == theirs["tasks"] == ["kitchen/kettle", "kitchen/microwave"]
    # seeds are drawn within their task: tasks that differ are no uncertainty
    assert (ours["value"], ours["interval"], ours["mean"], ours["worst"]) == (0.8, [0.8, 0.8], 0.8, 0.6)
    assert theirs["interval"][0] < theirs["value"] <= theirs["interval"][1]
    assert theirs["worst"] == 0.0

    caption, rows = printed(bench, capsys, tmp_path, cells)
    assert "*2 tasks* (kettle, microwave)" in caption
    assert [(row["row"], row["worst"], row["seeds"]) for row in rows if row["task"] == "*2 tasks*"] == [
        ("`rlgpt`", "0.60", "5 each"),
        ("`rl`", "0.00", "5 each"),
    ]


def test_results_that_were_not_measured_alike_are_named(bench: Any, kept: Any, tmp_path: Path, capsys: Any) -> None:
    said = "Not measured alike: trainer ppo (4 results) and sample_factory (1 results)."
    cells = kept("kitchen/kettle", "rl", (0.5,) * 5, trainer=("ppo",) * 4 + ("sample_factory",))
    assert printed(bench, capsys, tmp_path, cells)[0].endswith(said)
    bench.standings.summary("kitchen", tmp_path, cells)
    assert capsys.readouterr().err.strip() == said

    cells = kept("kitchen/kettle", "rl", (0.5,) * 5, trainer="ppo", asked={"budget": 1000, "trainer": "ppo"})
    assert "alike" not in printed(bench, capsys, tmp_path, cells)[0]
