"""API keys are removed from texts by their value, whatever the name of their variable. Escape sequences are removed
from the output of commands.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rlgpt.llm.base import Message, Request, RequestKey
from rlgpt.llm.record import Recorder
from rlgpt.runs import Run
from rlgpt.secrets import redact
from rlgpt.testing.llm import FakeLLM
from stranger import edit, rlgpt

VALUE = 'abc/"def+ghi 0123'
NAMES = (
    "HF_TOKEN",
    "OPENAI_KEY",
    "MY_SECRET",
    "AWS_SECRET_ACCESS_KEY",
    "SNOWFLAKE_JWT",
    "DB_PASSWORD",
    "WATSONX_APIKEY",
)


@pytest.mark.parametrize("name", NAMES)
def test_redact_removes_the_value_of_an_api_key_in_each_encoding(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, VALUE)
    for text in (VALUE, json.dumps(VALUE), "abc%2F%22def%2Bghi%200123"):
        assert redact(f"failed for {text}!") in ("failed for [redacted]!", 'failed for "[redacted]"!')


@pytest.mark.parametrize("name", NAMES)
def test_files_of_a_run_do_not_contain_the_value_of_an_api_key(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, VALUE)
    made = Run.create(tmp_path / "run", task="grid/key", seed=0, config={})
    made.update(status="failed", reason=f"the provider said {VALUE}")
    llm = Recorder(FakeLLM(lambda request: f"your key is {VALUE}"), tmp_path / "run" / "llm.jsonl")
    key = RequestKey(task="grid/key", role="slow")
    llm.complete(Request(key=key, messages=(Message(role="user", content=f"my key is {VALUE}"),), fingerprint="x"))
    for path in (tmp_path / "run").rglob("*"):
        if path.is_file():
            assert VALUE not in path.read_text()
            assert json.dumps(VALUE)[1:-1] not in path.read_text()


def test_error_message_of_the_command_line_does_not_contain_an_api_key(
    monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setenv("MY_SECRET", VALUE)
    done = rlgpt("report", f"/nowhere/{VALUE}")
    assert done.status == 2
    assert VALUE not in done.err


ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"


def test_output_of_report_contains_no_escape_sequences_of_a_run_record(shared: Path, own_run: Path) -> None:
    edit(shared, "run.json", lambda record: record["config"].update(traces=f"x{ESCAPES}y"))
    done = rlgpt("report", shared, own_run, "--out", shared / "both.html")
    assert done.status == 0
    assert "\\u001b]0;owned" in done.out
    assert not set(ESCAPES) & set(done.text) - set("]0;owned[2J31m")


def test_error_about_an_unknown_task_contains_no_escape_sequences_of_the_run_record(shared: Path) -> None:
    edit(shared, "run.json", lambda record: record.update(task=f"grid/key{ESCAPES}"))
    done = rlgpt("evaluate", shared)
    assert done.status == 2
    assert not set(done.text) & {"\x1b", "\x07", "\x9b", "\u202e"}
