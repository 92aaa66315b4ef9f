"""``rlgpt design``."""

import inspect
import io
import json
from pathlib import Path
from typing import Any

import gymnasium
import pytest
import rlgpt
from rlgpt.cli.commands.design import action
from rlgpt.cli.main import main, parse
from rlgpt.domain import Bundle, Provenance
from rlgpt.errors import ConfigError
from rlgpt.loop import LoopSettings
from rlgpt.loop.progress import PlainProgressReporter
from words import speaker

GOAL = "Hold the pole upright."


def test_it_replays_what_design_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, docs = "def run():\n    yield act(action='action_1')\n", tmp_path / "docs.md"
    docs.write_text("A cart with a pole.")
    rlgpt.design(
        "CartPole-v1",
        GOAL,
        speaker(source, parameters=False),
        docs=docs.read_text(),
        success=1,
        folder=tmp_path / "recorded",
        progress=PlainProgressReporter(io.StringIO()),
        report_episodes=2,
    )
    told = ["--goal", GOAL, "--docs", str(docs), "--success", "1", "--folder", str(tmp_path / "run")]
    transcript = str(tmp_path / "recorded" / "transcript.jsonl")
    assert main(["design", "CartPole-v1", "--llm", transcript, *told]) == 0
    assert capsys.readouterr().out == "1 coded actions, success 1.00 over 50 episodes\n"
    assert (tmp_path / "run" / "bundle" / "actions" / "go.py").is_file()
    assert main(["report", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    assert main(["resume", str(tmp_path / "run")]) == 0
    assert capsys.readouterr().out == "1 coded actions, success 1.00 over 50 episodes\n"
    assert main(["evaluate", str(tmp_path / "run"), "--episodes", "2"]) == 0
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    del record["config"]["design"]["call"]["idle"]  # runs that are older than this argument
    (tmp_path / "run" / "run.json").write_text(json.dumps(record))
    assert main(["evaluate", str(tmp_path / "run"), "--episodes", "2"]) == 0
    assert "success 1.00" in capsys.readouterr().out
    assert main(["resume", str(tmp_path / "run"), "goal=other"]) == 2
    assert "unknown setting of a run of design() 'goal'" in capsys.readouterr().err
    assert main(["resume", str(tmp_path / "run"), "report_episodes=3"]) == 0
    assert capsys.readouterr().out == "1 coded actions, success 1.00 over 3 episodes\n"
    assert main(["resume", str(tmp_path / "recorded")]) == 2
    assert "was an object of its caller's" in capsys.readouterr().err
    assert main(["evaluate", str(tmp_path / "recorded"), "--episodes", "1"]) == 0


def test_what_a_function_made_only_its_caller_goes_on_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def pole() -> gymnasium.Env[Any, Any]:
        return gymnasium.make("CartPole-v1")

    small: dict[str, Any] = {"horizon": 20, "budget": 200, "selection_episodes": 1, "report_episodes": 1}
    quiet = PlainProgressReporter(io.StringIO())
    rlgpt.design(
        pole, GOAL, None, agents="rl_only", folder=tmp_path, progress=quiet, hyperparameters={"num_envs": 1}, **small
    )
    for command in ("evaluate", "resume"):
        assert main([command, str(tmp_path)]) == 2
        assert "this run is one of design(): only what called it" in capsys.readouterr().err


def test_a_key_that_is_missing_is_said_in_the_words_of_design(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    told = ["--goal", GOAL, "--llm", "openai/gpt-4o", "--folder", str(tmp_path / "run")]
    assert main(["design", "CartPole-v1", *told]) == 2
    said = capsys.readouterr().err
    assert "OPENAI_API_KEY" in said
    assert "--agents rl_only" in said
    assert "llm.key_env" not in said
    assert "llm=replay" not in said
    assert not (tmp_path / "run").exists()


def test_what_it_is_told_goes_to_design(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def design(*args: Any, **more: Any) -> Bundle:
        seen.update(more, args=args)
        tested = Provenance(task="gymnasium/cartpole-v1", success_rate=1.0, episodes=2)
        return Bundle(actions=(), tested_on=tested)

    monkeypatch.setattr(rlgpt, "design", design)
    meanings = {"x": "position of the cart, m", "v": "m/s", "angle": "rad", "spin": "rad/s"}
    (tmp_path / "seen.json").write_text(json.dumps(meanings))
    told = ["--labels", "left, right", "--observations", str(tmp_path / "seen.json"), "--horizon", "90"]
    told += ["--idle", "right"]
    told += ["--iterations", "1", "--agents", "rl_only", "--trainer", "sample_factory", "--success", "80"]
    told += ["--sandbox", "view_bytes=4000", "--sandbox", "yields=9"]
    assert main(["design", "CartPole-v1", "--goal", GOAL, *told]) == 0
    assert seen.pop("args") == ("CartPole-v1", GOAL, None)
    expected = {"labels": ["left", "right"], "observations": meanings, "horizon": 90, "iterations": 1, "idle": "right"}
    expected |= {"agents": "rl_only", "trainer": "sample_factory", "success": 80.0}
    expected |= {"budgets": {"view_bytes": "4000", "yields": "9"}}
    assert {key: seen[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("given", "labels", "taken"),
    [
        ("right", None, "right"),
        ("1", None, 1),
        ("1", ["0", "1"], "1"),
        ("[0.5, 0]", None, [0.5, 0]),
        ('{"arm": [0]}', None, {"arm": [0]}),
        (None, ["left"], None),
    ],
)
def test_an_idle_action_is_a_label_or_json(given: str | None, labels: list[str] | None, taken: Any) -> None:
    assert action(given, labels) == taken


def test_an_idle_action_that_is_no_json_is_said() -> None:
    with pytest.raises(ConfigError, match=r"--idle \[0, 1: this is no JSON .*Give a label"):
        action("[0, 1", None)


def test_what_it_offers_is_what_design_takes() -> None:
    """No option of the command line without an argument of design(), and none with another default."""
    offered = vars(parse(["design", "CartPole-v1", "--goal", GOAL]))
    taken = {name: p.default for name, p in inspect.signature(rlgpt.design).parameters.items()}
    taken |= {name: field.default for name, field in LoopSettings.model_fields.items()}
    for name in (
        "labels",
        "observations",
        "idle",
        "success",
        "horizon",
        "budget",
        "trainer",
        "agents",
        "seed",
        "iterations",
    ):
        assert offered[name] == taken[name], name


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["CartPole-v1", "--llm", "nowhere.jsonl"], "there is no transcript 'nowhere.jsonl'"),
        (["CartPole-v9", "--llm", "fake/model"], "make_env() raised"),
        (["no_such_world:Arm-v0", "--llm", "fake/model"], "start with PYTHONPATH=. in the folder of its module"),
        (["CartPole-v1", "--llm", "fake/model", "--docs", "nowhere.md"], "there is no such file"),
        (["CartPole-v1"], "llm is None; give a model's name"),
        (["CartPole-v1", "--agents", "foo"], "unknown kind of agents 'foo'"),
        (["CartPole-v1", "--agents", "rl_only", "--budget", "4000"], "leaves nothing to learn with"),
        (["CartPole-v1", "--agents", "rl_only", "--budget", "4000"], "A run begins from budget=5556"),
        (["CartPole-v1", "--api-base", "http://localhost"], "--api-base without --llm"),
        (["CartPole-v1", "--llm", "fake/model", "--labels", "left"], "2 different labels, got 1"),
        (["CartPole-v1", "--llm", "fake/model", "--labels", "nowhere.json"], "--labels nowhere.json cannot be read"),
        (["CartPole-v1", "--llm", "fake/model", "--sandbox", "yields"], "give BUDGET=VALUE"),
        (["CartPole-v1", "--llm", "fake/model", "--sandbox", "yields=many"], "budgets.yields='many' cannot be used"),
        (["CartPole-v1", "--llm", "fake/model", "--sandbox", "yield=3"], "Did you mean 'budgets.yields'"),
    ],
)
def test_what_cannot_be_used_is_said(
    arguments: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["design", *arguments, "--goal", GOAL, "--folder", str(tmp_path / "run")]) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
