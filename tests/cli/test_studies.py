"""Experiments that are studies: their runs, what they lack, their tables, and the list of ``rlgpt experiments``."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rlgpt.config.run_config import RunConfig
from rlgpt.domain import Episode, Evaluation, Score
from rlgpt.runs import Report, Run
from rlgpt.studies.plan import changes
from rlgpt.studies.result import result_of
from rlgpt.studies.study import Cell, Study
from rlgpt.studies.tables import render

Call = Callable[..., tuple[int, str, str]]

PLUGIN = """
from pathlib import Path
from rlgpt.plugin import hookimpl
from rlgpt.testing.grid import GridPlugin

class Recorded(GridPlugin):
    def transcripts(self, task):
        return sorted((Path(__file__).parent / "recordings" / task.id.partition("/")[2]).glob("*.jsonl"))

@hookimpl
def rlgpt_plugins():
    return [Recorded()]

@hookimpl
def rlgpt_config():
    return "pkg://grid_conf"
"""
SMALL = """# @package _global_
budget: 100
iterations: 1
repairs: 1
selection_episodes: 1
confirmation_episodes: 0
rehearsal_episodes: 1
report_episodes: 2
video: false
observers: {progress: null, jsonl: null}
hyperparameters: {num_envs: 1, num_steps: 16, minibatch_size: 16, update_epochs: 1, hidden: [8]}
"""
DOORS = """
study:
  title: Keys and doors
  about: How to get a key.
  tasks:
    key: {task: grid/key}
    slippery key: {task: grid/key, task_settings: {slip: 0.5}}
    elsewhere: {task: nowhere/else}
  methods:
    RL: {agents: {name: rl_only}}
    RL-GPT: {agents: {name: slow_fast_critic}}
  seeds: 2
  paper:
    key: {Plan9: 0.25, RL-GPT: 0.75}
  source: From a dream.
"""
MODELS = """
study:
  title: Models
  about: Which model is best.
  tasks:
    key: {task: grid/key}
  methods:
    recorded: {llm: {kind: replay, model: null}}
    repeating: {llm: {kind: repeating, model: null}}
  each_model: {llm: {_target_: study_llm.scripted, model: "{model}"}}
  seeds: 1
  tables: [success, iterations, models]
"""


@pytest.fixture
def studies(site: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the grid plugin, with two studies among its experiments."""
    for name in [name for name in sys.modules if name.startswith(("grid_plugin", "grid_conf"))]:
        monkeypatch.delitem(sys.modules, name)  # That of another test has the folder of that test.
    (site / "grid_plugin.py").write_text(PLUGIN)
    conf = site / "grid_conf"
    (conf / "experiment" / "paper").mkdir(parents=True)
    for folder in (conf, conf / "experiment", conf / "experiment" / "paper"):
        (folder / "__init__.py").touch()
    (conf / "experiment" / "paper" / "doors.yaml").write_text(SMALL + DOORS)
    (conf / "experiment" / "paper" / "minds.yaml").write_text(SMALL + MODELS)
    return site


def record(rlgpt: Call, site: Path) -> None:
    """Make a recording of ``grid/key`` by the scripted model and put it into the plugin."""
    target = "llm._target_=study_llm.scripted"
    status, _, err = rlgpt("train", "task=grid/key", "experiment=smoke", "rehearsal_episodes=1", target, "folder=made")
    assert status == 0, err
    folder = site / "recordings" / "key"
    folder.mkdir(parents=True)
    (folder / "0.jsonl").write_bytes(Path("made/transcript.jsonl").read_bytes())


