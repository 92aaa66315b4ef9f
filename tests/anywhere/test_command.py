"""``rlgpt design``."""

import io
from pathlib import Path

import pytest
import rlgpt
from rlgpt.cli.main import main
from rlgpt.loop.progress import PlainWatcher
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
        watching=PlainWatcher(io.StringIO()),
        report_episodes=2,
    )
    told = ["--goal", GOAL, "--docs", str(docs), "--success", "1", "--folder", str(tmp_path / "run")]
    transcript = str(tmp_path / "recorded" / "transcript.jsonl")
    assert main(["design", "CartPole-v1", "--llm", transcript, *told]) == 0
    assert capsys.readouterr().out == "1 coded actions, success 1.00 over 50 episodes\n"
    assert (tmp_path / "run" / "bundle" / "actions" / "go.py").is_file()
    assert main(["report", str(tmp_path / "run")]) == 0
    assert main(["resume", str(tmp_path / "run")]) == 2
    assert "this run is one of design()" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["CartPole-v1", "--llm", "nowhere.jsonl"], "there is no transcript 'nowhere.jsonl'"),
        (["CartPole-v9", "--llm", "fake/model"], "make_env() raised"),
        (["CartPole-v1", "--llm", "fake/model", "--docs", "nowhere.md"], "there is no such file"),
    ],
)
def test_what_cannot_be_used_is_said(
    arguments: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["design", *arguments, "--goal", GOAL, "--folder", str(tmp_path / "run")]) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
