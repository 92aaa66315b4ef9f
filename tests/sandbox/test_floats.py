"""Numbers cross as bytes. Code sees the values that JSON would give. A guest that lies about its bytes is stopped."""

from __future__ import annotations

import copy
import json
import struct
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rlgpt.domain import Verdict
from rlgpt.sandbox import Ask, Done, Guest, Library, SandboxLimits, replies
from rlgpt.sandbox.checks import Checker, Refused
from rlgpt.sandbox.encode import encode
from rlgpt.sandbox.guest.floats import MARK, pack, reader

Open = Callable[..., Guest]
LIMITS = SandboxLimits()
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBERS | st.text(max_size=5) | st.lists(NUMBERS, max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)
VIEWS = st.dictionaries(st.text(max_size=4), VALUES, max_size=8)
SMALL = {"hand": [0.1, -0.0, 5e-324, 1.7976931348623157e308], "far": [1, 2.5], "note": "a\x1fb", "on": True, "n": 3}
VIEW = SMALL | {"map": [i / 7 for i in range(48)]}


def _exact(value: Any) -> str:
    """A text that differs for values that code can tell apart: types, signs of zero, order of keys."""
    return json.dumps(value)


@given(VIEWS | st.lists(VIEWS | VALUES, max_size=4))
@example(SMALL)
@example([{"reached": True, "distance": 0.25}, SMALL, {}])
@example({"a": [1.5] * 4, "b": [2.5, 3]})
@example({"a": [1.5] * 4, "b": [], "c": [[0.5]], "d": {"a": 1.5}, "": 0.5})
def test_numbers_as_bytes_give_the_values_of_json(value: Any) -> None:
    packed = pack(value, json.dumps)
    if packed is not None:
        read, make = reader(packed.form, json.loads)
        for _ in range(2):
            assert _exact(make(read(packed.data, 0), packed.others)) == _exact(value)


def test_equal_views_are_encoded_equally_whatever_came_before() -> None:
    first = encode(VIEW, "a", 8192)
    encode(VIEW | {"hand": [1.0, 2.0, 3.0, 4.0, 5.0], "far": [0.5, 2.5]}, "a", 8192)
    assert encode(copy.deepcopy(VIEW), "a", 8192) == first


def test_view_in_the_guest_equals_the_view_of_the_host(open_guest: Open) -> None:
    source = (
        "def run():\n    view = yield observe()\n    outcome, again = yield [grasp(), observe()]\n"
        "    assert type(view) is dict and type(view['hand']) is list and view == again and view is not again\n"
        "    assert view['hand'] is not again['hand'] and list(view) == ['hand', 'far', 'note', 'on', 'n', 'map']\n"
        f"    raise ValueError(json.dumps([view, outcome]) == {json.dumps([VIEW, {'reached': True, 'error': 0.25}])!r})"
    )
    guest = open_guest(source)
    guest.start("a")
    guest.send(VIEW)
    turn = guest.send([{"reached": True, "error": 0.25}, VIEW])
    assert isinstance(turn, Verdict)
    assert turn.message == "ValueError: True"


def test_code_that_changes_or_keeps_a_view_changes_no_other_view(open_guest: Open) -> None:
    source = (
        "def run():\n    old = yield observe()\n"
        "    old['hand'][0] = 99.0\n    old['hand'] += [1.0]\n    del old['far']\n"
        "    new = yield observe()\n    newest = yield observe()\n    new['hand'].clear()\n"
        "    changed = json.dumps([old['hand'][0], len(old['hand']), newest])\n"
        f"    raise ValueError(changed == {json.dumps([99.0, 5, VIEW])!r})"
    )
    guest, view = open_guest(source), copy.deepcopy(VIEW)
    guest.start("a")
    for _ in range(2):
        guest.send(view)
    turn = guest.send(view)
    assert isinstance(turn, Verdict)
    assert turn.message == "ValueError: True"
    assert view == VIEW


def test_view_of_many_floats_is_limited_by_their_bytes_or_by_its_json(open_guest: Open) -> None:
    guest = open_guest("def run():\n    len((yield observe()))", limits=SandboxLimits(view_bytes=480))
    long, short = 1 / 3, 0.5
    for numbers, fits in (([long] * 60, True), ([long] * 61, False), ([short] * 100, True), ([short] * 120, False)):
        guest.start("a")
        turn = guest.send({"a": numbers})
        assert (turn == Done()) is fits, len(numbers)
        assert fits or (isinstance(turn, Verdict) and turn.kind == "view")


def test_view_with_a_float_that_is_not_finite_causes_a_verdict(open_guest: Open) -> None:
    guest = open_guest("def run():\n    len((yield observe()))")
    for number in (float("nan"), float("inf")):
        guest.start("a")
        turn = guest.send({"a": [0.5] * 50 + [number, -number]})
        assert isinstance(turn, Verdict)
        assert turn.kind == "view"
    guest.start("a")
    assert guest.send({"a": [1.7e308] * 50}) == Done(), "a sum that is not finite is no fault"