def row(text: str, label: str) -> list[str]:
    """The cells of the first line of a Markdown table that begins with ``label``."""
    line = next(line for line in text.splitlines() if re.match(rf"\| {re.escape(label)} +\|", line))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_study_does_the_runs_that_are_possible_and_says_how_to_make_the_others(studies: Path, rlgpt: Call) -> None:
    status, out, err = rlgpt("train", "experiment=paper/doors")
    assert status == 0, err
    assert "12 runs: 0 done, 4 to do, 8 not possible" in err
    assert "the plugin 'nowhere' is not installed" in err
    command = "rlgpt train experiment=paper/doors 'study.only=key/RL-GPT' llm=record llm.model=PROVIDER/MODEL"
    assert f"there is no recording of slow and fast agent for grid/key. Make it with your model: {command}" in err
    assert {p.parent.relative_to("runs/paper/doors").as_posix() for p in Path("runs").rglob("run.json")} == {
        f"{task}/RL/{seed}" for task in ("key", "slippery_key") for seed in (0, 1)
    }
    table = Path("runs/paper/doors/tables.md").read_text()
    assert table in out
    assert row(table, "task") == ["task", "paper: Plan9", "paper: RL-GPT", "RL", "RL-GPT"]
    assert row(table, "key")[1:3] == ["0.25", "0.75"]
    assert re.match(r"\d\.\d\d \[", row(table, "key")[3])
    assert row(table, "key")[4] == "no recording"
    assert row(table, "elsewhere")[1:] == ["-", "-", "not installed", "not installed"]
    assert "They are not a comparison.\n\nFrom a dream." in table
    assert Run.open(Path("runs/paper/doors/slippery_key/RL/1")).record.config["task_settings"] == {"slip": 0.5}


def test_study_is_resumed_and_refuses_runs_with_other_settings(studies: Path, rlgpt: Call) -> None:
    fixed = ("skills=lib", "setup.gamma=0.97", "setup.horizon=30")
    one = ("train", "experiment=paper/doors", "study.only=key/RL", "study.seeds=1", *fixed)
    assert rlgpt(*one)[0] == 0
    folder = Path("runs/paper/doors/key/RL/0")
    before = (folder / "run.json").read_bytes()
    (folder / "report.json").unlink()
    status, _, err = rlgpt(*one)
    assert status == 0
    assert "1 to do" in err
    assert (folder / "report.json").exists()
    status, _, err = rlgpt(*one, "study.seeds=2")
    assert status == 0
    assert "1 done, 1 to do" in err
    assert (folder / "run.json").read_bytes() == before
    status, _, err = rlgpt(*one, "budget=120")
    assert status == 2
    assert "budget=100 (now 120)" in err
    status, _, err = rlgpt(*one[:-1])
    assert status == 2
    assert "was made with setup.horizon=30 (now None)." in err
    assert rlgpt(*one, "budget=120", "study.folder=other")[0] == 0
    assert Path("other/key/RL/0/report.json").exists()


@pytest.mark.parametrize(
    ("before", "now", "differ"),
    [
        ({"gamma": 0.97, "horizon": 50}, {"gamma": 0.97}, ["setup.horizon=50 (now None)"]),
        ({"gamma": 0.97}, {}, ["setup.gamma=0.97 (now None)"]),
        ({}, {"gamma": 0.97}, ["setup.gamma=None (now 0.97)"]),
        ({"reward_weights": {}}, {}, []),
    ],
)
def test_settings_that_only_the_run_or_only_the_command_has_differ(
    tmp_path: Path, before: dict[str, Any], now: dict[str, Any], differ: list[str]
) -> None:
    first, second = (RunConfig(task="grid/key", setup=setup).plain() for setup in (before, now))
    run = Run.create(tmp_path, task="grid/key", seed=0, config=first)
    assert changes(run, second) == differ
    assert changes(run, first) == []


