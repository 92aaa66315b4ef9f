"""Rehearsals of coded actions: their steps, their episodes, and the effect of a failing ``can_start``."""

from __future__ import annotations

import io
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from rlgpt.agents.traces import render_trace
from rlgpt.domain import CodedAction, Rehearsal, Task
from rlgpt.llm.base import Request
from rlgpt.loop import run
from rlgpt.loop.inner_actions import NOT_EXERCISED
from rlgpt.loop.rehearse import ROUNDS, rehearse
from rlgpt.observers import PlainProgressReporter
from rlgpt.plugin.library import library_of
from rlgpt.rl.ppo import PPO
from rlgpt.sandbox import Sandbox
from rlgpt.testing.grid import FETCH, GridPlugin
from rlgpt.testing.llm import FakeLLM
from story import AWAY, SHORT, TASK, WALK, context, reply

LIBRARY = library_of(GridPlugin(), TASK)
ONCE = SHORT.model_copy(update={"iterations": 1, "budget": 600})


def test_coded_action_that_cannot_start_in_its_rehearsal_is_not_reviewed_by_the_critic(tmp_path: Path) -> None:
    never = "def can_start(view):\n    return False\n\n" + WALK
    meta = json.dumps({"thoughts": "", "doc": "Walk.", "parameters": [], "max_steps": 10})

    def hidden(request: Request) -> str:
        return f"{meta}\n```python\n{never}\n```" if request.key.role == "fast" else reply(request)

    llm = FakeLLM(hidden)
    result = run(context(tmp_path, PPO(), llm, settings=ONCE))
    (rehearsal,) = result.history[0].rehearsals["to_row"]
    assert rehearsal.review is not None
    assert "it never ran" in rehearsal.review.findings[0].problem
    assert "review" not in [k.role for k in llm.keys]
    (setup,) = [r for r in llm.requests if r.key.role == "setup"]
    assert "`to_row`: 1 attempt, the last one never ran" in str(setup.messages)


@pytest.mark.parametrize(
    ("guard", "ended"),
    [("view['nope']", "masked"), ("view['agent'] != view['key'] or 1 / 0", "returned")],
    ids=["before its call", "after its call"],
)
def test_rehearsal_fails_if_can_start_raises_an_error(tmp_path: Path, guard: str, ended: str) -> None:
    """An error in ``can_start`` at any step fails the rehearsal, because in training each such error is a violation."""
    meta = json.dumps({"thoughts": "", "doc": "Walk.", "parameters": [], "max_steps": 30})

    def falls(request: Request) -> str:
        if request.key.role != "fast":
            return reply(request)
        raising = f"def can_start(view):\n    return {guard}\n\n{FETCH.replace('    yield use()', '')}"
        return f"{meta}\n```python\n{WALK if request.key.attempt else raising}\n```"

    llm = FakeLLM(falls)
    result = run(context(tmp_path, PPO(), llm, settings=ONCE))
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


def test_run_says_why_code_does_not_work_and_that_no_code_was_kept(tmp_path: Path) -> None:
    meta = json.dumps({"thoughts": "", "doc": "Walk.", "parameters": [], "max_steps": 30})
    broken = 'def run():\n    view = yield observe()\n    yield use() if view["robt"] else use()'
    setup = {"base_actions": None, "reward_weights": {"success": 1.0}, "observation_keys": ["agent"], "reason": "none"}

    def falls(request: Request) -> str:
        if request.key.role == "setup":
            return json.dumps({**setup, "coded_actions": []})
        return f"{meta}\n```python\n{broken}\n```" if request.key.role == "fast" else reply(request)

    out = io.StringIO()
    run(context(tmp_path, PPO(), FakeLLM(falls), settings=ONCE, observer=PlainProgressReporter(out)))
    said = out.getvalue()
    assert "attempt 1, works no, why line 3: KeyError: no key 'robt'; of the view there are:" in said
    assert "to_row is left out: a rehearsal of each attempt ended with an error" in said
    assert "no code was kept: no attempt at to_row ran without an error, so the bundle has no coded actions" in said


def test_every_step_of_a_rehearsal_is_counted(tmp_path: Path) -> None:
    """If an earlier action solves the task, the rehearsed action runs alone in a second episode. The steps of both
    episodes are counted.
    """
    plugin = GridPlugin()
    solve = CodedAction(name="solve", doc="", source=FETCH)
    walk = CodedAction(name="walk", doc="", source=WALK)
    first, steps, verdict, _ = rehearse(plugin, TASK, (), solve, seeds=(3,), sandbox=Sandbox(), library=LIBRARY)
    assert first.success
    assert steps == first.primitive_steps
    assert verdict is None
    second, both, *_ = rehearse(plugin, TASK, (solve,), walk, seeds=(3,), sandbox=Sandbox(), library=LIBRARY)
    assert [d.action for d in second.decisions] == ["walk"]
    assert both == steps + second.primitive_steps


