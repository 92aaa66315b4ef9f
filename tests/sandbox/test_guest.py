"""Coded actions in a guest: they observe, act, yield several requests at once, keep state, and clean up."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable

import pytest
from rlgpt.domain import CodedAction, Parameter, Plain, Verdict
from rlgpt.errors import PluginError, SandboxError, UnknownNameError
from rlgpt.sandbox import Ask, Done, Exhausted, Guest, Library, Sandbox, SandboxLimits

Open = Callable[..., Guest]


def test_yield_in_a_coded_action_returns_the_view_and_the_outcomes(open_guest: Open) -> None:
    guest = open_guest(
        """
def run():
    view = yield observe()
    outcome = yield move_to(view["hand"][0] + 0.25, speed="fast", tries=4.0)
    if outcome["reached"]:
        yield [grasp(), move_to(hold=True)]
"""
    )
    first = guest.start("a", {})
    assert isinstance(first, Ask)
    assert [(r.name, r.args, r.line) for r in first.requests] == [("observe", {}, 3)]
    assert not first.many
    second = guest.send({"hand": [1.0, 0.0, 0.0]})
    assert isinstance(second, Ask)
    assert second.requests[0].args == {"x": 1.25, "y": 0.5, "speed": "fast", "tries": 4, "hold": False}
    third = guest.send({"reached": True})
    assert isinstance(third, Ask)
    assert third.many
    assert [r.name for r in third.requests] == ["grasp", "move_to"]
    assert guest.send([{}, {}]) == Done()
    with pytest.raises(SandboxError, match="start one first"):
        guest.send({})


def test_dropped_guest_frees_its_instances_without_garbage_collection(open_guest: Open) -> None:
    """A training opens a guest for each episode, and each instance takes several megabytes."""
    gc.disable()
    try:
        guest = open_guest("def run():\n    yield grasp()\n")
        guest.start("a", {})
        dropped = weakref.ref(guest)
        del guest
        assert dropped() is None
    finally:
        gc.enable()


def test_request_lists_the_arguments_that_were_clipped_to_their_range(open_guest: Open) -> None:
    turn = open_guest("def run():\n    yield move_to(x=9, y=-1e9, tries=10**300)").start("a", {})
    assert isinstance(turn, Ask)
    request = turn.requests[0]
    assert request.args == {"x": 1.5, "y": 0.0, "speed": "slow", "tries": 20, "hold": False}
    assert request.clipped == ("x", "y", "tries")


def test_parameters_of_a_call_have_the_given_or_the_default_value(library: Library) -> None:
    action = CodedAction(
        name="go",
        doc="",
        source="def run(dx, dy=0.0):\n    yield move_to(x=dx, y=dy)",
        parameters=(
            Parameter(name="dx", low=-1, high=1, default=0.5),
            Parameter(name="dy", low=-1, high=1, default=0.25),
        ),
    )
    guest = Sandbox().open(library, [action], seed=0)
    given = guest.start("go", {"dx": -1})
    assert isinstance(given, Ask)
    assert (given.requests[0].args["x"], given.requests[0].args["y"]) == (-1.0, 0.25)
    with pytest.raises(UnknownNameError, match="Did you mean 'dx'"):
        guest.start("go", {"dxx": 1.0})
    with pytest.raises(UnknownNameError, match="unknown coded action 'gone'"):
        guest.start("gone", {})


def test_documented_modules_need_no_import_in_the_guest(open_guest: Open) -> None:
    source = """
def run():
    assert math.hypot(3, 4) == vec.norm([3, 4]) == 5
    assert statistics.median([1, 2, 3]) == 2 and json.loads("[1]") == [1]
    assert list(itertools.chain([1], [2])) == [1, 2] and functools.reduce(max, [1, 3]) == 3
    assert collections.Counter("aab")["a"] == 2 and heapq.nsmallest(1, [2, 1]) == [1]
    assert 0 <= random.random() < 1 and typing.Any and dataclasses.field
    yield grasp()