REQUESTS = [
    "move_to(x=0.1, y=1/3)",
    "move_to(x=9.5, y=1.0)",
    "move_to(0.5)",
    "move_to(y=1)",
    "move_to(x=True)",
    "move_to(x=-0.0, tries=7, hold=True)",
    "move_to(tries=99, y=-5.0)",
    "move_to(tries=True)",
    "move_to(tries=2.0, hold=False)",
    "move_to(hold=1)",
    "move_to(x=2**63 - 1, tries=-2**63)",
    "move_to(tries=2**63)",
    "[move_to(x=0.1), grasp(), move_to(y=0.2, x=-1.0)]",
    "[move_to(x=0.1, speed='fast'), move_to()]",
    "[move_to(x=i / 7, tries=i, hold=i % 2 == 0) for i in range(16)]",
    "observe()",
]


@pytest.mark.parametrize("request_", REQUESTS)
def test_packed_requests_equal_those_in_json(request_: str, open_guest: Open) -> None:
    source = f"def run():\n    while True:\n        yield {request_}"
    off = "    __builtins__['__import__'].__globals__['sys'].modules['floats'].LONGEST = -1\n"

    def turns(source: str) -> list[str]:
        guest = open_guest(source)
        found = [guest.start("a")]
        while len(found) < 3 and isinstance(found[-1], Ask):
            found.append(guest.send([{}] * 16))
        return [f"{turn.kind}: {turn.message}" if isinstance(turn, Verdict) else repr(turn) for turn in found]

    expected = turns(source.replace("def run():\n", f"def run():\n{off}"))
    assert turns(source) == [turn.replace("line=4", "line=3") for turn in expected]


def test_numbers_of_requests_are_sent_as_bytes(open_guest: Open) -> None:
    source = "def run():\n    yield move_to(x=1/3, y=1.0, tries=7, hold=True)"
    (said,) = replies_of(open_guest(source))
    assert said == MARK + _head(["move_to", 2, "ddq?", "x", "y", "tries", "hold"]) + MARK + struct.pack(
        "<ddq?", 1 / 3, 1.0, 7, True
    )


def replies_of(guest: Guest) -> list[bytes]:
    """The messages of the guest in the first turn of its action."""
    said: list[bytes] = []
    guest.load("a")
    runner = guest._runner("a")
    instance = runner._instance
    assert instance is not None
    call = instance.call
    instance.call = lambda *given, **options: said.append(call(*given, **options)) or said[-1]  # type: ignore[method-assign, func-returns-value]
    guest.start("a")
    return said


CHANGES = {"x": ("'far'", "type"), "y": ("2", None), "z": ("0.5", "type"), "again": ("[0.5]", "type")}


@pytest.mark.parametrize("key", CHANGES)
def test_arguments_that_code_changes_after_the_call_are_checked_as_json(key: str, open_guest: Open) -> None:
    value, kind = CHANGES[key]
    change = f"    request.args[{key!r}] = {value}\n"
    turn = open_guest(f"def run():\n    request = move_to(x=0.5)\n{change}    yield request").start("a")
    if kind is None:
        assert isinstance(turn, Ask)
        assert turn.requests[0].args["y"] == 2.0
    else:
        assert isinstance(turn, Verdict)
        assert turn.kind == kind


def _head(*items: Any, many: bool = False) -> bytes:
    return json.dumps(["ask", many, list(items)], separators=(",", ":")).encode()


def _data(*numbers: float) -> bytes:
    return struct.pack(f"<{len(numbers)}d", *numbers)


def _said(head: bytes, data: bytes) -> bytes:
    return MARK + head + MARK + data


