"""A whole run on the grid world with a scripted language model. Tests can start this file as a script and kill it.

    python story.py FOLDER TRAINER CALLS STEPS [FAULT AT]

Each request to the model adds a line to the file CALLS. Each primitive step, except the steps of the report, adds a
byte to the file STEPS. Before step number AT the environment raises an error, kills its process, or waits for a named
pipe.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import gymnasium
from rlgpt.agents.build import build_agents
from rlgpt.domain import Task
from rlgpt.llm.base import Request
from rlgpt.llm.record import Recorder
from rlgpt.loop import LoopContext, LoopSettings, Result, Seeds, run
from rlgpt.plugin.library import library_of
from rlgpt.rl.base import Hyperparameters, Trainer
from rlgpt.runs import Run
from rlgpt.testing.counting import counted
from rlgpt.testing.grid import FETCH, TASKS, GridPlugin
from rlgpt.testing.llm import FakeLLM

TASK = TASKS["grid/key"]
SETTINGS = LoopSettings(
    budget=2000,
    iterations=2,
    repairs=1,
    selection_episodes=4,
    confirmation_episodes=2,
    judging=0.5,
    min_decisions=0,
    rehearsal_episodes=2,
    report_episodes=3,
    target_success=1.0,
)
SHORT = SETTINGS.model_copy(
    update={"budget": 900, "selection_episodes": 3, "confirmation_episodes": 2, "report_episodes": 2}
)
"""For tests in which the results of judging and learning do not matter."""
BRIEF = SHORT.model_copy(update={"budget": 600})
"""For tests in which the number of steps does not matter either."""
# The learning rate is almost zero, so the policy does not solve the task, and the run does not end early.
HYPERPARAMETERS = Hyperparameters(
    num_envs=2, num_steps=16, minibatch_size=32, update_epochs=2, hidden=(16,), learning_rate=1e-6
)

WALK = """
def run():
    view = yield observe()
    rows = view["key"][0] - view["agent"][0]
    if rows:
        yield go(direction="down" if rows > 0 else "up", cells=abs(rows))
"""
AWAY = "go(direction='up' if view['key'][0] else 'down', cells=1)"
"""Source of a coded action that moves from the key's cell to a cell beside it."""
BROKEN = "def run():\n    yield observe()\n    return 1 / 0\n    yield\n"


NEVER = -1