@pytest.mark.parametrize(
    ("scores", "shown"),
    [
        ((1.0, 3.0), "2.00 [1.00, 3.00]"),
        ((1.0, math.nan), "1.00 (1 of 2 seeds)"),
        ((math.inf, 3.0), "3.00 (1 of 2 seeds)"),
        ((math.nan, math.inf), "- (0 of 2 seeds)"),
    ],
)
def test_table_of_a_study_counts_only_runs_with_a_finite_score(
    tmp_path: Path, scores: tuple[float, ...], shown: str
) -> None:
    study = Study(title="", about="", tasks={"far": {}}, methods={"RL": {}}, seeds=2, tables=("success", "models"))
    results = {}
    for seed, score in enumerate(scores):
        run = Run.create(tmp_path / str(seed), task="a/b", seed=seed, config={})
        episode = Episode(seed=0, success=False, total_reward=0.0, primitive_steps=1, decisions=1, score=score)
        told = Evaluation(mode="sampled", episodes=(episode,), has_success=False, score=Score())
        (run.folder / "report.json").write_text(Report(iteration=0, evaluation=told).model_dump_json())
        results[Cell("far", "RL", seed)] = result_of(run)
    table = render(study, results, {})
    assert row(table, "far")[1] == shown
    assert row(table.partition("## Models")[2], "RL")[1] == shown.partition(" (")[0]


def test_study_refuses_overrides_of_what_it_sets_itself(studies: Path, rlgpt: Call) -> None:
    for override, words in {
        "agents=rl_only": "sets agents itself",
        "task=grid/door": "sets task itself",
        "seed=3": "study.seeds=N",
        "budget=60,70": "several values",
        "study.only=lock/*": "unknown pattern 'lock/*' of study.only",
        "study.models=[a/b]": "does not compare models",
        "study.sedes=3": "'study.seeds'",
    }.items():
        status, _, err = rlgpt("train", "-m", "experiment=paper/doors", override)
        assert status == 2, override
        assert words in err, override
    assert not Path("runs").exists()
    status, _, err = rlgpt("train", "task=grid/key", "study.seeds=3")
    assert status == 2
    assert "tasks" in err


def test_models_are_compared_by_repairs_dead_loops_and_tokens(studies: Path, rlgpt: Call) -> None:
    record(rlgpt, studies)
    status, _, err = rlgpt("train", "experiment=paper/minds", "study.models=[maker/thinker]")
    assert status == 0, err
    assert "3 runs: 0 done, 3 to do" in err
    table = Path("runs/paper/minds/tables.md").read_text()
    assert row(table, "task") == ["task", "recorded", "repeating", "maker/thinker"]
    assert row(table, "key") == ["key", "1.00", "1.00", "1.00"]
    models = table.partition("## Models")[2]
    assert row(models, "recorded")[1:4] == ["1.00", "1.00 (1 of 1)", "0.00 (0 of 1)"]
    assert row(models, "repeating")[1:4] == ["1.00", "0.00 (0 of 1)", "1.00 (1 of 1)"]
    assert row(models, "maker/thinker")[1:4] == ["1.00", "1.00 (1 of 1)", "0.00 (0 of 1)"]
    parts = models.partition("iteration and role")[2]
    assert [[cell.strip() for cell in line.split("|")[2:6]] for line in parts.splitlines() if "| recorded" in line] == [
        ["0", "fast", "3.0", "360"],
        ["0", "review", "1.0", "120"],
        ["0", "slow", "1.0", "120"],
    ]
    assert "replied: maker/thinker, scripted." in table


def test_experiments_are_listed_with_recordings_cost_and_state(studies: Path, rlgpt: Call) -> None:
    record(rlgpt, studies)
    assert rlgpt("train", "experiment=paper/minds", "study.only=*/recorded")[0] == 0
    status, out, err = rlgpt("experiments")
    assert status == 0, err
    doors = out.partition("paper/doors: Keys and doors")[2].partition("\n\n")[0]
    assert "recordings of slow and fast agent: key: 1; slippery key: 1" in doors
    assert "the plugin 'nowhere' is not installed" in doors
    assert "cost: not measured" in doors
    assert "state: 0 of 12 runs done in runs/paper/doors, 8 can be done now" in doors
    assert "state: 1 of 2 runs done" in out.partition("paper/minds")[2]
    assert "experiment=smoke" in out.splitlines()[-1]
    status, out, _ = rlgpt("experiments", "paper/minds")
    assert status == 0
    assert row(out.partition("## Models")[2], "recorded")[6] == "1"
    status, _, err = rlgpt("experiments", "paper/mind")
    assert status == 2
    assert "'paper/minds'" in err
