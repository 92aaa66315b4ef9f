"""Guards for resources and for state. A test marked BOTH also runs without its guard, which shows that the guard is
needed.

The guest's own import list and missing ``open`` are not guards. The tests in ``test_programs.py`` also run without
these two.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import wasmtime
from hostile_guards import BOTH, Open, Patch, kind_of, says
from hostile_programs import BENIGN
from hostile_stage import Stage
from rlgpt.rl.training_stats import TrainingStats, TrainingStatsState
from rlgpt.sandbox import Ask, Done, Sandbox, SandboxLimits
from rlgpt.sandbox.runtime import runtime


@BOTH
@pytest.mark.parametrize("where", ["in run", "at the top"])
def test_the_fuel_limit_stops_a_long_loop(guarded: bool, where: str, open_guest: Open, monkeypatch: Patch) -> None:
    if not guarded:
        endless = wasmtime.Store.set_fuel
        monkeypatch.setattr(wasmtime.Store, "set_fuel", lambda store, fuel: endless(store, 2**60))
    loop = "for _ in range(300_000): pass"
    source = (
        f"def run():\n    {loop}\n    yield grasp()" if where == "in run" else f"{loop}{BENIGN.replace('use', 'grasp')}"
    )
    small = SandboxLimits(turn_fuel=10_000_000, load_fuel=10_000_000)
    assert kind_of(open_guest(source, limits=small).start("a", {})) == ("fuel" if guarded else "Ask")


@BOTH
def test_the_memory_limit_stops_a_large_object(guarded: bool, open_guest: Open, monkeypatch: Patch) -> None:
    if not guarded:
        monkeypatch.setattr(wasmtime.Store, "set_limits", lambda store, **_: None)
    turn = open_guest("def run():\n    x = bytes(100_000_000)\n    yield grasp()").start("a", {})
    assert kind_of(turn) == ("memory" if guarded else "Ask")


@contextmanager
def _fast_clock() -> Iterator[None]:
    """Advance the wall clock of the sandbox without waiting."""
    over, engine = threading.Event(), runtime().engine

    def tick() -> None:
        while not over.wait(0.001):
            engine.increment_epoch()

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@BOTH
def test_the_time_limit_stops_a_turn_without_a_fuel_limit(guarded: bool, open_guest: Open, monkeypatch: Patch) -> None:
    if not guarded:
        deadline = wasmtime.Store.set_epoch_deadline
        monkeypatch.setattr(wasmtime.Store, "set_epoch_deadline", lambda store, ticks: deadline(store, 2**40))
    # Without the clock, only fuel ends the program. The fuel is enough for hundreds of ticks of the clock.
    limits = SandboxLimits(
        turn_fuel=10**15 if guarded else 4 * 10**9, call_fuel=10**15, episode_fuel=10**15, wall_seconds=0.3
    )
    guest = open_guest("def run():\n    yield grasp()\n    while True: pass", limits=limits)
    assert isinstance(guest.start("a", {}), Ask)
    with _fast_clock():
        assert kind_of(guest.send({})) == ("wall" if guarded else "fuel")


@BOTH
@pytest.mark.parametrize(
    ("field", "request_", "ends"), [("yields", "grasp()", "Exhausted"), ("looks", "observe()", "yields")]
)
def test_limits_of_yields_and_observe_calls_stop_an_endless_call(
    guarded: bool, field: str, request_: str, ends: str, open_guest: Open
) -> None:
    guest = open_guest(f"def run():\n    while True:\n        yield {request_}", limits=_without(field, guarded))
    turn = guest.start("a", {})
    for _ in range(600):
        turn = guest.send({}) if isinstance(turn, Ask) else turn
    assert kind_of(turn) == (ends if guarded else "Ask")


@BOTH
@pytest.mark.parametrize(
    ("field", "source", "kind"),
    [
        ("source_bytes", "def run():\n    yield observe()\n" + "#" * 20_000, "load"),
        ("requests", "def run():\n    yield [grasp()] * 30", "type"),
        ("reply_bytes", says('["done"' + " " * 10_000 + "]"), "reply"),
        ("view_bytes", "def run():\n    str((yield observe()))\n    yield grasp()", "view"),
    ],
)
def test_size_limits_stop_large_data(guarded: bool, field: str, source: str, kind: str, open_guest: Open) -> None:
    guest = open_guest(source, limits=_without(field, guarded))
    turn = guest.start("a", {})
    if field == "view_bytes":
        assert isinstance(turn, Ask)
        turn = guest.send({"text": "x" * 20_000})
    assert (kind_of(turn) == kind) is guarded
    assert guarded or isinstance(turn, Ask | Done)


def _without(field: str, guarded: bool) -> SandboxLimits:
    return SandboxLimits() if guarded else SandboxLimits.model_validate({field: 10**6})


def test_each_episode_has_fresh_instances() -> None:
    kept = "calls = 0\ndef run():\n    global calls\n    calls += 1\n    math.calls = getattr(math, 'calls', 0) + 1\n"
    stage = Stage(f"{kept}    raise ValueError((calls, math.calls))\n    yield use()", Sandbox())
    for _ in range(2):
        stage.attack()
        assert [v.message for v in stage.verdicts] == ["ValueError: (1, 1)"]


def test_coded_action_is_masked_after_three_violations() -> None:
    stage, counts, endings = Stage("def run():\n    yield 5", Sandbox()), TrainingStats(TrainingStatsState()), []
    for _ in range(5):
        endings.append(stage.attack()[-1].ended)
        counts.add_verdicts(stage.verdicts)
        counts.close_segment()
        stage.env.quarantine(counts.quarantined)
    assert endings == ["violation"] * 3 + ["masked"] * 2
