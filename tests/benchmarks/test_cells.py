"""benchmarks/cells.py, contest.py and rows.py: what was measured with other settings does not stand in for what is
asked."""

from __future__ import annotations

import argparse
import importlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rlgpt.testing.grid import TASKS, GridPlugin, grid_plugin

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
TASK = TASKS["grid/key"]
ASKED = {"budget": 1000, "iterations": 1, "episodes": 2, "trainer": "ppo"}
NOWHERE = "/nowhere/script.py"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return SimpleNamespace(**{name: importlib.import_module(name) for name in ("cells", "contest", "rows")})


def cells(bench: Any, *seeds: int) -> list[Any]:
    return [bench.cells.Cell(TASK.id, "rl", seed) for seed in seeds]


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ({"asked": {**ASKED, "budget": 500}}, r"budget=500 \(now 1000\)"),
        ({"asked": {**ASKED, "iterations": 2}}, r"iterations=2 \(now 1\)"),
        ({"trainer": "sample_factory", "episodes": 2}, r"trainer=sample_factory \(now ppo\)"),
        ({"trainer": "ppo", "episodes": 50}, r"episodes=50 \(now 2\)"),
    ],
)
def test_results_of_other_settings_are_refused(bench: Any, tmp_path: Path, result: dict[str, Any], said: str) -> None:
    there, open_ = cells(bench, 0, 1)
    bench.cells.save(there, tmp_path, result, commit="abc")
    with pytest.raises(SystemExit, match=f"1 of the 1 results .*{said}.*another --out, or delete"):
        bench.cells.run(NOWHERE, [there, open_], tmp_path, jobs=1, asked=ASKED)
    assert not open_.path(tmp_path).with_suffix(".log").exists()


@pytest.mark.parametrize(
    "result", [{"asked": ASKED}, {"trainer": "ppo", "episodes": 2}, {"trainer": "ppo", "episodes": 0}, {}]
)
def test_results_that_agree_or_do_not_tell_are_taken(bench: Any, tmp_path: Path, result: dict[str, Any]) -> None:
    (there,) = cells(bench, 0)
    bench.cells.save(there, tmp_path, result, commit="abc")
    before = there.path(tmp_path).read_bytes()
    assert bench.cells.run(NOWHERE, [there], tmp_path, jobs=1, asked=ASKED)
    assert there.path(tmp_path).read_bytes() == before


def test_a_cell_is_asked_with_the_settings(bench: Any, tmp_path: Path) -> None:
    (cell,) = cells(bench, 3)
    script = tmp_path / "script.py"
    script.write_text(
        f"import sys, pathlib\npathlib.Path({str(cell.path(tmp_path))!r}).write_text(repr(sys.argv[1:]))\n"
    )
    assert bench.cells.run(str(script), [cell], tmp_path, jobs=1, asked={"budget": 7, "trainer": "ppo"})
    told = ["--cell", TASK.id, "rl", "3", f"--out={tmp_path}", "--budget=7", "--trainer=ppo"]
    assert cell.path(tmp_path).read_text() == repr(told)


def test_a_cell_waits_for_what_it_needs_and_one_that_failed_holds_up_nothing(bench: Any, tmp_path: Path) -> None:
    """Each writes what is there when it begins; ``rl`` of seed 1 writes nothing."""
    made, of = [bench.cells.Cell(TASK.id, "code", seed) for seed in (0, 1)], cells(bench, 0, 1)
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, pathlib\n_, task, row, seed, out = sys.argv[1:6]\n"
        "folder = pathlib.Path(out.removeprefix('--out='), task.replace('/', '__'))\n"
        "there = sorted(str(p.relative_to(folder)) for p in folder.glob('*/*.json'))\n"
        "if (row, seed) != ('rl', '1'):\n    (folder / row / f'{seed}.json').write_text(repr(there))\n"
    )
    needs = dict(zip(made, of, strict=True))
    assert not bench.cells.run(str(script), [*made, *of], tmp_path, jobs=1, needs=needs)
    assert made[0].path(tmp_path).read_text() == "['rl/0.json']"
    assert made[1].path(tmp_path).read_text() == "['code/0.json', 'rl/0.json']"
    assert of[0].path(tmp_path).read_text() == "[]"
    assert of[1].path(tmp_path).with_suffix(".log").exists()