def test_rehearsal_reports_success_when_the_task_succeeds_only_during_an_action() -> None:
    """As in an evaluation, success at any step is a success. In this test the agent leaves the key's cell again."""

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
    trace, _, verdict, _ = rehearse(
        PassingGrid(), TASK, (), there_and_away, seeds=(3,), sandbox=Sandbox(), library=LIBRARY
    )
    assert verdict is None
    assert trace.success

    walk = CodedAction(name="walk", doc="", source="def run():\n    yield go(direction='up', cells=1)\n", max_steps=1)
    trace, *_ = rehearse(PassingGrid(), TASK, (), walk, seeds=(3,), sandbox=Sandbox(), library=LIBRARY)
    assert not trace.success


def test_trace_of_a_rehearsal_shows_the_reward_of_each_reward_term() -> None:
    walk = CodedAction(name="walk", doc="", source=WALK)
    trace, *_ = rehearse(
        GridPlugin(),
        TASK,
        (),
        walk,
        seeds=(3,),
        sandbox=Sandbox(),
        library=LIBRARY,
        reward_weights={"near_key": 2.0, "holding": 0.0},
    )
    (decision,) = trace.decisions
    assert decision.reward_terms["near_key"] == decision.reward > 0
    assert decision.reward_terms["holding"] == 0
    assert f"reward {decision.reward:.4g} (near_key {decision.reward:.4g})" in render_trace(trace)


def test_trace_of_a_rehearsal_has_the_view_after_each_call_of_a_primitive() -> None:
    left = "    yield go(direction='left', cells=1)\n"
    source = f"def run():\n{left}{left}    yield use()\n"
    trace, *_ = rehearse(GridPlugin(), TASK, (), walks("walk", source), seeds=(3,), sandbox=Sandbox(), library=LIBRARY)
    (decision,) = trace.decisions
    views: list[Any] = [decision.before]
    for call in decision.calls:
        views.append({**views[-1], **call.view_changes})
    moved = [after["agent"][1] - before["agent"][1] for before, after in pairwise(views)]
    assert moved == [-1, -1, 0]
    assert views[-1] == decision.after
    assert "key" not in decision.calls[0].view_changes, "the key has not moved"


def walks(name: str, source: str) -> CodedAction:
    return CodedAction(name=name, doc="", source=source, max_steps=30)


STEP = walks("step", "def run():\n    yield go(direction='up', cells=1)\n")
THIRD = walks(
    "third", "asked = 0\ndef can_start(view):\n    global asked\n    asked += 1\n    return asked > 4\n" + WALK
)
"""A coded action that may start after four calls of ``can_start``."""


def test_rehearsal_repeats_earlier_actions_until_the_rehearsed_action_may_start() -> None:
    trace, steps, verdict, _ = rehearse(
        GridPlugin(), TASK, (STEP,), THIRD, seeds=(3,), sandbox=Sandbox(), library=LIBRARY
    )
    assert [d.action for d in trace.decisions] == ["step", "third", "step", "third", "third"]
    assert [d.ended for d in trace.decisions[1::2]] == ["masked", "masked"]
    assert trace.decisions[-1].ended != "masked"
    assert (steps, verdict) == (trace.primitive_steps, None)

    never = walks("never", "def can_start(view):\n    return False\n" + WALK)
    trace, *_ = rehearse(GridPlugin(), TASK, (STEP,), never, seeds=(3,), sandbox=Sandbox(), library=LIBRARY)
    assert [d.action for d in trace.decisions] == ["step", "never"] * ROUNDS, "the number of repetitions is bounded"
    alone, *_ = rehearse(GridPlugin(), TASK, (), never, seeds=(3,), sandbox=Sandbox(), library=LIBRARY)
    assert len(alone.decisions) == 1, "without earlier actions a repetition would change nothing"


@pytest.mark.parametrize("solved", [False, True], ids=["masked at the end", "the episode has ended"])
def test_rehearsal_starts_an_action_at_the_first_step_at_which_can_start_is_true(solved: bool) -> None:
    """It may start between the two actions before it only: neither at the start, nor after both."""
    note = walks("note", "def run(memory):\n    memory['noted'] = 1\n    yield go(direction='up', cells=1)\n")
    undo = walks("undo", "def run(memory):\n    memory['noted'] = 0\n    yield go(direction='down', cells=1)\n")
    guard = "def can_start(view, memory):\n    return memory.get('noted', 0) > 0\n"
    fallback = walks("fallback", guard + WALK)
    before = (note, walks("solve", FETCH) if solved else undo)
    trace, steps, verdict, _ = rehearse(
        GridPlugin(), TASK, before, fallback, seeds=(3,), sandbox=Sandbox(), library=LIBRARY
    )
    assert [d.action for d in trace.decisions][-2:] == ["note", "fallback"]
    assert trace.decisions[-1].ended != "masked"
    assert trace.decisions[-2].memory == {"noted": 1}
    assert verdict is None
    assert steps >= trace.primitive_steps