"""
    assert isinstance(open_guest(source).start("a", {}), Ask)


def test_ordinary_python_runs_in_the_guest(open_guest: Open) -> None:
    source = """
from __future__ import annotations
from collections import namedtuple
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, Optional
import copy, re, string, operator, bisect

class Side(Enum):
    LEFT = "left"

@dataclass(frozen=True)
class Goal:
    x: float
    tags: list[str] = field(default_factory=list)

class Point(NamedTuple):
    x: float

Pair = namedtuple("Pair", "a b")
counts: dict[str, int] = {"k": 0}

def helper(n: int):
    for _ in range(n):
        outcome = yield move_to(x=Goal(0.5).x)
        counts["k"] += 1
    return outcome

def run():
    total = 0
    def bump():
        nonlocal total
        total += 1
    bump()
    outcome = yield from helper(2)
    print("nothing comes of this", counts)
    assert copy.deepcopy(Pair(1, [2])).b == [2] and re.match("a+", "aa") and Side("left") is Side.LEFT
    random.seed(); random.Random().random(); random.shuffle([1, 2]); random.gauss(0, 1)
    yield move_to(x=outcome["x"], tries=counts["k"] + total)
"""
    guest = open_guest(source)
    guest.start("a", {})
    guest.send({"x": 0.0})
    turn = guest.send({"x": 0.75})
    assert isinstance(turn, Ask), turn
    assert (turn.requests[0].args["x"], turn.requests[0].args["tries"]) == (0.75, 3)


def test_globals_of_a_source_are_private_to_an_action_and_last_for_an_episode(open_guest: Open) -> None:
    source = "n = 0\ndef run():\n    global n\n    n += 1\n    yield move_to(tries=n)"
    guest = open_guest(source, source)
    tries = []
    for name in "aab":
        turn = guest.start(name, {})
        assert isinstance(turn, Ask)
        tries.append(turn.requests[0].args["tries"])
    assert tries == [1, 2, 1]
    fresh = open_guest(source).start("a", {})
    assert isinstance(fresh, Ask)
    assert fresh.requests[0].args["tries"] == 1


_GONE = "in can_start(view): KeyError: no key 'gone'; of the view there are: hand, kettle, step, note"


def test_can_start_returns_true_false_or_a_verdict_for_a_view(open_guest: Open) -> None:
    ready = "def run():\n    yield grasp()\n\ndef can_start(view):\n    return view['hand'] and view['hand'][0] > 0"
    guest = open_guest(ready, "def run():\n    yield grasp()", ready.replace("view['hand'][0]", "view['gone']"))
    assert [guest.load(a) for a in "abc"] == [True, False, True]
    assert guest.can_start("a", {"hand": [1.0]}) is True
    assert guest.can_start("a", {"hand": [-1.0]}) is False
    assert guest.can_start("a", {"hand": []}) is False
    assert guest.can_start("b", {}) is True
    refused = guest.can_start("c", {"hand": [1.0]})
    assert isinstance(refused, Verdict)
    assert (refused.kind, refused.line, refused.message) == ("error", 5, _GONE)


def test_can_start_does_not_disturb_a_waiting_generator(open_guest: Open) -> None:
    guest = open_guest("def run():\n    yield grasp()\n    yield move_to()\n\ndef can_start(view):\n    return 1 / 0")
    guest.start("a", {})
    assert isinstance(guest.can_start("a", {}), Verdict)
    assert isinstance(guest.send({}), Ask)


def test_loading_another_action_does_not_disturb_a_waiting_generator(open_guest: Open) -> None:
    guest = open_guest("def run():\n    yield grasp()\n    yield grasp()", "def can_start(view): pass\n1 / 0")
    guest.start("a", {})
    broken = guest.can_start("b", {})
    assert isinstance(broken, Verdict)
    assert (broken.kind, guest.load("b")) == ("load", broken)
    assert isinstance(guest.send({}), Ask)


def test_cancel_runs_the_finally_block_once_and_the_next_call_starts_at_its_beginning(open_guest: Open) -> None:
    guest = open_guest(
        "closed = 0\ndef run():\n    global closed\n    try:\n        yield move_to(tries=closed + 1)\n"
        "        yield grasp()\n    finally:\n        closed += 1"
    )
    guest.start("a", {})
    guest.cancel()
    guest.cancel()
    turn = guest.start("a", {})
    assert isinstance(turn, Ask)
    assert turn.requests[0].args["tries"] == 2
    with_two = guest.start("a", {})
    assert isinstance(with_two, Ask)
    assert with_two.requests[0].args["tries"] == 3


def test_fuel_verdict_on_one_action_does_not_affect_other_actions(open_guest: Open) -> None:
    guest = open_guest("def run():\n    while True: pass\n    yield", "def run():\n    yield grasp()")
    stopped = guest.start("a", {})
    assert isinstance(stopped, Verdict)
    assert stopped.kind == "fuel"
    assert stopped.fuel == guest.fuel_used == guest.limits.turn_fuel
    assert isinstance(guest.start("b", {}), Ask)
    assert guest.send({}) == Done()


def test_view_that_is_too_large_or_not_finite_causes_a_verdict(open_guest: Open) -> None:
    guest = open_guest("def run():\n    len((yield observe()))", limits=SandboxLimits(view_bytes=100))
    views: list[Plain] = [{"text": "x" * 100}, {"number": float("nan")}]
    for view in views:
        guest.start("a", {})
        turn = guest.send(view)
        assert isinstance(turn, Verdict)
        assert turn.kind == "view"
    assert isinstance(guest.start("a", {}), Ask)
    assert guest.send({"text": "x" * 80}) == Done()


def test_outcome_with_a_value_that_is_not_plain_raises_a_plugin_error(open_guest: Open) -> None:
    guest = open_guest("def run():\n    len((yield observe()))")
    guest.start("a", {})
    with pytest.raises(PluginError, match="only None, bool, int, float, str, list and dict"):
        guest.send({"hand": {1, 2}})  # type: ignore[dict-item]


def test_sandbox_refuses_two_actions_of_the_same_name(open_guest: Open) -> None:
    action = CodedAction(name="a", doc="", source="")
    with pytest.raises(SandboxError, match="must differ"):
        open_guest(action, action)


@pytest.mark.parametrize(("max_steps", "most"), [(None, 5), (3, 5), (9, 9)])
def test_call_can_yield_primitives_max_steps_times_and_observe_in_addition(
    max_steps: int | None, most: int, open_guest: Open
) -> None:
    source = "def run():\n    while True:\n        yield observe()\n        yield [observe(), grasp()]\n"
    action = CodedAction(name="a", doc="", source=source, max_steps=max_steps)
    guest = open_guest(action, limits=SandboxLimits(yields=5))
    acted, turn = 0, guest.start("a")
    while isinstance(turn, Ask):
        acted += turn.many
        turn = guest.send([{}, {}] if turn.many else {})
    assert turn == Exhausted()
    assert acted == most
    assert isinstance(guest.start("a"), Ask), "the action can be called again"


def test_endless_clean_up_after_the_last_yield_gives_a_fuel_verdict(open_guest: Open) -> None:
    body = "    try:\n        while True:\n            yield grasp()\n    finally:\n        while True: pass\n"
    guest = open_guest(f"def run():\n{body}", limits=SandboxLimits(yields=1, turn_fuel=10**7))
    guest.start("a")
    turn = guest.send({})
    assert isinstance(turn, Exhausted)
    assert turn.verdict is not None
    assert turn.verdict.kind == "fuel"


def test_limit_of_observe_calls_grows_with_max_steps(open_guest: Open) -> None:
    source = "def run():\n    for _ in range(7):\n        yield [observe()] * 3\n"
    for max_steps, passes in ((5, False), (11, True)):
        action = CodedAction(name="a", doc="", source=source, max_steps=max_steps)
        guest = open_guest(action, limits=SandboxLimits(yields=1, looks=1))
        turn = guest.start("a")
        while isinstance(turn, Ask):
            turn = guest.send([{}] * 3)
        assert (turn == Done()) is passes, turn