class Tallied(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A wrapper that counts steps independently of the tested code, without the episodes of the report."""

    def __init__(self, env: gymnasium.Env[Any, Any], steps: Path, fault: str, at: int) -> None:
        super().__init__(env)
        self.steps, self.fault, self.at = steps, fault, at
        self.counts = True

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self.counts = all(seed not in Seeds(of).report(100) for of in range(3))
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> Any:
        if self.counts:
            if counted(self.steps) == self.at:
                if self.fault == "kill":
                    os.kill(os.getpid(), signal.SIGKILL)
                if not self.fault.startswith("wait:"):
                    raise ValueError("the simulator failed")
                Path(self.fault.removeprefix("wait:")).read_text()
            with self.steps.open("ab", buffering=0) as file:
                file.write(b".")
        return super().step(action)


class TalliedGrid(GridPlugin):
    def __init__(self, steps: Path, fault: str, at: int) -> None:
        self.tally = (steps, fault, at)

    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> Any:
        return Tallied(super().make_env(task, seed=seed, render_mode=render_mode), *self.tally)


def tallied_grid(steps: Path, fault: str, at: int, task: Task) -> TalliedGrid:
    return TalliedGrid(steps, fault, at)


def reply(request: Request) -> str:
    """Return a scripted reply. The first version of ``to_row`` divides by zero, and code alone never solves the
    task.
    """
    key = request.key
    if key.role == "slow":
        parts = [("to_row", "code", "walk to the row of the key"), ("search", "rl", "find it in its row")]
        return json.dumps(
            {
                "thoughts": f"iteration {key.iteration}",
                "sub_actions": [
                    {"name": n, "kind": k, "description": d, "reason": "it is simple"} for n, k, d in parts
                ],
            }
        )
    if key.role == "fast":
        meta = {"thoughts": "", "doc": "Walk to the row of the key.", "parameters": [], "max_steps": 10}
        return f"{json.dumps(meta)}\n```python\n{WALK if key.attempt else BROKEN}\n```"
    if key.role == "setup":
        return json.dumps(
            {
                "reward_weights": {"env_reward": 1.0, "near_key": 1.0},
                "observation_keys": ["agent", "key", "door", "holding"],
                "base_actions": None,
                "coded_actions": ["to_row"],
                "reason": "",
            }
        )
    if key.role == "review":
        return json.dumps({"thoughts": "", "works": True, "findings": []})
    return json.dumps({"thoughts": "", "summary": "it searches in vain", "for_slow": [], "for_fast": []})


FEATURE = """
def features(view, memory):
    memory["steps"] = memory.get("steps", -1) + 1
    far = sum(abs(a - k) for a, k in zip(view["agent"], view["key"]))
    return {"far": far, "steps": memory["steps"]}
"""
OUTPUTS = [{"name": "far", "low": 0, "high": 12, "unit": "cells"}, {"name": "steps", "low": 0, "high": 100}]
FUNCTIONS: dict[str, tuple[str, dict[str, Any], str]] = {
    "geometry": ("feature", {"outputs": OUTPUTS}, FEATURE),
    "nearer": ("reward", {"low": -12, "high": 0}, "def reward(view, memory):\n    return -view['far']\n"),
    "there": ("predicate", {}, "def done(view, memory):\n    return view['far'] == 0\n"),
}
"""Name of a function -> its kind, fields of the reply, and source."""
BROKEN_FUNCTION = "def {entry}(view, memory):\n    return 1 / 0\n"
ENTRIES = {"feature": "features", "reward": "reward", "predicate": "done"}


def reply_with_functions(request: Request) -> str:
    """Return a reply like :func:`reply`, with a feature, a reward term and a predicate in addition. The first version
    of each of these functions divides by zero.
    """
    key, told = request.key, json.loads(reply(request)) if request.key.role in ("slow", "setup") else {}
    if key.role == "slow":
        told["functions"] = [
            {"name": name, "kind": kind, "description": f"the {kind} {name}", "reason": "it helps"}
            for name, (kind, *_) in FUNCTIONS.items()
        ]
        return json.dumps(told)
    if key.role == "function":
        kind, fields, source = FUNCTIONS[key.sub_action]
        code = source if key.attempt else BROKEN_FUNCTION.format(entry=ENTRIES[kind])
        return f"{json.dumps({'thoughts': '', 'doc': 'It says.', **fields})}\n```python\n{code}\n```"
    if key.role == "setup":
        told["observation_keys"] += ["far"]
        told["reward_weights"]["nearer"] = 0.5
        return json.dumps(told)
    return reply(request)


def context(
    folder: Path, trainer: Trainer, llm: Any = None, *, kind: str = "slow_fast_critic", **more: Any
) -> LoopContext:
    """Return the context that starts or resumes the run in ``folder``."""
    run_ = Run.open(folder) if (folder / "run.json").exists() else Run.create(folder, task=TASK.id, seed=0, config={})
    tally = (more.pop("steps", folder / "env_steps"), more.pop("fault", "raise"), more.pop("at", NEVER))
    plugin = TalliedGrid(*tally)
    agents = build_agents(kind, Recorder(llm or FakeLLM(reply), folder / "llm.jsonl"), plugin, TASK)
    settings = more.pop("settings", SETTINGS)
    factory = functools.partial(tallied_grid, *tally)
    return LoopContext(
        settings, TASK, plugin, factory, agents, trainer, HYPERPARAMETERS, run_, library_of(plugin, TASK), **more
    )


def main(folder: Path, trainer: str, calls: Path, steps: Path, fault: str = "raise", at: str = "-1") -> Result:
    def asked(request: Request) -> str:
        with calls.open("a") as log:
            log.write(request.key.model_dump_json() + "\n")
            log.flush()
            os.fsync(log.fileno())
        return reply_with_functions(request)

    trained = make_trainer(trainer)
    return run(context(folder, trained, FakeLLM(asked), settings=SHORT, steps=steps, fault=fault, at=int(at)))


def make_trainer(name: str) -> Trainer:
    if name == "ppo":
        from rlgpt.rl.ppo import PPO

        return PPO()
    from rlgpt.rl.sample_factory import SampleFactory

    return SampleFactory()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]), *sys.argv[5:])


HALF = FETCH.replace("yield use()", f"yield use() if view['door'][0] % 2 else {AWAY}")
"""Source of a coded action that picks up the key in about half of the episodes."""


def half_solved(request: Request) -> str:
    meta = json.dumps({"thoughts": "", "doc": "Fetch it.", "parameters": [], "max_steps": 30})
    return f"{meta}\n```python\n{HALF}\n```" if request.key.role == "fast" else reply(request)