MOVE = ["move_to", 3, "dd", "x", "y"]
LIES = {
    "torn": (_head(MOVE), _data(0.1, 0.2)[:-1], "reply"),
    "half": (_head(MOVE), _data(0.1), "reply"),
    "too many": (_head(MOVE), _data(0.1, 0.2, 0.3), "reply"),
    "none": (_head(MOVE), b"", "reply"),
    "a byte more": (_head(MOVE), _data(0.1, 0.2) + b" ", "reply"),
    "a mark more": (_head(MOVE), MARK + _data(0.1, 0.2), "reply"),
    "NaN": (_head(MOVE), _data(0.1, float("nan")), "reply"),
    "infinity": (_head(MOVE), _data(float("inf"), float("-inf")), "reply"),
    "NaN beside an int": (_head(["move_to", 3, "qd", "tries", "x"]), bytes(8) + _data(float("nan")), "reply"),
    "fewer kinds than arguments": (_head(["move_to", 3, "d", "x", "y"]), _data(0.1), "reply"),
    "more kinds than arguments": (_head(["move_to", 3, "dd", "x"]), _data(0.1, 0.2), "reply"),
    "an unknown kind": (_head(["move_to", 3, "dP", "x", "y"]), _data(0.1, 0.2), "reply"),
    "a count as a kind": (_head(["move_to", 3, "9d", "x", "y"]), _data(*[0.1] * 9), "reply"),
    "a kind that is a number": (_head(["move_to", 3, 2, "x", "y"]), _data(0.1, 0.2), "reply"),
    "no kinds": (_head(["move_to", 3]), b"", "reply"),
    "bytes that are no text": (b'["ask",false,[["\xff",3,""]]]', b"", "reply"),
    "a bool for a float": (_head(["move_to", 3, "?", "x"]), b"\1", "type"),
    "an int for a bool": (_head(["move_to", 3, "q", "hold"]), bytes(8), "type"),
    "another primitive": (_head(["fly", 3, "d", "x"]), _data(0.1), "primitive"),
    "another argument": (_head(["grasp", 3, "d", "x"]), _data(0.1), "type"),
    "a choice": (_head(["move_to", 3, "d", "speed"]), _data(0.1), "type"),
    "a fraction for an int": (_head(["move_to", 3, "d", "tries"]), _data(1.5), "type"),
    "a float for a bool": (_head(["move_to", 3, "d", "hold"]), _data(1.0), "type"),
    "no list": (b'{"ask": 1}', b"", "reply"),
    "no JSON": (b"[", b"", "reply"),
    "nested": (b"[" * 100, b"", "reply"),
    "an error": (b'["error","error","no",1]', b"", "reply"),
    "no requests": (_head(many=True), b"", "reply"),
    "two that are one": (_head(MOVE, MOVE), _data(*[0.1] * 4), "reply"),
    "too many requests": (_head(*[["grasp", 1, ""]] * 17, many=True), b"", "type"),
    "a name that is a list": (_head([["grasp"], 3, ""]), b"", "reply"),
    "arguments that are numbers": (_head(["move_to", 3, "d", 1]), _data(0.1), "reply"),
    "too long": (_head(["move_to", 3, "d" * 400, *["x"] * 400]), _data(*[0.1] * 400), "reply"),
}


@pytest.mark.parametrize("lie", LIES)
def test_lie_about_numbers_gives_a_verdict_however_often_it_is_told(
    lie: str, library: Library, open_guest: Open
) -> None:
    head, data, kind = LIES[lie]
    checker = Checker(library)
    for _ in range(2):
        with pytest.raises(Refused) as refused:
            replies.turn(_said(head, data), checker, LIMITS)
        assert refused.value.kind == kind
    reach = "__builtins__['__import__'].__globals__['sys'].modules['app'].__dict__"
    guest = open_guest(f"def run():\n    {reach}['_reply'] = lambda *_: {_said(head, data)!r}\n    yield grasp()")
    turn = guest.start("a")
    assert isinstance(turn, Verdict)
    assert turn.kind == kind


def test_lines_and_repeated_arguments_of_a_form_are_not_trusted(library: Library) -> None:
    head = _head(["move_to", "3; x", "dd", "x", "x"], ["grasp", 10**9, ""], many=True)
    turn = replies.turn(_said(head, _data(0.1, 0.2)), Checker(library), LIMITS)
    assert isinstance(turn, Ask)
    assert [request.line for request in turn.requests] == [None, None]
    assert turn.requests[0].args["x"] == 0.2


def test_requests_of_a_known_form_do_not_share_their_arguments(library: Library) -> None:
    checker = Checker(library)
    first, second = (replies.turn(_said(_head(MOVE), _data(x, 0.2)), checker, LIMITS) for x in (0.1, 0.3))
    assert isinstance(first, Ask)
    assert isinstance(second, Ask)
    first.requests[0].args["tries"] = 99
    assert second.requests[0].args == {"x": 0.3, "y": 0.2, "speed": "slow", "tries": 3, "hold": False}


def test_many_forms_do_not_fill_the_memory(library: Library) -> None:
    checker = Checker(library)
    for line in range(1, 2000):
        replies.turn(_said(_head(["grasp", line, ""]), b""), checker, LIMITS)
    assert len(checker.forms) <= 256


def test_code_that_changes_its_own_forms_gets_a_verdict(open_guest: Open) -> None:
    """The host reads the bytes by the form that it checked."""
    reach = "__builtins__['__import__'].__globals__['sys'].modules['floats'].__dict__"
    source = (
        f"def run():\n    packers = {reach}['_packers']\n    while True:\n        yield move_to(x=0.1, y=0.2)\n"
        "        for key, (_, head) in packers.items():\n"
        "            packers[key] = (lambda head, *numbers: head + bytes(8)), head\n"
    )
    guest = open_guest(source)
    assert isinstance(guest.start("a"), Ask)
    turn = guest.send({})
    assert isinstance(turn, Verdict)
    assert turn.kind == "reply"
