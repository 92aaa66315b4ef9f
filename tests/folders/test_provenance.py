"""A run folder made by others does not use the user's keys, import code or raise limits without the user's
approval.
"""

from __future__ import annotations

import http.server
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from stranger import rlgpt, set_config, unfinish

KEY = "canary-9999-of-the-user"


class _Server(http.server.ThreadingHTTPServer):
    """A server of another person, which stores the headers of every request."""

    requests: list[str]


@pytest.fixture
def server() -> Iterator[_Server]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert isinstance(self.server, _Server)
            self.server.requests.append(str(self.headers))
            self.send_error(404)

        def log_message(self, *text: object) -> None:
            return None

    with _Server(("127.0.0.1", 0), Handler) as listening:
        listening.requests = []
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield listening
        listening.shutdown()


LIVE = {"kind": "live", "retries": 0, "budget": {"tokens": None, "dollars": None, "calls": None}}


@pytest.mark.parametrize("command", ["resume", "evaluate"])
def test_run_made_by_others_sends_no_api_key_to_the_server_that_it_names(
    shared: Path, server: _Server, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("MY_SECRET", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    address = f"http://127.0.0.1:{server.server_port}/v1"
    if command == "resume":
        unfinish(shared)
    set_config(shared, llm={**LIVE, "model": "openai/m", "api_base": address, "key_env": "MY_SECRET"})
    done = rlgpt(command, shared, *(("--episodes", "1") if command == "evaluate" else ()))
    assert not server.requests
    assert KEY not in done.text
    if command == "resume":
        assert done.status == 2
        assert "made by somebody else" in done.err
        assert "llm=" in done.err
        assert address in done.err


def test_command_line_replaces_the_language_model_of_a_run_made_by_others(
    shared: Path, server: _Server, home: Path
) -> None:
    unfinish(shared)
    set_config(shared, llm={**LIVE, "model": "openai/m", "api_base": f"http://127.0.0.1:{server.server_port}/v1"})
    transcript = home / "recorded" / "transcript.jsonl"
    done = rlgpt("resume", shared, "llm=replay", f"llm.transcript={transcript}")
    assert done.status == 0, done.err
    assert not server.requests
    again = rlgpt("resume", shared)
    assert again.status == 0, "the user's approval makes the run the user's own"


def test_resume_needs_no_approval_for_a_run_of_this_user(shared: Path) -> None:
    assert rlgpt("resume", shared).status == 0


@pytest.mark.parametrize("words", [(), ("llm.retries=1",), ("report_episodes=2",)])
def test_interpolation_of_environment_variables_in_a_run_made_by_others_is_not_resolved(
    shared: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("CANARY", KEY)
    set_config(
        shared, hyperparameters={"encoder": "${oc.env:CANARY}"}, llm={"kind": "replay", "model": "${oc.env:CANARY}"}
    )
    done = rlgpt("resume", shared, *words)
    assert done.status == 2
    assert KEY not in done.text + (shared / "run.json").read_text()
    assert rlgpt("report", shared).status == 0
    assert KEY not in (shared / "report.html").read_text()


@pytest.mark.parametrize("command", ["resume", "evaluate"])
def test_commands_do_not_import_the_trainer_module_of_a_run_made_by_others(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    (tmp_path / "planted_module.py").write_text("raise SystemExit(77)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    set_config(shared, trainer={"_target_": "planted_module.Trainer"})
    done = rlgpt(command, shared)
    assert "planted_module" not in sys.modules
    assert done.status == 2
    assert "trainer" in done.err


def test_approval_of_a_run_made_by_others_does_not_ask_for_its_device(shared: Path) -> None:
    """The value of a device is one of three words. Any other value needs approval, because it could be a path."""
    set_config(shared, trainer={"name": "ppo", "device": "gpu", "overlap": True, "workers": 500})
    done = rlgpt("resume", shared)
    assert done.status == 2
    assert "trainer.workers=500" in done.err
    assert "trainer.device" not in done.err
    assert "trainer.overlap" not in done.err
    set_config(shared, trainer={"name": "ppo", "device": "/dev/sda"})
    assert "trainer.device=/dev/sda" in rlgpt("resume", shared).err


@pytest.mark.parametrize("given", [(), ("executor=in_process",)])
def test_evaluation_never_uses_the_executor_of_a_run_made_by_others(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...]
) -> None:
    (tmp_path / "planted_module.py").write_text("raise SystemExit(77)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    set_config(shared, executor={"_target_": "planted_module.Executor", "address": "203.0.113.1:6379"})
    done = rlgpt("evaluate", shared, "--episodes", "2", *given)
    assert done.status == 0, done.text
    assert "planted_module" not in sys.modules


def test_resume_refuses_the_executor_of_a_run_made_by_others(shared: Path) -> None:
    """The workers of an executor collect the rollouts of a training, so a run could begin on a machine of others."""
    set_config(shared, executor={"name": "ray", "address": "203.0.113.1:6379"})
    done = rlgpt("resume", shared)
    assert done.status == 2
    assert "executor.name=ray executor.address=203.0.113.1:6379" in done.err


@pytest.mark.parametrize("command", ["resume", "evaluate"])
def test_commands_do_not_import_the_environment_module_of_a_run_made_by_others(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    (tmp_path / "planted_env.py").write_text("raise SystemExit(77)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    environment = {"id": "planted_env:Any-v0", "goal": "win"}
    set_config(shared, task=None, environment=environment, agents={"name": "rl_only"})
    done = rlgpt(command, shared)
    assert "planted_env" not in sys.modules
    assert done.status == 2
    assert "environment.id=planted_env:Any-v0" in done.err


@pytest.mark.parametrize(
    ("limit", "value"), [("budget", 10**12), ("iterations", 10**6), ("sandbox__turn_fuel", 10**15), ("repairs", 9999)]
)
def test_resume_refuses_a_run_made_by_others_that_raises_a_limit(shared: Path, limit: str, value: int) -> None:
    set_config(shared, **{limit: value})
    done = rlgpt("resume", shared)
    assert done.status == 2
    assert limit.replace("__", ".") in done.err


def test_resume_refuses_a_run_made_by_others_with_a_negative_token_count(shared: Path) -> None:
    path = shared / "llm.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[0]["reply"]["usage"]["prompt_tokens"] = -(10**9)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = rlgpt("resume", shared)
    assert done.status == 2
    assert "llm.jsonl, line 1" in done.err
