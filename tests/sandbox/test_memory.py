"""Coded actions share helper functions, each in its own guest instance, and a memory that the host copies between
instances.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlgpt.domain import CodedAction, Parameter, Verdict
from rlgpt.sandbox import Ask, Done, Exhausted, Guest, SandboxLimits, Turn, replies
from rlgpt.sandbox.checks import Refused
from rlgpt.sandbox.guest.packing import LEVELS, PackingError, pack, unpack

Open = Callable[..., Guest]

REACH = "    g = __builtins__['__import__'].__globals__['sys'].modules['app'].__dict__\n"


def action(name: str, source: str, **more: Any) -> CodedAction:
    return CodedAction(name=name, doc="", source=source, **more)


def say(guest: Guest, name: str, *, view: dict | None = None) -> Turn:
    """Play the action ``name`` to its end. Every request gets an empty outcome."""
    turn = guest.start(name)
    while isinstance(turn, Ask):
        turn = guest.send([{}] * len(turn.requests) if turn.many else {})
    return turn


def told(guest: Guest, name: str) -> str:
    """Play the action ``name``. Return the message of its verdict."""
    turn = say(guest, name)
    assert isinstance(turn, Verdict), turn
    return turn.message


WRITE = "def run(memory):\n    {body}\n    yield grasp()\n"
TELL = "def run(memory):\n    yield grasp()\n    raise ValueError(repr(memory))\n"


def test_coded_action_reads_the_memory_that_another_action_wrote(open_guest: Open) -> None:
    body = "memory.setdefault('cells', set()).add((1, 2)); memory[3] = {'x': [1.5, None, True]}"
    guest = open_guest(action("put", WRITE.format(body=body)), action("tell", TELL))
    assert told(guest, "tell") == "ValueError: {}"
    assert say(guest, "put") == Done()
    assert say(guest, "put") == Done()
    assert told(guest, "tell") == "ValueError: " + repr({"cells": {(1, 2)}, 3: {"x": [1.5, None, True]}})


def test_memory_for_records_has_no_huge_integers_and_no_lone_surrogates(open_guest: Open) -> None:
    body = r"memory['big'] = [2**63 - 1, 2**64, -(9**999)]; memory['\ud800'] = '\ud800'"
    guest = open_guest(action("put", WRITE.format(body=body)))
    assert say(guest, "put") == Done()
    plain = guest.memory
    assert plain["big"] == [2**63 - 1, hex(2**64), hex(-(9**999))]
    assert plain["?"] == "?"


def test_memory_of_coded_actions_is_empty_in_a_new_episode(open_guest: Open) -> None:
    for _ in range(2):
        guest = open_guest(action("put", WRITE.format(body="memory['n'] = 1")), action("tell", TELL))
        assert told(guest, "tell") == "ValueError: {}"
        say(guest, "put")


def test_can_start_reads_the_memory_and_its_changes_of_the_memory_are_lost(open_guest: Open) -> None:
    source = (
        "def can_start(view, memory):\n    memory['asked'] = memory.get('asked', 0) + 1\n"
        "    return memory.get('tried', 0) < 2 and memory['asked'] == 1\n"
        "def run(memory):\n    memory['tried'] = memory.get('tried', 0) + 1\n    yield grasp()\n"
    )
    guest = open_guest(action("twice", source), action("tell", TELL))
    answers = []
    for _ in range(3):
        answers.append(guest.can_start("twice", {}))
        say(guest, "twice")
    assert answers == [True, True, False]
    assert told(guest, "tell") == "ValueError: {'tried': 3}"


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("yield grasp()", True),
        ("return", True),
        ("raise ValueError", False),
        ("yield 5", False),
        ("while True: pass", False),
        ("yield move_to(z=1)", False),
    ],
)
def test_call_that_fails_does_not_change_the_memory(body: str, kept: bool, open_guest: Open) -> None:
    source = f"def run(memory):\n    memory['n'] = 1\n    yield grasp()\n    {body}\n"
    guest = open_guest(action("put", source), action("tell", TELL), limits=SandboxLimits(turn_fuel=10**7))
    say(guest, "put")
    assert told(guest, "tell") == f"ValueError: { ({'n': 1} if kept else {})!r}"


def test_cancelled_call_keeps_the_memory_changes_of_its_clean_up(open_guest: Open) -> None:
    source = "def run(memory):\n    try:\n        yield grasp()\n    finally:\n        memory['closed'] = True\n"
    guest = open_guest(action("put", source), action("tell", TELL))
    guest.start("put")
    assert guest.cancel() is None
    assert told(guest, "tell") == "ValueError: {'closed': True}"


def test_call_that_reaches_its_limit_of_yields_keeps_its_memory_changes(open_guest: Open) -> None:
    source = "def run(memory):\n    while True:\n        memory['n'] = memory.get('n', 0) + 1\n        yield grasp()\n"
    guest = open_guest(action("put", source), action("tell", TELL), limits=SandboxLimits(yields=3))
    assert say(guest, "put") == Exhausted()
    assert told(guest, "tell") == "ValueError: {'n': 4}"


@pytest.mark.parametrize(
    ("body", "kind", "says"),
    [
        ("memory['x'] = 'x' * 9000", "memory", "at most 8192 are kept"),
        ("memory['x'] = memory", "type", "within itself"),
        ("memory['x'] = collections.Counter()", "type", "got Counter"),
        ("memory['x'] = grasp()", "type", "got Request"),
        ("memory['x'] = float('nan')", "type", "finite"),
        ("memory['x'] = lambda: 0", "type", "got function"),
        ("memory['x'] = type('L', (list,), {'__iter__': lambda s: iter(int, 1)})()", "type", "got L"),
        ("memory['x'] = [0] * 10 ** 6", "fuel", "while its memory was read"),
        ("memory.update((i, i) for i in range(10 ** 4))", "memory", "are kept"),
    ],
)
def test_memory_of_invalid_type_or_size_gives_a_verdict_and_is_not_kept(
    body: str, kind: str, says: str, open_guest: Open
) -> None:
    guest = open_guest(action("put", WRITE.format(body=body)), action("tell", TELL))
    turn = say(guest, "put")
    assert isinstance(turn, Verdict)
    assert (turn.kind, turn.action) == (kind, "put")
    assert says in turn.message
    assert told(guest, "tell") == "ValueError: {}"


@pytest.mark.parametrize(
    "packed", ["[]", "3", "null", '{"":["set",1]}', '{"":["tuple"]}', '{"x":{"":["list",1]}}', '{"x":{"":5}}',
               '{"x":{"":["set",[1]]}}',
               '{"x":{"":["dict",[1]]}}', '{"x":{"":["set"],"y":1}}', '{"x":NaN}', '{"x":1e999}',
               "[" * 100, '{"":[["dict"]]}', '{"x":{"":[]}}', '{"x":{"":["dict",[[],1]]}}', '["x"]}'],
)  # fmt: skip
def test_forged_memory_message_gives_a_verdict_and_is_not_kept(packed: str, open_guest: Open) -> None:
    forge = f"def run(memory):\n{REACH}"
    forge += f"    g['WitWorld'].read_memory = lambda *_: '[\"memory\",{packed}]'\n    yield grasp()\n"
    guest = open_guest(action("forge", forge), action("tell", TELL))
    turn = say(guest, "forge")
    assert isinstance(turn, Verdict)
    assert (turn.kind, turn.action) == ("reply", "forge")
    assert told(guest, "tell") == "ValueError: {}"


def test_coded_action_without_a_memory_argument_gets_no_memory(open_guest: Open) -> None:
    thief = f"def run():\n{REACH}    yield grasp()\n    raise ValueError(repr(g['STATE'].memories))\n"
    own = action(
        "own",
        "def run(memory=1.0):\n    yield grasp()\n    raise ValueError(memory)\n",
        parameters=(Parameter(name="memory", low=0.0, high=2.0, default=1.0),),
    )
    guest = open_guest(action("put", WRITE.format(body="memory['n'] = 1")), action("thief", thief), own)
    say(guest, "put")
    assert told(guest, "thief") == "ValueError: {'thief': {}}"
    assert told(guest, "own") == "ValueError: 1.0"


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.integers() | st.tuples(st.integers(), st.text(max_size=2)), inner)
        | st.sets(st.integers() | st.text(max_size=3) | st.tuples(st.integers(), st.integers()), max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), PLAIN, max_size=4))
def test_memory_is_transferred_unchanged_between_guest_and_host(memory: dict) -> None:
    text = json.dumps(["memory", pack(memory)])
    kept = replies.memory(text.encode(), SandboxLimits(shared_bytes=10**6))
    again = unpack(json.loads(kept))
    assert again == memory
    assert repr(pack(again)) == repr(pack(memory)), "the types are equal too"


@given(st.recursive(st.none() | st.integers() | st.text(max_size=6), lambda i: st.lists(i) | st.dictionaries(
    st.sampled_from(["", "a"]), i | st.lists(st.sampled_from(["set", "tuple", "dict", 1]) | i))))  # fmt: skip
def test_any_memory_message_is_a_valid_memory_or_refused(value: Any) -> None:
    try:
        kept = replies.memory(json.dumps(["memory", value]).encode(), SandboxLimits())
    except Refused:
        return
    assert isinstance(unpack(json.loads(kept)), dict)


def test_pack_refuses_a_memory_that_is_nested_too_deep() -> None:
    value: Any = {}
    for _ in range(LEVELS - 1):
        value = {1: (value,)} if _ % 2 else {"x": value}
    with pytest.raises(PackingError):
        pack([[value] * 3] * 3)


HELPERS = "LIMIT = 2\ncalls = 0\ndef close(a, b):\n    return abs(a - b) < LIMIT\ndef squeeze():\n    yield grasp()\n"


def test_coded_actions_call_shared_functions_each_in_its_own_instance(open_guest: Open) -> None:
    source = "def run():\n    global calls\n    calls += 1\n    yield from squeeze()\n"
    source += "    raise ValueError((close(1, 2), calls))\n"
    guest = open_guest(action("one", source, shared=HELPERS), action("two", source, shared=HELPERS))
    assert told(guest, "one") == "ValueError: (True, 1)"
    assert told(guest, "one") == "ValueError: (True, 2)"
    assert told(guest, "two") == "ValueError: (True, 1)", "the second action has its own instance"


def test_verdict_on_an_error_in_shared_code_names_both_lines(open_guest: Open) -> None:
    guest = open_guest(action("a", "def run():\n    yield grasp()\n    close(1, None)\n", shared=HELPERS))
    turn = say(guest, "a")
    assert isinstance(turn, Verdict)
    assert turn.line == 3
    assert turn.message.endswith("(line 4 of the shared code)")


@pytest.mark.parametrize(
    ("shared", "says"),
    [
        ("def run():\n    yield grasp()\n", "the shared code defines `run`"),
        ("def can_start(view): return True\n", "the shared code defines `can_start`"),
        ("x = (\n", "(line 1 of the shared code)"),
        ("1 / 0\n", "ZeroDivisionError: division by zero (line 1 of the shared code)"),
        ("#" * 20_000, "the shared code has 20000 bytes; at most 16384"),
        ("while True: pass\n", "ran too long"),
    ],
)
def test_shared_code_that_does_not_load_stops_only_the_actions_that_call_the_code(
    shared: str, says: str, open_guest: Open
) -> None:
    plain = "def run():\n    yield grasp()\n"
    guest = open_guest(action("one", plain, shared=shared), action("two", plain), limits=SandboxLimits(load_fuel=10**8))
    turn = say(guest, "one")
    assert isinstance(turn, Verdict)
    assert says in turn.message
    assert say(guest, "two") == Done()
