"""The execution of one call of a coded action step by step. The caller of ``Execution.run`` can interrupt the call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rlgpt.domain import CodedAction, Task
from rlgpt.errors import PluginError
from rlgpt.options.effects import Code, Step, perform
from rlgpt.options.execution import Call, Execution, Running, interrupt, settled
from rlgpt.plugin.library import library_of
from rlgpt.plugin.types import Context, EnvLimits, Primitive
from rlgpt.sandbox import Guest, Sandbox
from rlgpt.testing.grid import TASKS, GridPlugin

KEY = TASKS["grid/key"]


def drive(running: Running, step: Callable[[Any], bool]) -> Call:
    """Run a call to its end. ``step`` gets every base action that the call proposes."""
    return perform(running, look=dict, step=step)


def proposed(running: Running, episode_ended: Any = None) -> Any:
    """The next action that a call proposes, before its step is taken."""
    effect = running.send(episode_ended)
    while not isinstance(effect, Step):
        effect = running.send(effect.work() if isinstance(effect, Code) else {})
    return effect.action


def interrupted(running: Running) -> Call:
    return perform(interrupt(running), look=dict, step=lambda _: True)


class Driver:
    """A grid world that takes every base action which a call of one coded action proposes."""

    def __init__(self, source: str, *, max_steps: int = 60) -> None:
        plugin = GridPlugin()
        self.env = plugin.make_env(KEY, seed=0)
        observation, info = self.env.reset(seed=4)
        rng = np.random.default_rng(0)
        self.context = Context(KEY, observation, {**info, "env_reward": 0.0}, 0, rng, plugin.model(self.env))
        self.action = CodedAction(name="walk", doc="", source=source, max_steps=max_steps)
        self.guest: Guest = Sandbox().open(library_of(plugin, KEY), [self.action], seed=0)
        primitives = {p.name: p for p in plugin.primitives(KEY)}
        self.primitives = primitives
        self.execution = self.executing({})

    def executing(self, changed: Mapping[str, Primitive]) -> Execution:
        return Execution({**self.primitives, **changed}, keep_calls=True)

    def run(self, call: Call | None = None) -> Running:
        return self.execution.run(self.guest, self.action, {}, self.context, call)

    def step(self, low_level: Any) -> bool:
        observation, reward, terminated, truncated, info = self.env.step(low_level)
        ctx = self.context
        ctx.observation, ctx.info, ctx.step = observation, {**info, "env_reward": float(reward)}, ctx.step + 1
        return bool(terminated or truncated)


PIECES = "def run():\n    yield go(direction='up', cells=2)\n    yield go(direction='down', cells=3)\n"


def test_call_reports_the_end_of_a_primitive_before_the_first_step_of_the_next_primitive() -> None:
    driver, call, ends = Driver(PIECES), Call(), []
    running = driver.run(call)
    begun = 1

    def step(low_level: Any) -> bool:
        nonlocal begun
        if call.pieces > begun:
            begun = call.pieces
            ends.append(driver.context.step)
        return driver.step(low_level)

    assert drive(running, step) is call
    assert call.ended == "returned"
    assert ends == [call.calls[0].steps] == [2]
    assert driver.context.step == sum(c.steps for c in call.calls)


def test_interrupted_call_takes_no_further_step_and_lists_its_finished_primitives() -> None:
    driver, call = Driver(PIECES), Call()
    running = driver.run(call)
    low_level = proposed(running)
    while call.pieces < 2:
        low_level = proposed(running, driver.step(low_level))
    steps = driver.context.step
    assert interrupted(running) is call
    assert (call.ended, call.verdict, driver.context.step) == ("interrupted", None, steps)
    assert [(c.name, c.steps) for c in call.calls] == [("go", 2)], "a primitive without a step is not listed"
    assert drive(driver.run(), driver.step).ended == "returned", "the action may run again"


def test_call_interrupted_within_a_primitive_lists_the_steps_of_that_primitive() -> None:
    driver = Driver(PIECES)
    running = driver.run()
    proposed(running, driver.step(proposed(running)))
    call = interrupted(running)
    assert [(c.steps, c.outcome["ended"]) for c in call.calls] == [(1, "interrupted")]


@pytest.mark.parametrize(
    ("clean_up", "verdict"), [("pass", None), ("raise ValueError", None), ("while True: pass", "fuel")]
)
def test_finally_block_has_the_same_verdict_after_an_interruption_as_after_a_step_limit(
    clean_up: str, verdict: str | None
) -> None:
    source = f"def run():\n    try:\n        yield go(direction='up', cells=6)\n    finally:\n        {clean_up}\n"
    driver = Driver(source)
    running = driver.run()
    proposed(running, driver.step(proposed(running)))
    ended_early = interrupted(running)
    limited = drive((driver := Driver(source, max_steps=1)).run(), driver.step)
    assert (ended_early.ended, limited.ended) == ("interrupted", "limit")
    for call in (ended_early, limited):
        assert (call.verdict and (call.verdict.kind, call.verdict.step)) == (verdict and (verdict, 1))


def test_coded_action_that_catches_every_exception_is_still_interrupted() -> None:
    stubborn = (
        "def run():\n    while True:\n        try:\n            yield go(direction='up', cells=6)\n"
        "        except BaseException:\n            pass\n"
    )
    driver = Driver(stubborn)
    running = driver.run()
    proposed(running)
    assert interrupted(running).ended == "interrupted"
    with pytest.raises(StopIteration):
        next(running)


def test_interrupt_raises_an_error_before_the_first_step_and_after_the_end_of_a_call() -> None:
    driver = Driver(PIECES)
    with pytest.raises(RuntimeError, match="first proposed action"):
        interrupted(driver.run())
    running = driver.run()
    drive(running, driver.step)
    with pytest.raises(RuntimeError, match="before its end"):
        interrupted(running)


def test_stop_iteration_raised_by_the_environment_does_not_end_the_call() -> None:
    def broken(low_level: Any) -> bool:
        raise StopIteration

    with pytest.raises(StopIteration):
        drive(Driver(PIECES).run(), broken)


def test_outcome_of_a_primitive_at_its_step_limit_has_only_the_key_ended() -> None:
    def forever(ctx: Context, direction: str, cells: int) -> Any:
        while True:
            yield 0

    driver = Driver("def run():\n    outcome = yield go()\n    raise ValueError(outcome.get('blocked', 'default'))\n")
    driver.execution = driver.executing({"go": replace(driver.primitives["go"], run=forever, max_steps=2)})
    call = drive(driver.run(), driver.step)
    assert call.calls[0].outcome == {"ended": "primitive limit"}
    assert call.verdict is not None
    assert call.verdict.message == "ValueError: default"


def yields_nothing(ctx: Context, direction: str, cells: int) -> Any:
    yield from ()


def test_primitive_that_is_no_generator_function_is_an_error_of_the_plugin() -> None:
    driver = Driver("def run():\n    yield use()\n")
    driver.execution = driver.executing({"use": Primitive("use", "Use it.", lambda ctx: {"changed": False})})  # type: ignore[arg-type, return-value]
    with pytest.raises(PluginError, match=r"'use' returned .*, a dict\. A primitive must be a generator function"):
        drive(driver.run(), driver.step)


def test_call_that_reaches_its_limit_of_yields_ends_without_a_verdict() -> None:
    driver = Driver("def run():\n    while True:\n        yield go()\n", max_steps=60)
    driver.execution = driver.executing({"go": replace(driver.primitives["go"], run=yields_nothing)})
    call = drive(driver.run(), driver.step)
    assert (call.ended, call.verdict, call.pieces) == ("yields", None, 60)


@pytest.mark.parametrize(
    ("horizon", "bound", "wanted", "limit"),
    [
        (40, None, None, 40),
        (200, None, None, 60),
        (1000, None, None, 250),
        (1000, 100, None, 60),
        (1000, 30, None, 30),
        (1000, None, 900, 900),
        (1000, 100, 900, 100),
        (1000, None, 5000, 5000),
    ],
)
def test_default_step_limit_of_a_coded_action_depends_on_the_horizon_of_the_task(
    horizon: int, bound: int | None, wanted: int | None, limit: int
) -> None:
    class Bounded(GridPlugin):
        def limits(self, task: Task) -> EnvLimits:
            return EnvLimits(option_steps=bound)

    action = CodedAction(name="a", doc="", source="", max_steps=wanted)
    assert settled(action, Bounded(), KEY.model_copy(update={"horizon": horizon})).max_steps == limit
