"""One call of a coded action, driven step by step: who drives it may interrupt it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rlgpt.domain import CodedAction, Task
from rlgpt.options.execution import Call, Execution, Running, interrupt, settled
from rlgpt.plugin.library import library_of
from rlgpt.plugin.types import Context, EnvLimits, Primitive
from rlgpt.sandbox import Guest, Sandbox
from rlgpt.testing.grid import TASKS, GridPlugin

KEY = TASKS["grid/key"]


def drive(running: Running, step: Callable[[Any], bool]) -> Call:
    """Run a call to its end: every action that it proposes goes to ``step``."""
    episode_ended: Any = None
    while True:
        try:
            low_level = running.send(episode_ended)
        except StopIteration as end:
            call: Call = end.value
            return call
        episode_ended = step(low_level)


class Driver:
    """A grid without rewards or reports: every proposed action is taken as it comes."""

    def __init__(self, source: str, *, max_steps: int = 60) -> None:
        plugin = GridPlugin()
        self.env = plugin.make_env(KEY, seed=0)
        observation, info = self.env.reset(seed=4)
        rng = np.random.default_rng(0)
        self.context = Context(KEY, observation, {**info, "env_reward": 0.0}, 0, rng, plugin.model(self.env))
        self.action = CodedAction(name="walk", doc="", source=source, max_steps=max_steps)
        self.guest: Guest = Sandbox().open(library_of(plugin, KEY), [self.action], seed=0)
        primitives = {p.name: p for p in plugin.primitives(KEY)}
        self.primitives, self.view = primitives, lambda: plugin.view(self.context)
        self.execution = self.executing({})

    def executing(self, changed: Mapping[str, Primitive]) -> Execution:
        return Execution({**self.primitives, **changed}, self.view, keep_calls=True)

    def run(self, call: Call | None = None) -> Running:
        return self.execution.run(self.guest, self.action, {}, self.context, call)

    def step(self, low_level: Any) -> bool:
        observation, reward, terminated, truncated, info = self.env.step(low_level)
        ctx = self.context
        ctx.observation, ctx.info, ctx.step = observation, {**info, "env_reward": float(reward)}, ctx.step + 1
        return bool(terminated or truncated)


PIECES = "def run():\n    yield go(direction='up', cells=2)\n    yield go(direction='down', cells=3)\n"


def test_a_driver_sees_where_a_piece_ends_before_the_next_one_costs_a_step() -> None:
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


def test_an_interrupted_call_takes_no_further_step_and_tells_what_it_did() -> None:
    driver, call = Driver(PIECES), Call()
    running = driver.run(call)
    low_level = next(running)
    while call.pieces < 2:
        low_level = running.send(driver.step(low_level))
    steps = driver.context.step
    assert interrupt(running) is call
    assert (call.ended, call.verdict, driver.context.step) == ("interrupted", None, steps)
    assert [(c.name, c.steps) for c in call.calls] == [("go", 2)], "a piece that cost nothing is not told"
    assert drive(driver.run(), driver.step).ended == "returned", "the action may run again"


def test_an_interruption_within_a_piece_tells_the_part_that_was_done() -> None:
    driver = Driver(PIECES)
    running = driver.run()
    running.send(driver.step(next(running)))
    call = interrupt(running)
    assert [(c.steps, c.outcome["ended"]) for c in call.calls] == [(1, "interrupted")]


@pytest.mark.parametrize(
    ("clean_up", "verdict"), [("pass", None), ("raise ValueError", None), ("while True: pass", "fuel")]
)
def test_clean_up_after_an_interruption_is_judged_as_after_a_step_limit(clean_up: str, verdict: str | None) -> None:
    source = f"def run():\n    try:\n        yield go(direction='up', cells=6)\n    finally:\n        {clean_up}\n"
    driver = Driver(source)
    running = driver.run()
    running.send(driver.step(next(running)))
    interrupted = interrupt(running)
    limited = drive((driver := Driver(source, max_steps=1)).run(), driver.step)
    assert (interrupted.ended, limited.ended) == ("interrupted", "limit")
    for call in (interrupted, limited):
        assert (call.verdict and (call.verdict.kind, call.verdict.step)) == (verdict and (verdict, 1))


def test_code_cannot_refuse_an_interruption() -> None:
    stubborn = (
        "def run():\n    while True:\n        try:\n            yield go(direction='up', cells=6)\n"
        "        except BaseException:\n            pass\n"
    )
    driver = Driver(stubborn)
    running = driver.run()
    next(running)
    assert interrupt(running).ended == "interrupted"
    with pytest.raises(StopIteration):
        next(running)


def test_only_a_call_that_waits_for_a_step_can_be_interrupted() -> None:
    driver = Driver(PIECES)
    with pytest.raises(RuntimeError, match="first action"):
        interrupt(driver.run())
    running = driver.run()
    drive(running, driver.step)
    with pytest.raises(RuntimeError, match="before its end"):
        interrupt(running)


def test_a_fault_of_the_environment_is_not_taken_for_the_end_of_the_call() -> None:
    def broken(low_level: Any) -> bool:
        raise StopIteration

    with pytest.raises(StopIteration):
        drive(Driver(PIECES).run(), broken)


def test_a_primitive_at_its_own_limit_returns_no_other_keys() -> None:
    def forever(ctx: Context, direction: str, cells: int) -> Any:
        while True:
            yield 0

    driver = Driver("def run():\n    outcome = yield go()\n    raise ValueError(outcome.get('blocked', 'default'))\n")
    driver.execution = driver.executing({"go": replace(driver.primitives["go"], run=forever, max_steps=2)})
    call = drive(driver.run(), driver.step)
    assert call.calls[0].outcome == {"ended": "primitive limit"}
    assert call.verdict is not None
    assert call.verdict.message == "ValueError: default"


def test_exhausted_yields_end_a_call_without_a_verdict() -> None:
    driver = Driver("def run():\n    while True:\n        yield go()\n", max_steps=60)
    driver.execution = driver.executing({"go": replace(driver.primitives["go"], run=lambda ctx, **arguments: iter(()))})
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
def test_the_step_limit_of_an_action_fits_the_task(
    horizon: int, bound: int | None, wanted: int | None, limit: int
) -> None:
    class Bounded(GridPlugin):
        def limits(self, task: Task) -> EnvLimits:
            return EnvLimits(option_steps=bound)

    action = CodedAction(name="a", doc="", source="", max_steps=wanted)
    assert settled(action, Bounded(), KEY.model_copy(update={"horizon": horizon})).max_steps == limit
