"""Instances that are used again begin like new ones, whatever ran in them. Stopped ones are not used again."""

from __future__ import annotations

import gc
import weakref

import pytest
from raw_instances import LIMITS, memory_of, started
from rlgpt.domain import CodedAction
from rlgpt.sandbox import Ask, Library, Sandbox
from rlgpt.sandbox.binding import Binding
from rlgpt.sandbox.checks import Refused
from rlgpt.sandbox.instances import MOST, Instances
from rlgpt.sandbox.pristine import Pristine
from rlgpt.sandbox.runtime import Instance, runtime
from wasmtime import Store

FUEL = LIMITS.load_fuel

SOILS = """
import random
kept = [bytes([i % 256]) * 5000 for i in range(40)]
def run():
    sys = __builtins__["__import__"].__globals__["sys"]
    sys.modules["exchange"]._forms.clear()
    sys.modules["exchange"].EXCHANGE[:] = b"\\xff" * len(sys.modules["exchange"].EXCHANGE)
    sys.modules["app"].STATE.kept = kept
    sys.modules["floats"].MARK = b"kept"
    math.kept = [i / 7 for i in range(10_000)]
    yield grasp()
"""


def test_restored_instance_equals_a_new_one_bit_for_bit() -> None:
    new = memory_of(Instance(LIMITS))
    instance = started(SOILS)
    for _ in range(2):
        assert memory_of(instance) != new
        assert instance.restore()
        assert memory_of(instance) == new
        instance.call("prepare-library", "{}", 3, fuel=FUEL)
    assert memory_of(Instance(LIMITS)) == new, "the snapshot itself does not change"


def _play(sandbox: Sandbox, library: Library, source: str) -> list[object]:
    guest = sandbox.open(library, [CodedAction(name="a", doc="", source=source)], seed=0)
    turns: list[object] = [guest.start("a", {})]
    fuel = [guest.fuel_used]
    while isinstance(turns[-1], Ask):
        turns.append(guest.send({"reached": True, "error": 0.25}))
        fuel.append(guest.fuel_used)
    return [*turns, *fuel]


def test_code_cannot_tell_a_restored_instance_from_a_new_one(library: Library) -> None:
    source = (
        "def run():\n    yield move_to(x=random.random())\n    raise ValueError(str([id([]), hasattr(math, 'kept')]))"
    )
    sandbox = Sandbox()
    first = _play(sandbox, library, source)
    _play(sandbox, library, SOILS)
    assert _play(sandbox, library, source) == first == _play(Sandbox(), library, source)


def test_stopped_instance_is_not_used_again() -> None:
    instances, instance = Instances(), started("def run():\n    yield grasp()\n    while True: pass\n")
    with pytest.raises(Refused):
        instance.call("send-reply", "{}", fuel=10**8)
    instances.give(instance)
    assert instances.take(LIMITS) is not instance


@pytest.mark.parametrize(("size", "again"), [(1_000, True), (20_000_000, False)])
def test_grown_instance_is_not_used_again(size: int, again: bool) -> None:
    instances, instance = Instances(), started(f"def run():\n    x = bytes({size})\n    yield grasp()\n")
    instances.give(instance)
    assert (instances.take(LIMITS) is instance) is again


def test_instances_of_a_closed_store_are_not_used_again() -> None:
    """The garbage collector can close the store of a cycle before the owner of the cycle gives its instance up."""
    instances, instance = Instances(), started(SOILS)
    instances.give(instance)
    instance._store.close()
    assert instances.take(LIMITS) is not instance


def test_memory_that_is_restored_from_exists_as_long_as_it_is_used() -> None:
    """Two threads can make this memory at the same time. One of the two is then used, and the other one is closed."""
    run = runtime()
    first = Binding(Store(run.engine), run.module, run.places)
    pristine, kept = Pristine(*first.memory, first), weakref.ref(first)
    del first
    gc.collect()
    assert kept() is not None, pristine


def test_number_of_unused_instances_is_limited(library: Library) -> None:
    sandbox = Sandbox()
    guests = [
        sandbox.open(library, [CodedAction(name="a", doc="", source="def run():\n    yield grasp()")], seed=0)
        for _ in range(MOST + 2)
    ]
    for guest in guests:
        guest.start("a", {})
    del guests, guest
    gc.collect()
    assert len(sandbox._instances._idle) == MOST


@pytest.mark.parametrize("path", ["/proc/none", "/proc/self/mem", "/dev/null"], ids=["missing", "unreadable", "empty"])
def test_instance_without_a_page_map_is_not_used_again(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlgpt.sandbox.pristine._PAGEMAP", path)
    monkeypatch.delitem(runtime().__dict__, "pristine", raising=False)
    assert not started(SOILS).restore()
    monkeypatch.delitem(runtime().__dict__, "pristine", raising=False)
