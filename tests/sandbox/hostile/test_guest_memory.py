"""A guest that controls its whole memory, and calls that end early. The host and the next episode do not notice."""

from __future__ import annotations

import ctypes
import gc
import random
import threading
import tracemalloc
from typing import Any

import pytest
from hostile_guards import Open, Patch
from raw_instances import LIMITS, memory_of, started
from rlgpt.domain import CodedAction, Verdict
from rlgpt.errors import SandboxError
from rlgpt.sandbox import Ask, Library, Sandbox, SandboxLimits, binding
from rlgpt.sandbox.checks import Refused
from rlgpt.sandbox.guest.floats import Packed
from rlgpt.sandbox.instances import Instances
from rlgpt.sandbox.runtime import Instance, runtime
from rlgpt.sandbox.stack import thread_pool

FUEL = 10**8
GRASPS = "def run():\n    while True:\n        yield grasp()\n"
LOOPS = "def run():\n    yield grasp()\n    while True: pass\n"
LONG_TEXT = f'"{"x" * 100_000}"'
PACKED = Packed('[false,[[null,["a"],[2]]]]', "", bytes(16))


def _fill(instance: Instance, where: str, draw: random.Random) -> None:
    """Write arbitrary words into a part of the memory of ``instance``."""
    (base, size), places = instance._binding.memory, runtime().places
    calls = int.from_bytes(ctypes.string_at(base + places["arguments"], 4), "little")
    kind = int.from_bytes(ctypes.string_at(base + calls + 4, 4), "little")
    begin, words = {
        "the exchange": (places["exchange"], 8),
        "names of methods": (places["send_reply"], 8),
        "arguments": (places["arguments"] - 4, 2),
        "the object": (calls, 4),
        "its type": (kind, 60),
        "anywhere": (0, size // 4),
    }[where]
    for _ in range(draw.choice([1, 3, 30])):
        word = draw.choice([0, 2**32 - 1, draw.randrange(2**32), draw.randrange(size)])
        ctypes.memmove(base + begin + 4 * draw.randrange(words), word.to_bytes(4, "little"), 4)


@pytest.mark.parametrize(
    "where", ["the exchange", "names of methods", "arguments", "the object", "its type", "anywhere"]
)
def test_any_content_of_the_memory_gives_a_reply_or_a_verdict_and_is_restored(where: str) -> None:
    new, draw, restored = memory_of(Instance(LIMITS)), random.Random(where), 0
    for _ in range(8):
        instance = started(GRASPS, FUEL)
        for arguments in (("{}",), (PACKED,), (LONG_TEXT,)):
            _fill(instance, where, draw)
            try:
                assert isinstance(instance.call("send-reply", *arguments, fuel=FUEL), bytes)
            except Refused:
                break
        if instance.restore():
            restored += 1
            assert memory_of(instance) == new
    assert restored or where not in ("the exchange", "anywhere")


LONG = """
def run(memory):
    ex = __builtins__['__import__'].__globals__['sys'].modules['exchange']
    big = BEGIN + 10_000_000 * b'x'
    ex.send = lambda reply: ex._long(ex.EXCHANGE, 0, len(big), id(big) + ex._IN_BYTES)
    yield grasp()
"""


@pytest.mark.parametrize(
    ("begin", "kind", "says"),
    [
        (b"", "reply", "one yield may send at most 4096 bytes, got 10000000 characters"),
        (b'["memory",', "memory", "`memory` takes 9999999 bytes as JSON; at most 8192 are kept"),
    ],
)
def test_host_refuses_a_long_reply_before_it_copies_it(begin: bytes, kind: str, says: str, open_guest: Open) -> None:
    guest = open_guest(LONG.replace("BEGIN", repr(begin)))
    guest.start("a", {})
    tracemalloc.start()
    try:
        turn = guest.send({})
        if not isinstance(turn, Verdict):
            turn = guest.send({})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(turn, Verdict)
    assert (turn.kind, turn.message) == (kind, says)
    assert peak < 1_000_000


class Interrupted(BaseException):
    """What the handler of a signal raises."""


def _interrupt(patch: Patch) -> None:
    """Let a signal arrive during the next call that ends in a trap. Python handles a signal when the call has ended."""
    call = binding._call

    def interrupted(*arguments: Any) -> Any:
        failed = call(*arguments)
        if ctypes.c_void_p.from_address(arguments[4]).value:
            patch.undo()
            raise Interrupted
        return failed

    patch.setattr(binding, "_call", interrupted)


def test_a_signal_during_a_turn_that_is_stopped_does_not_reach_the_next_episode(
    library: Library, monkeypatch: Patch
) -> None:
    sandbox = Sandbox(SandboxLimits(turn_fuel=10**7))

    def guest(source: str) -> Any:
        return sandbox.open(library, [CodedAction(name="a", doc="", source=source)], seed=0)

    first = guest(LOOPS)
    first.start("a", {})
    _interrupt(monkeypatch)
    with pytest.raises(Interrupted):
        first.send({})
    del first
    gc.collect()
    assert isinstance(guest(GRASPS).start("a", {}), Ask)


class Owner:
    """An owner that gives its instance up, as a runner does, while the garbage collector removes the owner's cycle."""

    def __init__(self, instances: Instances) -> None:
        self.itself, self.instances = self, instances
        self.instance = started(GRASPS, FUEL)

    def __del__(self) -> None:
        self.instances.give(self.instance)


def test_instance_whose_store_the_garbage_collector_closes_is_not_given_away() -> None:
    """Another thread could use it between the two, and the process would end."""
    instances = Instances()
    Owner(instances)
    gc.collect()
    assert not instances._idle


def test_grown_instance_is_not_kept() -> None:
    instances, instance = Instances(), started(GRASPS, FUEL)
    source = "kept = bytes(20_000_000)\ndef run():\n    yield grasp()\n"
    instance.call("load-action", "b", source, "run", "", fuel=FUEL)
    instances.give(instance)
    assert not instances._idle


def test_thread_whose_stack_is_too_small_for_the_guest_is_refused(open_guest: Open) -> None:
    """The guest's code may use 2 MiB of the thread's stack. Without the check, nested calls end the process. The C
    library gives some of the threads a larger stack of a thread that has ended.
    """
    found: list[object] = []

    def play(together: threading.Barrier) -> None:
        together.wait()
        try:
            found.append(open_guest(GRASPS).start("a", {}))
        except SandboxError as error:
            found.append(str(error))

    for size, count in ((2 * 2**20, 32), (3 * 2**20, 1)):
        before = threading.stack_size(size)
        together = threading.Barrier(count)
        try:
            threads = [threading.Thread(target=play, args=(together,)) for _ in range(count)]
            for thread in threads:
                thread.start()
        finally:
            threading.stack_size(before)
        for thread in threads:
            thread.join()
    assert any("has a stack of 2 MiB, and code in the sandbox needs 3 MiB" in str(f) for f in found[:-1])
    assert isinstance(found[-1], Ask)


def test_thread_pool_has_the_stack_that_the_guest_needs(open_guest: Open) -> None:
    before = threading.stack_size(2 * 2**20)
    try:
        pool = thread_pool(2, "guests")
        assert threading.stack_size() == 2 * 2**20, "other threads keep their size"
        guest = open_guest(GRASPS)
        assert isinstance(pool.submit(guest.start, "a", {}).result(), Ask)
        pool.shutdown()
    finally:
        threading.stack_size(before)