def test_rehearsal_reports_ends_and_verdicts_of_all_its_episodes(tmp_path: Path) -> None:
    """The code fails only if the key is above the agent. The trace is of the episode with the verdict."""
    plugin, seeds = GridPlugin(), range(3, 40)
    env = plugin.make_env(TASK, seed=0)
    above = {s: (lambda w: w.key[0] < w.agent[0])((env.reset(seed=s), env.unwrapped)[1]) for s in seeds}
    fine, fails = next(s for s in seeds if not above[s]), next(s for s in seeds if above[s])
    source = "def run():\n    view = yield observe()\n    1 / (view['key'][0] >= view['agent'][0])\n    yield use()\n"
    action = walks("to_row", source)
    found = rehearse(plugin, TASK, (), action, seeds=(fine, fails), sandbox=Sandbox(), library=LIBRARY)
    assert found.trace.seed == fails
    assert found.verdict is not None
    assert found.verdict.kind == "error"
    (other,) = found.others
    assert (other.seed, other.verdict) == (fine, None)
    rehearsal = Rehearsal(attempt=0, action=action, trace=found.trace, verdict=found.verdict, others=found.others)
    assert rehearsal.failed
    assert not rehearsal.works
    assert rehearsal.stopped_by == found.verdict
    first_fails = rehearse(plugin, TASK, (), action, seeds=(fails, fine), sandbox=Sandbox(), library=LIBRARY)
    assert first_fails.others == (), "after a failure in the first episode no further episode is played"


def test_trace_of_a_rehearsal_is_of_the_episode_in_which_the_action_took_the_most_steps() -> None:
    """A start at which nothing is left to do would show nothing about the action."""
    plugin, seeds = GridPlugin(), tuple(range(3, 9))
    found = rehearse(plugin, TASK, (), walks("walk", WALK), seeds=seeds, sandbox=Sandbox(), library=LIBRARY)
    last = found.trace.decisions[-1].duration
    assert last >= max(other.steps for other in found.others)
    assert last > min(other.steps for other in found.others)
    assert {found.trace.seed, *(other.seed for other in found.others)} == set(seeds)


def test_trace_of_a_rehearsal_is_of_the_episode_in_which_the_action_ran() -> None:
    plugin, seeds = GridPlugin(), (3, 4, 5)
    sees: dict[int, Any] = {}
    for seed in seeds:
        env = plugin.make_env(TASK, seed=seed)
        env.reset(seed=seed)
        sees[seed] = list(env.unwrapped.key)
    assert sees[3] != sees[5]
    guard = f"def can_start(view):\n    return list(view['key']) == {sees[5]}\n"
    trace, _, _, others = rehearse(
        plugin, TASK, (), walks("rare", guard + WALK), seeds=seeds, sandbox=Sandbox(), library=LIBRARY
    )
    assert trace.decisions[-1].ended != "masked"
    assert len(others) == 2
    assert others[0].ended == "masked"


def test_rehearsal_of_an_action_that_never_ran_is_neither_a_success_nor_a_failure() -> None:
    never = walks("never", "def can_start(view):\n    return False\n" + WALK)
    trace, *_ = rehearse(GridPlugin(), TASK, (), never, seeds=(3,), sandbox=Sandbox(), library=LIBRARY)
    rehearsal = Rehearsal(attempt=0, action=never, trace=trace, review=NOT_EXERCISED)
    assert not rehearsal.works
    assert not rehearsal.failed


def test_coded_action_that_solves_the_task_in_every_rehearsal_episode_is_not_reviewed(tmp_path: Path) -> None:
    meta = json.dumps({"thoughts": "", "doc": "Fetch.", "parameters": [], "max_steps": 30})

    def solves(request: Request) -> str:
        return f"{meta}\n```python\n{FETCH}\n```" if request.key.role == "fast" else reply(request)

    llm = FakeLLM(solves)
    result = run(context(tmp_path, PPO(), llm, kind="code_only", settings=ONCE))
    (rehearsal,) = result.history[0].rehearsals["to_row"]
    assert rehearsal.works
    assert rehearsal.review is None
    assert "review" not in [k.role for k in llm.keys]
