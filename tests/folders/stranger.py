"""Functions that make a real run by replay, change copies of the run as another person could, and run commands on
the copies.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlgpt.agents.build import build_agents
from rlgpt.cli import main
from rlgpt.llm.base import Request
from rlgpt.llm.record import Recorder
from rlgpt.loop import LoopContext, LoopSettings, run
from rlgpt.plugin.library import library_of
from rlgpt.rl.base import Hyperparameters
from rlgpt.rl.ppo import PPO
from rlgpt.runs import Run
from rlgpt.testing.grid import TASKS, GridPlugin
from rlgpt.testing.llm import FakeLLM

TASK = TASKS["grid/key"]
CANARY = "canary-4711-private"
"""A text in the user's private files. No command may write this text anywhere."""
SETTINGS = {"budget": 400, "iterations": 1, "repairs": 0, "selection_episodes": 1, "report_episodes": 1, "traces": 1}
WALK = """
def run():
    view = yield observe()
    rows = view["key"][0] - view["agent"][0]
    if rows:
        yield go(direction="down" if rows > 0 else "up", cells=abs(rows))
"""


FAR = """
def features(view, memory):
    return {"far": sum(abs(a - k) for a, k in zip(view["agent"], view["key"]))}
"""
FUNCTIONS: dict[str, tuple[str, dict[str, Any], str]] = {
    "geometry": ("feature", {"outputs": [{"name": "far", "low": 0, "high": 12}]}, FAR),
    "nearer": ("reward", {"low": -12, "high": 0}, "def reward(view, memory):\n    return -view['far']\n"),
    "there": ("predicate", {}, "def done(view, memory):\n    return view['far'] == 0\n"),
}
"""Name of a function -> its kind, fields of the reply, and source."""


@dataclass(frozen=True)
class Outcome:
    """The result of a command."""

    status: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return self.out + self.err


def rlgpt(*arguments: str | Path) -> Outcome:
    """Run a command in this process. An exception that the command line does not catch is raised here. A user would
    see its traceback.
    """
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as end:
            status = int(end.code or 0)
    return Outcome(status, out.getvalue(), err.getvalue())


def make_run(home: Path) -> Path:
    """Make a finished run with code, late start states, a policy and a video by ``rlgpt train llm=replay``."""
    transcript = _record(home / "recorded")
    folder = home / "run"
    settings = [f"{name}={value}" for name, value in SETTINGS.items()]
    replay = ["llm=replay", f"llm.transcript={transcript}"]
    done = rlgpt("train", "task=grid/key", "trainer=ppo", "video=true", f"folder={folder}", *settings, *replay)
    assert done.status == 0, done.text
    return folder


def edit(folder: Path, name: str, change: Callable[[Any], Any]) -> None:
    """Change the content of a JSON file of the run."""
    path = folder / name
    value = json.loads(path.read_text())
    path.write_text(json.dumps(change(value) or value))


def set_config(folder: Path, **settings: Any) -> None:
    """Change settings in ``run.json``. The argument ``llm__model`` changes ``llm.model``."""

    def change(record: Any) -> None:
        for name, value in settings.items():
            node, keys = record["config"], name.split("__")
            for key in keys[:-1]:
                node = node[key]
            node[keys[-1]] = value

    edit(folder, "run.json", change)


def unfinish(folder: Path) -> None:
    """Delete the iteration, so that a resume sends requests to the model and trains."""
    for path in sorted((folder / "iterations").rglob("*"), reverse=True):
        path.unlink() if not path.is_dir() else path.rmdir()
    for name in ("report.json", "llm.jsonl", "steps.bin"):
        (folder / name).unlink(missing_ok=True)


def checksums(folder: Path) -> dict[str, str]:
    """Return a checksum of each file in the folder, without following links."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[str(path)] = f"link {os.readlink(path)}"
        elif path.is_file():
            found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            found[str(path)] = "folder"
    return found


def _record(folder: Path) -> Path:
    made = Run.create(folder, task=TASK.id, seed=0, config={})
    transcript = folder / "transcript.jsonl"
    llm = Recorder(FakeLLM(_reply), folder / "llm.jsonl", transcript=transcript)
    plugin, settings = GridPlugin(), LoopSettings(**SETTINGS)
    agents = build_agents("slow_fast_critic", llm, plugin, TASK, iterations=settings.iterations)
    library = library_of(plugin, TASK)
    run(LoopContext(settings, TASK, plugin, plugin.name, agents, PPO(), Hyperparameters(), made, library))
    return transcript


def _reply(request: Request) -> str:
    role = request.key.role
    if role == "slow":
        parts = [("to_row", "code", "walk to the row of the key"), ("search", "rl", "find it in its row")]
        listed = [{"name": n, "kind": k, "description": d, "reason": "it is simple"} for n, k, d in parts]
        asked = [{"name": n, "kind": k, "description": f"the {k} {n}"} for n, (k, *_) in FUNCTIONS.items()]
        return json.dumps({"thoughts": "first the row", "sub_actions": listed, "functions": asked})
    if role == "function":
        _, fields, source = FUNCTIONS[request.key.sub_action]
        return f"{json.dumps({'thoughts': '', 'doc': 'It says.', **fields})}\n```python\n{source}\n```"
    if role == "fast":
        meta = {"thoughts": "", "doc": "Walk to the row of the key.", "parameters": [], "max_steps": 10}
        return f"{json.dumps(meta)}\n```python\n{WALK}\n```"
    if role == "setup":
        weights, keys = {"env_reward": 1.0, "nearer": 0.5}, ["agent", "key", "far"]
        setup = {"reward_weights": weights, "observation_keys": keys, "base_actions": None}
        return json.dumps({**setup, "coded_actions": ["to_row"], "reset_option": "after:to_row", "reason": ""})
    if role == "review":
        return json.dumps({"thoughts": "", "works": True, "findings": []})
    return json.dumps({"thoughts": "", "summary": "it searches in vain", "for_slow": [], "for_fast": []})
