"""The host reads hostile text of a guest. Every text becomes a checked turn or a refusal."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rlgpt.domain import PrimitiveCall, Verdict
from rlgpt.sandbox import Ask, Done, Library, SandboxLimits, replies
from rlgpt.sandbox.checks import Checker, Refused

LIMITS = SandboxLimits()
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
)
NAMES = st.sampled_from(["move_to", "grasp", "observe", "fly", ""])
ARGUMENTS = st.dictionaries(st.sampled_from(["x", "y", "speed", "tries", "hold", "z"]), SCALARS, max_size=4)
ASKS = st.tuples(
    st.just("ask"),
    st.booleans() | SCALARS,
    st.lists(st.tuples(NAMES, ARGUMENTS, st.integers() | SCALARS) | JSON, max_size=18) | JSON,
)


def _read(text: str, library: Library) -> Ask | Done | Refused:
    try:
        return replies.turn(text.encode("utf-8", "surrogatepass"), Checker(library), LIMITS)
    except Refused as refused:
        Verdict(kind=refused.kind, action="a", message=refused.message[:500], line=refused.line)
        return refused


def _holds(turn: Ask, library: Library) -> None:
    assert 1 <= len(turn.requests) <= LIMITS.requests
    assert turn.many or len(turn.requests) == 1
    signatures = {s.name: s for s in library.primitives}
    for request in turn.requests:
        parameters = signatures[request.name].parameters if request.name != "observe" else ()
        assert list(request.args) == [p.name for p in parameters]
        for p in parameters:
            value = request.args[p.name]
            assert type(value) is {"float": float, "int": int, "bool": bool, "choice": str}[p.kind]
            if isinstance(value, float | int) and p.kind in ("float", "int"):
                assert p.low is not None
                assert p.high is not None
                assert p.low <= value <= p.high
        assert set(request.clipped) <= set(request.args)
    # A record can store every request.
    for request in turn.requests:
        PrimitiveCall(name=request.name, args=dict(request.args), steps=1).model_dump_json()


@given(ASKS)
@example(("ask", False, [("move_to", {"x": -0.0, "tries": 19.0}, 3)]))
@example(("ask", False, [("move_to", {"x": math.inf}, 3)]))
@example(("ask", True, [("grasp", {}, True), ("observe", {}, -1)]))
def test_any_ask_message_of_a_guest_is_checked_or_refused(library: Library, message: Any) -> None:
    turn = _read(json.dumps(message), library)
    assert isinstance(turn, Ask | Refused)
    if isinstance(turn, Ask):
        _holds(turn, library)


@given(JSON)
def test_any_json_of_a_guest_is_checked_or_refused(library: Library, value: Any) -> None:
    turn = _read(json.dumps(value), library)
    if isinstance(turn, Ask):
        _holds(turn, library)
    else:
        assert isinstance(turn, Refused) or value == ["done"]


@given(st.text(max_size=5000))
@example('["done"')
@example("[" * 4000)
@example('{"a":' * 800)
@example("9" * 4096)
@example('["ask",false,[["move_to",{"x":1,"x":2},1]]]')
@example('["error","error","\\ud800",1]')
@example("\ud800")
@example("\ufeff[]")
def test_any_text_of_a_guest_is_checked_or_refused(library: Library, text: str) -> None:
    turn = _read(text, library)
    if isinstance(turn, Ask):
        _holds(turn, library)


@given(st.integers(min_value=0, max_value=900))
def test_depth_limit_of_a_reply_does_not_depend_on_the_recursion_limit_of_python(levels: int) -> None:
    """The effect of Python's own recursion limit depends on the depth of the caller."""
    text = b'["x",' * levels + b'["[[{{"]' + b"]" * levels
    if levels < replies.DEPTH:
        assert replies.parse(text, 8192)[0] in ("x", "[[{{")
    else:
        with pytest.raises(Refused, match="nested too deep"):
            replies.parse(text, 8192)


@given(st.integers(min_value=1, max_value=3000))
def test_length_limit_of_a_reply_is_in_bytes(n: int) -> None:
    text = json.dumps(["x" + "ä" * n], ensure_ascii=False).encode()
    if len(text) > 4096:
        with pytest.raises(Refused, match="at most 4096 bytes"):
            replies.parse(text, 4096)
    else:
        assert replies.parse(text, 4096)[0] == "x" + "ä" * n


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(min_value=-(10**400), max_value=10**400))
def test_number_in_a_request_is_clipped_to_the_nearest_bound(library: Library, number: float) -> None:
    request = Checker(library).request("move_to", {"x": number}, None)
    assert request.args["x"] == min(max(number, -1.5), 1.5)
    assert request.clipped == (() if -1.5 <= number <= 1.5 else ("x",))
