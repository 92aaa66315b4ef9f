"""``can_start`` is called only where its answer may have changed, and gets only what it reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from rlgpt.domain import CodedAction, Verdict
from rlgpt.sandbox import Guest, Library, Sandbox, SandboxLimits, Signature, ViewDoc
from rlgpt.sandbox.reads import Reads, reads_of

RUN = "\ndef run():\n    yield grasp()\n"
ALL: frozenset[str] | None = None

STEADY = {
    "keys": ("def can_start(view):\n    return view['a'] > 1 and view.get('b', 0) < 2", frozenset({"a", "b"})),
    "nothing": ("def can_start(view):\n    return True", frozenset[str]()),
    "keys of a tuple": ("def can_start(view):\n    return any(view[key] for key in ('a', 'b'))", frozenset({"a", "b"})),
    "whole view": ("def can_start(view):\n    return any(view[key] for key in view)", ALL),
    "empty view": ("def can_start(view):\n    return not view", ALL),
    "some keys": ("def can_start(view):\n    return view[min(('a', 'b')) + 'x'] > 0", ALL),
    "loop": ("def can_start(v):\n    n = 0\n    for x in v['a']:\n        n += x\n    return n > 2", frozenset({"a"})),
    "helper": (
        "LEAST = 2\ndef far(x):\n    return abs(x) > LEAST\ndef can_start(view):\n    return far(view['a'])",
        {"a"},
    ),
    "helper of the view": (
        "def far(view):\n    return view['a'] > 1\ndef can_start(view):\n    return far(view)",
        {"a"},
    ),
    "recursion": ("def f(n):\n    return n < 1 or f(n - 1)\ndef can_start(view):\n    return f(view['a'])", {"a"}),
    "math": ("import math\ndef can_start(view):\n    return math.hypot(*view['a']) < 1", frozenset({"a"})),
    "vectors": ("def can_start(view):\n    return vec.norm(view['a']) < math.pi", frozenset({"a"})),
    "memory": ("def can_start(view, memory):\n    return memory.get('n', 0) < view['a']", frozenset({"a"})),
    "cells": ("def can_start(view):\n    return any(5 in row for row in view['a'])", frozenset({"a"})),
}
CHANGING = {
    "random": "import random\ndef can_start(view):\n    return random.random() < 0.5",
    "global": "N = 0\ndef can_start(view):\n    global N\n    N += 1\n    return N % 2 == 0",
    "list": "SEEN = []\ndef can_start(view):\n    SEEN.append(1)\n    return len(SEEN) % 2 == 0",
    "subscript": "SEEN = {}\ndef can_start(view):\n    SEEN['n'] = 1\n    return True",
    "iterator": "WAYS = iter([1, 0] * 99)\ndef can_start(view):\n    return bool(next(WAYS))",
    "any of an iterator": "WAYS = iter([1, 0] * 99)\ndef can_start(view):\n    return any(w for w in WAYS)",
    "default": "def can_start(view, seen=[]):\n    seen += [1]\n    return len(seen) % 2 == 0",
    "alias": "SEEN = []\ndef can_start(view):\n    seen = SEEN\n    seen += [1]\n    return len(seen) % 2 == 0",
    "helper with an effect": "S = []\ndef f():\n    S.append(1)\n    return S\n"
    "def can_start(view):\n    return len(f()) % 2",
    "class": "class A:\n    n = 0\n    def get(self):\n        A.n += 1\n        return A.n % 2\na = A()\n"
    "def can_start(view):\n    return a.get()",
    "shadowed built-in": "S = []\ndef len(x):\n    S.append(x)\n    return 1\n"
    "def can_start(view):\n    return len(view)",
    "shadowed math": "import random as math\ndef can_start(view):\n    return math.random() < 0.5",
    "star import": "from random import *\ndef can_start(view):\n    return random() < 0.5",
    "defined twice": "def can_start(view):\n    return True\n"
    "if True:\n    def can_start(view):\n        return next(X)",
    "decorated": "import functools\n@functools.cache\ndef can_start(view):\n    return True",
    "lambda": "f = lambda: 1\ndef can_start(view):\n    return f()",
    "walrus": "def can_start(view):\n    return (n := view['a']) > 1",
    "no Python": "def can_start(view:",
}


@pytest.mark.parametrize("name", STEADY)
def test_static_analysis_finds_the_view_keys_that_deterministic_code_reads(name: str) -> None:
    source, keys = STEADY[name]
    reads = reads_of(source + RUN, "")
    assert reads == Reads(True, keys if keys is None else tuple(sorted(keys)), constant=name != "memory")


@pytest.mark.parametrize("name", CHANGING)
def test_nondeterministic_code_gets_the_whole_view_at_each_call(name: str) -> None:
    assert reads_of(CHANGING[name] + RUN, "") == Reads(False, None)


def test_static_analysis_includes_shared_code() -> None:
    source = "def can_start(view):\n    return near(view['a'])" + RUN
    assert reads_of(source, "def near(x):\n    return x < 1").steady
    assert not reads_of(source, "S = []\ndef near(x):\n    S.append(x)\n    return x < 1").steady


CHANGED_ELSEWHERE = {
    "list": "SEEN = []\ndef can_start(view):\n    return len(SEEN) < 1\n"
    "def run():\n    SEEN.append(1)\n    yield grasp()\n",
    "list of a helper": "SEEN = [0]\ndef first():\n    return SEEN[0]\ndef can_start(view):\n    return first() < 1\n"
    "def run():\n    for seen in (SEEN,):\n        seen[0] = 1\n    yield grasp()\n",
    "top level": "LEAST = 2\nfor i in range(3):\n    pass\ndef can_start(view):\n    return view['a'] > LEAST" + RUN,
    "default": "def can_start(view):\n    return True\ndef run(n=print('x')):\n    yield grasp()\n",
    "decorator": "def can_start(view):\n    return True\n@staticmethod\ndef run():\n    yield grasp()\n",
    "class": "class A:\n    grasp()\ndef can_start(view):\n    return True" + RUN,
    "attribute": "def can_start(view):\n    return True\n"
    "def run():\n    can_start.__code__ = run.__code__\n    yield grasp()\n",
    "globals": "N = 1\ndef can_start(view):\n    return N > 0\ndef run():\n    globals()['N'] = 0\n    yield grasp()\n",
    "frame": "N = 1\ndef f():\n    yield\ndef can_start(view):\n    return N > 0\n"
    "def run():\n    f().gi_frame.f_globals['N'] = 0\n    yield grasp()\n",
    "module": "import math\ndef can_start(view):\n    return math.pi > 3\n"
    "def run():\n    math.pi = 1\n    yield grasp()\n",
    "built-in by another way": "def can_start(view):\n"
    "    return sorted(['vec.x = 1'], key=vec.__builtins__['exec']) == []" + RUN,
    "guard as an object": "def can_start(view):\n    return True\ndef run():\n    f = can_start\n    yield grasp()\n",
}


@pytest.mark.parametrize("name", CHANGED_ELSEWHERE)
def test_can_start_is_not_constant_if_other_code_may_change_its_answers(name: str) -> None:
    assert not reads_of(CHANGED_ELSEWHERE[name], "").constant


def test_static_analysis_reads_each_function_once_however_often_it_is_called() -> None:
    chain = "".join(f"def f{i}(x):\n    return f{i + 1}(x) + f{i + 1}(x)\n" for i in range(200))
    source = f"{chain}def f200(x):\n    return x\ndef can_start(view):\n    return f0(view['a'])\n"
    assert reads_of(source + RUN, "") == Reads(True, ("a",), constant=True)


def guest_of(*sources: str, calls: list[None] | None = None, guarded: bool = False) -> Guest:
    library = Library(
        primitives=(Signature(name="grasp"),), view=(ViewDoc(name="a", doc="."), ViewDoc(name="b", doc="."))
    )
    actions = [CodedAction(name=f"n{i}", doc="", source=source) for i, source in enumerate(sources)]
    on_turn: Callable[[], None] | None = None if calls is None else lambda: calls.append(None)
    sandbox = Sandbox(on_turn=on_turn)
    return sandbox.open(library, actions, seed=0, guards=sandbox.open_guards(library, actions) if guarded else None)


def asked(guest: Guest, calls: list[None], view: dict[str, Any], name: str = "n0") -> tuple[bool | Verdict, int]:
    before = len(calls)
    answer = guest.can_start(name, view)
    return answer, len(calls) - before


def test_can_start_is_called_again_only_if_a_key_that_it_reads_has_changed() -> None:
    calls: list[None] = []
    guest = guest_of("def can_start(view):\n    return view['a'] > 1" + RUN, calls=calls)
    assert asked(guest, calls, {"a": 2, "b": 0}) == (True, 2)  # load and call
    assert asked(guest, calls, {"a": 2, "b": 7}) == (True, 0)
    assert asked(guest, calls, {"a": 1, "b": 7}) == (False, 1)
    assert asked(guest, calls, {"a": 1, "b": 7}) == (False, 0)


def test_can_start_is_called_again_after_its_action_ran() -> None:
    calls: list[None] = []
    source = (
        "TRIED = []\ndef can_start(view):\n    return len(TRIED) < 1\n"
        "def run():\n    TRIED.append(1)\n    yield grasp()\n"
    )
    guest = guest_of(source, calls=calls)
    assert asked(guest, calls, {})[0] is True
    assert asked(guest, calls, {}) == (True, 0)
    guest.start("n0")
    assert asked(guest, calls, {})[0] is False


def test_failing_can_start_gives_a_verdict_at_each_call() -> None:
    calls: list[None] = []
    guest = guest_of("def can_start(view):\n    return view['gone']" + RUN, calls=calls)
    for number in (2, 1):
        answer, called = asked(guest, calls, {"a": 1})
        assert isinstance(answer, Verdict)
        assert called == number
        assert "there are: a, b" in answer.message


def shared(*sources: str, limits: SandboxLimits | None = None) -> tuple[Callable[[], Guest], list[None]]:
    """A function that opens guests with the same guards, and a list with an entry for each call."""
    actions = [CodedAction(name=f"n{i}", doc="", source=source) for i, source in enumerate(sources)]
    library, calls = Library(primitives=(Signature(name="grasp"),)), list[None]()
    sandbox = Sandbox(limits or SandboxLimits(), on_turn=lambda: calls.append(None))
    guards = sandbox.open_guards(library, actions)
    return lambda: sandbox.open(library, actions, seed=0, guards=guards), calls


def test_an_answer_that_depends_on_the_view_alone_serves_all_guests() -> None:
    opened, calls = shared("def can_start(view):\n    return view['a'] > 1" + RUN)
    for guest in (opened(), opened()):
        assert [guest.can_start("n0", {"a": a, "b": a}) for a in (0, 2)] == [False, True]
    assert len(calls) == 2


@pytest.mark.parametrize(
    "fault",
    [
        "def can_start(view):\n    return view['gone']" + RUN,
        "def can_start(view):\n    while True:\n        pass" + RUN,
        "def can_start(view):\n    return 'x' * 10 ** 9 == ''" + RUN,
        "def can_start(view):\n    return True\n",
        "def can_start(view):\n    return [view['a']" + ", 1" * 6000 + "] == 2" + RUN,
    ],
)
def test_shared_guard_that_fails_gets_its_own_verdict_and_changes_no_other_guard(fault: str) -> None:
    limits = SandboxLimits(turn_fuel=20_000_000)
    opened, _ = shared(fault, "def can_start(view):\n    return view['a'] > 1" + RUN, limits=limits)
    for a in (0, 2):
        answers = opened().can_start_each(("n0", "n1"), {"a": a})
        alone = Sandbox(limits).open(Library(primitives=(Signature(name="grasp"),)), _named(fault), seed=0)
        assert _told(answers["n0"]) == _told(alone.can_start("n0", {"a": a}))
        assert isinstance(answers["n0"], Verdict)
        assert answers["n1"] is (a > 1)


def _named(source: str) -> list[CodedAction]:
    return [CodedAction(name="n0", doc="", source=source)]


GUARDS = [
    source + RUN
    for source, _ in STEADY.values()
    if not any(part in source for part in ("v['a']", "in row", "norm", "hypot"))
]
GUARDS += ["N = 0\ndef can_start(view):\n    global N\n    N += 1\n    return N % 3 == 0" + RUN]


@settings(max_examples=15, phases=(Phase.explicit, Phase.generate))
@given(moments=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.sampled_from(["", "n0", "n1"])), max_size=6))
def test_cached_answers_of_can_start_equal_those_of_a_call_at_each_step(
    moments: list[tuple[int, int, str]],
) -> None:
    careful, guarded = guest_of(*GUARDS), guest_of(*GUARDS, guarded=True)
    plain = guest_of(*(f"{s}\nclass Never:\n    can_start = 1\n" for s in GUARDS))
    for a, b, started in moments:
        view = {"a": a, "b": b}
        guests = (careful, guarded, plain)
        told = [{name: _told(answer) for name, answer in g.can_start_each(g.actions, view).items()} for g in guests]
        assert told[0] == told[1] == told[2]
        if started:
            for guest in guests:
                guest.start(started)


def _told(answer: bool | Verdict) -> Any:
    return (answer.kind, answer.message) if isinstance(answer, Verdict) else answer
