"""Hostile features, reward terms and predicates: each gives one verdict or a value within its bounds, and changes no
other function.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlgpt import extend
from rlgpt.domain import CodedFeatures, CodedPredicate, CodedReward, Output
from rlgpt.options import BrokenActionWarning
from rlgpt.sandbox import Library, Sandbox, SandboxLimits
from rlgpt.testing.grid import TASKS, GridPlugin

TASK = TASKS["grid/key"]
BOUND = Output(name="y", low=-1, high=1)
HONEST = CodedFeatures(
    name="honest",
    source="""
def features(view, memory):
    memory["n"] = memory.get("n", 0) + 1
    return {"z": memory["n"] / 100}
""",
    outputs=(Output(name="z", low=0, high=1),),
)
LIMITS = SandboxLimits(load_fuel=300_000_000, turn_fuel=100_000_000)

BODIES: dict[str, tuple[str, str | None]] = {
    "a memory that grows": ("memory['a'] = memory.get('a', 'a' * 10 ** 6) * 4\n    return {'y': 0}", "memory"),
    "a list that doubles": ("a = [0]\n    while True: a += a", "fuel"),
    "an endless loop": ("while True: pass", "fuel"),
    "endless recursion": ("return features(view, memory)", "error"),
    "mutual recursion in memory": ("memory['m'] = memory\n    return memory['m']['m']['m']", "type"),
    "a nested answer": ("a = []\n    for _ in range(10 ** 5): a = [a]\n    return {'y': a}", "fuel"),
    "a power": ("return {'y': 10 ** 10 ** 8}", "fuel"),
    "a huge number": ("return {'y': 7 ** 10 ** 5}", "fuel"),
    "nan that turns into a number": (
        "class F(float):\n        def __float__(self): return float('nan')\n    return {'y': F(0.5)}",
        "type",
    ),
    "a number with code in __repr__": (
        "class F(float):\n        def __repr__(self): return '1], \"forged\": [2'\n    return {'y': F(0.5)}",
        None,
    ),
    "a dict with code in items": (
        "class D(dict):\n        def items(self):\n            while True: yield ('y', 1)\n    return D(y=1)",
        "fuel",
    ),
    "text for a number": ("return {'y': '0.5'}", "type"),
    "an object for a number": ("return {'y': view}", "type"),
    "keys that are no text": ("return {1: 2}", "type"),
    "many keys": ("return {str(i): i for i in range(10 ** 3)}", "reply"),
    "an output of another function": ("return {'y': 0, 'z': 1}", "type"),
    "an exit": ("raise SystemExit(0)", "error"),
    "an interrupt": ("raise KeyboardInterrupt", "error"),
    "changed builtins": (
        "__builtins__['float'] = __builtins__['isinstance'] = __builtins__['len'] = None\n    return {'y': 0.5}",
        None,
    ),
    "a changed view": ("view.clear()\n    view['agent'] = 0\n    return {'y': 0.5}", None),
    "a memory that is replaced": ("memory = globals()['memory'] = None\n    return {'y': 0.5}", None),
    "a thread": ("import threading", "error"),
    "a file": ("return {'y': len(open('/etc/passwd').read())}", "error"),
}


def outcome(body: str) -> tuple[list[Any], list[dict[str, Any]]]:
    """Return the verdicts of an episode with a feature of this body, and the views of its steps."""
    plugin = GridPlugin()
    hostile = CodedFeatures(name="hostile", source=f"def features(view, memory):\n    {body}\n", outputs=(BOUND,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BrokenActionWarning)  # The verdict describes the fault.
        env = extend(
            plugin.make_env(TASK, seed=0),
            plugin=plugin,
            task=TASK,
            functions=[hostile, HONEST],
            sandbox=Sandbox(LIMITS),
        )
    _, info = env.reset(seed=3)
    verdicts, views = [*info.get("verdicts", ())], [env.view()]
    for action in (0, 3, 1):
        *_, info = env.step(action)
        verdicts += info.get("verdicts", ())
        views.append(env.view())
    env.close()
    return verdicts, views


@pytest.fixture(scope="module")
def undisturbed() -> list[dict[str, Any]]:
    return outcome("return {'y': 0}")[1]


@pytest.mark.parametrize(("body", "kind"), BODIES.values(), ids=BODIES)
def test_hostile_feature_has_its_verdict_and_does_not_change_other_features(
    body: str, kind: str | None, undisturbed: list[dict[str, Any]]
) -> None:
    verdicts, views = outcome(body)
    assert [v.action for v in verdicts] == ["hostile"] * len(verdicts)
    assert len(verdicts) == (0 if kind is None else 1), verdicts
    if kind is not None:
        assert verdicts[0].kind == kind, verdicts
    if kind == "fuel":
        assert "SandboxLimits(function_fuel=...)" in verdicts[0].message
    for view, clean in zip(views, undisturbed, strict=True):
        assert isinstance(view["y"], float)
        assert -1 <= view["y"] <= 1
        assert {k: v for k, v in view.items() if k != "y"} == {k: v for k, v in clean.items() if k != "y"}


ANSWERS = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["y", "z", ""]), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=12, deadline=None)
@given(ANSWERS)
def test_any_value_of_a_function_gives_a_verdict_or_is_within_the_bounds(answer: Any) -> None:
    told = repr(answer).replace("nan", "float('nan')").replace("inf", "float('inf')")
    kinds = [
        CodedFeatures(name="f", source=f"def features(view, memory):\n    return {told}\n", outputs=(BOUND,)),
        CodedReward(name="r", source=f"def reward(view, memory):\n    return {told}\n", low=-2, high=3),
        CodedPredicate(name="p", source=f"def done(view, memory):\n    return {told}\n"),
    ]
    answers = Sandbox().open_functions(Library(primitives=()), kinds, seed=0).evaluate({})
    failed = {v.action for v in answers.verdicts}
    assert -1 <= answers.features["y"] <= 1
    assert -2 <= answers.rewards["r"] <= 3
    assert isinstance(answers.predicates["p"], bool)
    number = isinstance(answer, int | float) and math.isfinite(answer)
    assert ("r" in failed) is not number
