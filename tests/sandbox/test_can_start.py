"""Views reach ``can_start`` as bytes or as JSON. Code sees equal values, and no reply of a guest changes an answer of
another action.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rlgpt.domain import CodedAction, Verdict
from rlgpt.sandbox import Guest, Library, Sandbox, SandboxLimits, Signature, constant_guards, replies
from rlgpt.sandbox.checks import Refused
from rlgpt.sandbox.encode import encode
from rlgpt.sandbox.guest.floats import Packed
from rlgpt.sandbox.runtime import Instance

RUN = "\ndef run():\n    yield grasp()\n"
OWN = "\nclass Other:\n    pass\n"
"""Code after which the answers of ``can_start`` are computed in the action's own instance."""

SEEN = (
    "def can_start(view):\n    text = str({})\n"
    "    return sum(text[::2].count(c) * n + text.count(c) for n, c in enumerate('0123456789.-[],: TrueFals')) % 2 == 1"
)
"""A ``can_start`` whose answer depends on the types, the order and the digits of what it sees."""

SEES = ("view", "view.get('a')", "[view.get('b'), view.get('a')]", "view.get('c', 0)")

TEXTS = st.text(st.characters(max_codepoint=0x24F), max_size=3)
"""Texts that every version of Unicode prints equally: host and guest have different versions."""

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = (
    NUMBERS
    | st.integers()
    | st.booleans()
    | TEXTS
    | st.lists(NUMBERS, max_size=5)
    | st.lists(st.integers(0, 3) | NUMBERS | st.none(), max_size=3)
    | st.dictionaries(TEXTS, NUMBERS, max_size=2)
)
VIEWS = st.dictionaries(st.sampled_from(["a", "b", "c", ""]) | TEXTS, VALUES, max_size=6)


def opened(*sources: str, limits: SandboxLimits | None = None, calls: list[None] | None = None) -> Guest:
    actions = [CodedAction(name=f"n{i}", doc="", source=source) for i, source in enumerate(sources)]
    on_turn: Callable[[], None] | None = None if calls is None else lambda: calls.append(None)
    sandbox = Sandbox(limits or SandboxLimits(), on_turn=on_turn)
    library = Library(primitives=(Signature(name="grasp"),))
    return sandbox.open(library, actions, seed=0, guards=sandbox.open_guards(library, actions))


@pytest.fixture(scope="module")
def seeing() -> Guest:
    """A guest with each ``can_start`` in the shared instance and in an instance of its own."""
    return opened(*(SEEN.format(what) + end for end in (RUN, RUN + OWN) for what in SEES))


@settings(max_examples=60)
@given(VIEWS)
@example({"a": -0.0, "b": 0, "c": False})
@example({"a": [0.1, 5e-324, -0.0], "b": 2**63, "c": True, "": 1.0})
@example({"b": [1.5] * 20, "a": "text", "c": {"a": 1.5}})
@example({"a": [1, 2.5], "c": None})
def test_answers_of_can_start_equal_those_of_the_same_code_outside_the_sandbox(
    seeing: Guest, view: dict[str, Any]
) -> None:
    expected = []
    for what in SEES:
        space: dict[str, Any] = {}
        exec(SEEN.format(what), space)
        expected.append(space["can_start"](json.loads(json.dumps(view))))
    answers = seeing.can_start_each(seeing.actions, view)
    assert [answers[name] for name in seeing.actions] == expected * 2


def test_views_that_code_can_tell_apart_have_different_encodings() -> None:
    """The encoding of a view is the key under which the answer is stored."""
    values = [0, 0.0, -0.0, False, 1, 1.0, True, None, "0", [0.0], [-0.0], [0], [False], [], {}, [0.0, 0.0], {"a": 0.0}]
    views = [dict(zip(keys, pair, strict=True)) for keys in ("ab", "ba") for pair in itertools.product(values, values)]
    encoded = {encode(view, "a", 8192): json.dumps(view) for view in views}
    assert sorted(encoded.values()) == sorted(map(json.dumps, views))


def _spied(monkeypatch: pytest.MonkeyPatch) -> list[Packed | str]:
    """The views with which ``can_start`` is called from now on."""
    seen: list[Packed | str] = []
    call = Instance.call

    def spy(self: Instance, export: str, *arguments: Any, **options: Any) -> bytes:
        if export == "ask-can-start":
            seen.append(arguments[-1])
        return call(self, export, *arguments, **options)

    monkeypatch.setattr(Instance, "call", spy)
    return seen