def test_rows_made_of_a_run_come_after_it(bench: Any) -> None:
    contest = bench.contest.Contest("grid", ("grid/a", "grid/b"), 100, variants={"rlgpt_turns": ("grid/b",)})
    every = contest.cells(contest.tasks, (*contest.rows, "rlgpt_turns"), 2)
    assert len(every) == len(set(every)) == 2 * 2 * len(contest.rows) + 2
    assert [cell.row for cell in every[:4]] == ["rlgpt"] * 4
    assert [cell.task for cell in every[-2:]] == ["grid/b"] * 2


def test_a_cell_tells_what_it_was_asked_for_and_the_commit_it_began_at(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = ["before"]
    for module in (bench.cells, bench.contest):
        monkeypatch.setattr(module, "commit", lambda: now[0])

    class Committed:
        def __init__(self, cell: Any, arguments: argparse.Namespace) -> None:
            pass

        def measure(self) -> dict[str, Any]:
            now[0] = "after"
            return {"sampled": 1.0}

    contest = bench.contest.Contest(name="grid", tasks=(TASK.id,), budget=1000, measured_by=Committed)
    given = [f"--out={tmp_path}", "--cell", TASK.id, "rl", "0", "--episodes=2"]
    monkeypatch.setattr("sys.argv", ["grid.py", *given])
    assert contest.main("grid.py") == 0
    told = json.loads((tmp_path / "grid__key" / "rl" / "0.json").read_text())
    assert told["commit"] == "before"
    assert told["asked"] == ASKED


def test_a_run_says_what_it_was_begun_with_and_goes_on_with_nothing_else(bench: Any, tmp_path: Path) -> None:
    run, asked = tmp_path / "run", {**ASKED, "commit": "abc"}
    bench.cells.begin(run, asked)
    assert bench.cells.begun(run) == asked
    (run / "checkpoint").touch()
    bench.cells.begin(run, asked)
    for other, said in (({"commit": "def"}, r"commit=abc \(now def\)"), ({"budget": 7}, r"budget=1000 \(now 7\)")):
        with pytest.raises(SystemExit, match=f"{said}. Name another --out, or delete that folder"):
            bench.cells.begin(run, {**asked, **other})
    assert bench.cells.begun(run) == asked


def test_an_older_run_goes_on_as_it_is(bench: Any, tmp_path: Path) -> None:
    (tmp_path / "run.json").touch()
    bench.cells.begin(tmp_path, ASKED)
    assert [p.name for p in tmp_path.iterdir()] == ["run.json"]
    assert bench.cells.begun(tmp_path) == {}


class Killed:
    """A trainer that ends before its first step."""

    def train(self, *args: Any, **kwargs: Any) -> Any:
        raise KeyboardInterrupt


@pytest.fixture
def grid(bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """``grid(row, **changes)``: that row of a small task at commit abc, with other settings where told."""
    monkeypatch.setattr(bench.rows, "commit", lambda: "abc")

    class Grid(bench.rows.Rows):  # type: ignore[misc, name-defined]
        def known(self) -> tuple[Any, ...]:
            return GridPlugin(), TASK, grid_plugin, ()

    def make(row: str, **changes: Any) -> Any:
        arguments = argparse.Namespace(out=tmp_path / "grid", **{**ASKED, **changes})
        made = Grid(bench.cells.Cell(TASK.id, row, 0), arguments)
        made.trainer = Killed()
        return made

    return make


def test_a_training_that_was_cut_off_knows_its_settings(bench: Any, grid: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyboardInterrupt):
        grid("rl").measure()
    assert bench.cells.begun(grid("rl").folder("rl")) == {**ASKED, "commit": "abc"}
    monkeypatch.setattr(bench.rows, "commit", lambda: "def")
    with pytest.raises(SystemExit, match=r"was begun with commit=abc \(now def\)"):
        grid("rl").measure()


@pytest.mark.parametrize(
    ("row", "of"), [("rl", "rl"), ("primitives", "primitives"), ("rlgpt", "rlgpt"), ("code", "rlgpt")]
)
def test_no_row_goes_on_with_a_run_of_other_settings(bench: Any, grid: Any, row: str, of: str) -> None:
    first = grid(row)
    bench.cells.begin(first.folder(of), {**first.asked(), "commit": "abc"})
    with pytest.raises(SystemExit, match=r"was begun with budget=1000 \(now 2000\)"):
        grid(row, budget=2000).measure()


def test_a_row_made_of_a_run_tells_the_commit_of_that_run(
    bench: Any, grid: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = grid("code")
    monkeypatch.setattr(code, "code", lambda: {"sampled": 1.0})
    assert code.measure() == {"sampled": 1.0}
    bench.cells.begin(code.folder("rlgpt"), {**code.asked(), "commit": "older"})
    assert code.measure() == {"sampled": 1.0, "run_commit": "older"}
