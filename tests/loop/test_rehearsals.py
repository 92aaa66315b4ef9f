"""Rehearsals: their cost, their view, and the effect of a failing ``can_start``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from rlgpt.domain import CodedAction, Task
from rlgpt.llm.base import Request
from rlgpt.loop import run
from rlgpt.loop.rehearse import rehearse
from rlgpt.plugin.library import library_of
from rlgpt.rl.ppo import PPO
from rlgpt.sandbox import Sandbox
from rlgpt.testing.grid import FETCH, GridPlugin
from rlgpt.testing.llm import FakeLLM
from story import AWAY, SETTINGS, TASK, WALK, context, reply

LIBRARY = library_of(GridPlugin(), TASK)


def test_an_action_that_cannot_start_in_its_rehearsal_is_not_reviewed(tmp_path: Path) -> None:
    never = "def can_start(view):\n    return False\n\n" + WALK
    meta = json.dumps({"thoughts": "", "doc": "Walk.", "parameters": [], "max_steps": 10})

    def hidden(request: Request) -> str:
        return f"{meta}\n```python\n{never}\n```" if request.key.role == "fast" else reply(request)

    llm = FakeLLM(hidden)
    result = run(context(tmp_path, PPO(), llm, settings=SETTINGS.model_copy(update={"iterations": 1})))
    (rehearsal,) = result.history[0].rehearsals["to_row"]
    assert rehearsal.review is not None
    assert "not exercised" in rehearsal.review.findings[0].problem
    assert "review" not in [k.role for k in llm.keys]
    (setup,) = [r for r in llm.requests if r.key.role == "setup"]
    assert "`to_row`: 1 attempt, the last one could not start" in str(setup.messages)


@pytest.mark.parametrize(
    ("guard", "ended"),
    [("view['nope']", "masked"), ("view['agent'] != view['key'] or 1 / 0", "returned")],
    ids=["before its call", "after its call"],
)
def test_a_can_start_that_raises_is_a_failed_rehearsal(tmp_path: Path, guard: str, ended: str) -> None:
    """A ``can_start`` that raises anywhere in the rehearsal fails it: in training each time counts as a violation."""
    meta = json.dumps({"thoughts": "", "doc": "Walk.", "parameters": [], "max_steps": 30})

    def falls(request: Request) -> str:
        if request.key.role != "fast":
            return reply(request)
        raising = f"def can_start(view):\n    return {guard}\n\n{FETCH.replace('    yield use()', '')}"
        return f"{meta}\n```python\n{WALK if request.key.attempt else raising}\n```"

    llm = FakeLLM(falls)
    result = run(context(tmp_path, PPO(), llm, settings=SETTINGS.model_copy(update={"iterations": 1})))
    first, second = result.history[0].rehearsals["to_row"]
    assert first.failed
    assert first.trace is not None
    assert first.trace.decisions[-1].ended == ended
    assert first.verdict is not None
    assert first.verdict.kind == "error"
    assert first.verdict.message.startswith("in can_start(view): ")
    assert first.verdict.line == 2
    assert not second.failed
    repair = next(r for r in llm.requests if r.key.role == "fast" and r.key.attempt == 1)
    assert first.verdict.message in repair.messages[-1].content


def test_every_step_of_a_rehearsal_is_counted(tmp_path: Path) -> None:
    """An action that comes after one that solves the task is tried alone, and both tries count."""
    plugin = GridPlugin()
    solve = CodedAction(name="solve", doc="", source=FETCH)
    walk = CodedAction(name="walk", doc="", source=WALK)
    first, steps, verdict = rehearse(plugin, TASK, (), solve, seed=3, sandbox=Sandbox(), library=LIBRARY)
    assert first.success
    assert steps == first.primitive_steps
    assert verdict is None
    second, both, _ = rehearse(plugin, TASK, (solve,), walk, seed=3, sandbox=Sandbox(), library=LIBRARY)
    assert [d.action for d in second.decisions] == ["walk"]
    assert both == steps + second.primitive_steps


def test_a_rehearsal_sees_a_success_in_the_midst_of_an_action() -> None:
    """Success at any step counts, as in an evaluation: here the agent leaves the key's cell again."""

    class Passing(gymnasium.Wrapper[Any, Any, Any, Any]):
        def step(self, action: Any) -> Any:
            observation, reward, _, _, _ = super().step(action)
            world: Any = self.unwrapped
            return observation, reward, False, world.steps >= world.horizon, {"success": world.agent == world.key}

    class PassingGrid(GridPlugin):
        def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> Any:
            return Passing(super().make_env(task, seed=seed, render_mode=render_mode))

    source = FETCH.replace("yield use()", f"yield {AWAY}")
    there_and_away = CodedAction(name="there_and_away", doc="", source=source, max_steps=30)
    trace, _, verdict = rehearse(PassingGrid(), TASK, (), there_and_away, seed=3, sandbox=Sandbox(), library=LIBRARY)
    assert verdict is None
    assert trace.success

    walk = CodedAction(name="walk", doc="", source="def run():\n    yield go(direction='up', cells=1)\n", max_steps=1)
    trace, _, _ = rehearse(PassingGrid(), TASK, (), walk, seed=3, sandbox=Sandbox(), library=LIBRARY)
    assert not trace.success