@pytest.mark.parametrize("end", [RUN, RUN + OWN], ids=["shared", "own"])
def test_numbers_are_sent_as_bytes_and_text_as_json(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    guest, seen = opened("def can_start(view):\n    return view['a'][0] == view['b']" + end), _spied(monkeypatch)
    assert guest.can_start("n0", {"a": [2.0], "b": 2, "c": "no code reads it"}) is True
    assert guest.can_start("n0", {"a": "2", "b": "2"}) is True
    assert [type(part) for part in seen] == [Packed, str]


@pytest.mark.parametrize("size", [10, 70_000], ids=["short", "longer than the exchange"])
def test_can_start_gets_a_view_as_bytes_with_a_memory_of_any_length(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    source = (
        f"def run(memory):\n    memory['text'] = 'x' * {size}\n    yield grasp()\n"
        f"def can_start(view, memory):\n    return memory == {{'text': 'x' * {size}}} and view['a'] == [1.5, 2.5]\n"
    )
    guest, seen = opened(source, limits=SandboxLimits(shared_bytes=100_000)), _spied(monkeypatch)
    assert guest.can_start("n0", {"a": [1.5, 2.5]}) is False, "the memory is empty"
    guest.start("n0")
    guest.send({})
    assert [guest.can_start("n0", {"a": [1.5, second]}) for second in (2.5, 0.5)] == [True, False]
    assert {type(part) for part in seen} == {Packed}


@pytest.mark.parametrize("end", [RUN, RUN + OWN], ids=["shared", "own"])
def test_view_of_can_start_has_the_limit_of_an_observed_view(end: str) -> None:
    guest = opened("def can_start(view):\n    return len(view['a']) > 1" + end, limits=SandboxLimits(view_bytes=480))
    for numbers, fits in (([1 / 3] * 60, True), ([1 / 3] * 61, False), ([0.5] * 100, True), ([math.nan] * 2, False)):
        answer = guest.can_start("n0", {"a": numbers})
        assert answer is True if fits else isinstance(answer, Verdict) and answer.kind == "view"


def test_replies_may_be_shorter_than_the_answers_of_all_actions() -> None:
    calls: list[None] = []
    guest = opened(
        *[f"def can_start(view):\n    return view['a'] > {i}" + RUN for i in range(30)],
        limits=SandboxLimits(reply_bytes=64),
        calls=calls,
    )
    assert list(guest.can_start_each(guest.actions, {"a": 12}).values()) == [i < 12 for i in range(30)]
    assert len(calls) == 1


LIES = {
    "too few": b'["answer",true]',
    "too many": b'["answer",true,true,true]',
    "none": b'["answer"]',
    "numbers": b'["answer",1,0]',
    "texts": b'["answer","true","true"]',
    "a list": b'["answer",[true,true]]',
    "NaN": b'["answer",NaN,true]',
    "another message": b'["loaded",true,true]',
    "cut off": b'["answer",true,true',
    "more after it": b'["answer",true,true]]',
    "no text": b'["answer",\xff,true]',
    "bytes": b"\x1f\x01\x01",
    "empty": b"",
    "long": b'["answer",true,true' + b" " * 5000 + b"]",
    "nested": b"[" * 5000,
    "an error": b'["error","error","no",1]',
}


@pytest.mark.parametrize("lie", LIES)
def test_lie_of_the_shared_instance_changes_no_answer(lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        with pytest.raises(Refused):
            replies.answers(LIES[lie], SandboxLimits(), 2)
    call, lied = Instance.call, list[str]()

    def lies(self: Instance, export: str, *arguments: Any, **options: Any) -> bytes:
        reply = call(self, export, *arguments, **options)
        if export == "ask-can-start" and arguments[0] == "n0 n1\n":
            lied.append(export)
            return LIES[lie]
        return reply

    monkeypatch.setattr(Instance, "call", lies)
    guest = opened(*[f"def can_start(view):\n    return view['a'] > {i}" + RUN for i in range(2)])
    for a in (1, 0, 2):
        assert guest.can_start_each(guest.actions, {"a": a}) == {"n0": a > 0, "n1": a > 1}
    assert lied


REACH = "__builtins__['__import__'].__globals__['sys'].modules"
FORGED = {
    "answers of other actions": "w.ask_can_start = lambda *_: '[\"answer\",true,true]'",
    "no answer": "w.ask_can_start = lambda *_: ''",
    "a number": "w.ask_can_start = lambda *_: '[\"answer\",1]'",
    "names": "w.ask_can_start = lambda asked, view: ask('n1\\n', view)",
    "a view of its own": "w.ask_can_start = lambda asked, view: ask(asked, {})",
    "forms": "m['exchange']._forms.clear()",
    "an exception": "w.ask_can_start = 3",
}


@pytest.mark.parametrize("how", FORGED)
def test_code_that_forges_the_answer_in_its_own_instance_changes_no_other_answer(how: str) -> None:
    forging = (
        f"m = {REACH}\nw = m['app'].WORLD\nask = w.ask_can_start\n"
        f"def can_start(view):\n    {FORGED[how]}\n    return view['a'] > 0" + RUN
    )
    guest = opened(forging, "def can_start(view):\n    return view['a'] > 1" + RUN)
    for a in (1, 2, 0):
        answers = guest.can_start_each(guest.actions, {"a": a})
        assert isinstance(answers["n0"], bool | Verdict)
        assert answers["n1"] is (a > 1)


@pytest.mark.parametrize("how", ["answers of other actions", "no answer", "a number", "names", "forms", "an exception"])
def test_forged_answer_gives_a_verdict(how: str) -> None:
    forging = (
        f"m = {REACH}\nw = m['app'].WORLD\nask = w.ask_can_start\n"
        f"def can_start(view):\n    {FORGED[how]}\n    return view['a'] > 0" + RUN
    )
    guest = opened(forging)
    assert guest.can_start("n0", {"a": 1}) is True
    assert isinstance(guest.can_start("n0", {"a": 2}), Verdict)


def test_code_may_not_use_the_fuel_of_the_actions_that_are_asked_together() -> None:
    loop = "def can_start(view):\n    n = 0\n    while n < view['a']:\n        n = n + 1\n    return True" + RUN
    guest = opened(loop, *["def can_start(view):\n    return view['a'] > 1" + RUN] * 3)
    answers = guest.can_start_each(guest.actions, {"a": constant_guards.FUEL // 100})
    assert answers == dict.fromkeys(guest.actions, True)
    assert guest._guards is not None
    assert "n0" not in guest._guards._sound
    assert {"n1", "n2", "n3"} <= guest._guards._sound
