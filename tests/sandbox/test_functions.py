"""Coded features, reward terms and predicates in the sandbox: their memory, their bounds, and neutral values after a
failure.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from rlgpt.domain import CodedFeatures, CodedFunction, CodedPredicate, CodedReward, Output
from rlgpt.errors import SandboxError
from rlgpt.sandbox import Functions, Library, Sandbox, SandboxLimits, ViewDoc

LIBRARY = Library(primitives=(), view=(ViewDoc(name="x"),))


def features(source: str, *names: str, name: str = "f", low: float = -1.0, high: float = 1.0) -> CodedFeatures:
    outputs = tuple(Output(name=n, low=low, high=high) for n in names or ("y",))
    return CodedFeatures(name=name, source=source, outputs=outputs)


def opened(*functions: CodedFunction, seed: int = 0, **limits: Any) -> Functions:
    return Sandbox(SandboxLimits(**limits)).open_functions(LIBRARY, functions, seed=seed)


COUNT = "def features(view, memory):\n    memory['n'] = memory.get('n', 0) + 1\n    return {'y': memory['n'] / 10}\n"


def test_memory_of_a_function_lasts_for_one_episode() -> None:
    functions = opened(features(COUNT))
    assert [functions.evaluate({"x": 0}).features["y"] for _ in range(3)] == [0.1, 0.2, 0.3]
    assert opened(features(COUNT)).evaluate({"x": 0}).features == {"y": 0.1}


def test_view_of_rewards_and_predicates_contains_the_features() -> None:
    functions = opened(
        CodedPredicate(name="there", source="def done(view, memory):\n    return view['y'] > 0.15\n"),
        CodedReward(name="near", source="def reward(view, memory):\n    return view['y'] + view['x']\n"),
        features(COUNT),
    )
    first, second = (functions.evaluate({"x": 0.5}) for _ in range(2))
    assert (first.rewards, first.predicates) == ({"near": 0.6}, {"there": False})
    assert (second.rewards, second.predicates) == ({"near": 0.7}, {"there": True})
    assert first.verdicts == second.verdicts == ()


@settings(max_examples=25)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5))
def test_values_of_coded_functions_are_clipped_to_their_bounds(numbers: list[float]) -> None:
    functions = opened(
        features("def features(view, memory):\n    return {'y': view['x']}\n", low=-2.0, high=3.0),
        CodedReward(name="r", source="def reward(view, memory):\n    return view['x']\n", low=0.0, high=1.0),
    )
    for number in numbers:
        answers = functions.evaluate({"x": number})
        assert answers.features == {"y": min(max(number, -2.0), 3.0)}
        assert answers.rewards == {"r": min(max(number, 0.0), 1.0)}


WRONG = {
    "raises": ("return {'y': 1 / 0}", "error", "ZeroDivisionError"),
    "nan": ("return {'y': float('nan')}", "type", "feature 'y' must be finite, got nan"),
    "infinite": ("return {'y': 1e308 * 10}", "type", "must be finite"),
    "huge": ("return {'y': 10 ** 400}", "error", "OverflowError"),
    "text": ("return {'y': '1'}", "type", "must be a number, got str"),
    "no dict": ("return [1]", "type", "must return a dict of numbers, got list"),
    "missing": ("return {}", "type", "must return exactly y; got nothing"),
    "further": ("return {'y': 1, 'z': 2}", "type", "must return exactly y; got y, z"),
    "key": ("return {'y': view['far']}", "error", "of the view there are: x"),
    "endless": ("while True: pass", "fuel", "ran too long before it answered"),
    "memory": ("memory['a'] = 'a' * 10 ** 8; return {'y': 0}", "memory", "memory is used up"),
    "many": ("return {str(i): i for i in range(10 ** 3)}", "reply", "at most 4096 bytes"),
    "yields": ("yield 1", "type", "must return a dict of numbers, got generator"),
    "generator's request": ("return {'y': observe()}", "primitive", "there is no 'observe' to call"),
}


@pytest.mark.parametrize(("line", "kind", "message"), WRONG.values(), ids=WRONG)
def test_failed_function_gives_one_verdict_and_then_neutral_values(line: str, kind: str, message: str) -> None:
    wrong = features(f"def features(view, memory):\n    {line}\n", name="wrong", low=0.5)
    functions = opened(wrong, features(COUNT.replace("'y'", "'z'"), "z", name="right"))
    answers = functions.evaluate({"x": 0})
    (verdict,) = answers.verdicts
    assert (verdict.kind, verdict.action) == (kind, "wrong")
    assert message in verdict.message
    assert answers.features == {"y": 0.5, "z": 0.1}
    again = functions.evaluate({"x": 0})
    assert again.verdicts == ()
    assert again.features == {"y": 0.5, "z": 0.2}


def test_failed_reward_of_kind_potential_keeps_its_last_value() -> None:
    source = "def reward(view, memory):\n    return 1 / view['x']\n"
    kinds = ("potential", "step")
    functions = opened(*(CodedReward(name=k, source=source, kind=k, high=9.0) for k in kinds))  # type: ignore[arg-type]
    said = [functions.evaluate({"x": x}).rewards for x in (0.5, 0, 1)]
    assert [s["potential"] for s in said] == [2.0, 2.0, 2.0]
    assert [s["step"] for s in said] == [2.0, 0.0, 0.0]


def test_function_source_without_the_required_entry_point_gives_a_load_verdict() -> None:
    (verdict,) = opened(features("def run():\n    yield 1\n")).evaluate({"x": 0}).verdicts
    assert verdict.kind == "load"
    assert "defines no function `features`" in verdict.message


def test_too_large_view_for_a_coded_function_gives_one_verdict() -> None:
    functions = opened(features("def features(view, memory):\n    return {'y': len(view) / 10}\n"), view_bytes=64)
    (verdict,) = functions.evaluate({"x": "a" * 100}).verdicts
    assert verdict.kind == "view"


def test_coded_functions_do_not_share_globals_or_memory() -> None:
    spoil = (
        "import math\nmath.pi = 0\n\ndef features(view, memory):\n    memory['n'] = 100\n    return {'y': math.pi}\n"
    )
    other = "import math\n\ndef features(view, memory):\n    return {'z': memory.get('n', 0) + math.pi}\n"
    answers = opened(features(spoil, name="a"), features(other, "z", name="b", high=9.0)).evaluate({"x": 0})
    assert answers.features == {"y": 0.0, "z": pytest.approx(3.14159, abs=1e-4)}


def test_seed_determines_the_random_numbers_of_coded_functions() -> None:
    source = "import random\n\ndef features(view, memory):\n    return {'y': random.random()}\n"
    drawn = [opened(features(source), seed=seed).evaluate({"x": 0}).features["y"] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        ((features(COUNT), features(COUNT, "z")), "names of functions must differ; used twice: f"),
        ((features(COUNT), features(COUNT, name="g")), "used twice: y"),
        ((features(COUNT, "x"),), "keys of the view, must differ; used twice: x"),
        (
            tuple(features(COUNT, f"y{i}", name=f"f{i}") for i in range(3)),
            r"at most 2 .*SandboxLimits\(instances=\.\.\.\)",
        ),
    ],
)
def test_open_functions_refuses_equal_names_and_too_many_functions(
    functions: tuple[CodedFunction, ...], message: str
) -> None:
    with pytest.raises(SandboxError, match=message):
        opened(*functions, instances=2)


def test_bounds_of_an_output_must_be_finite_and_ordered() -> None:
    with pytest.raises(ValidationError, match="needs low < high"):
        Output(name="y", low=1, high=1)
    with pytest.raises(ValidationError, match="finite"):
        CodedReward(name="r", source="", low=float("-inf"))
    assert Output(name="y", low=2, high=3).neutral == 2
    assert Output(name="y", low=-3, high=-2).neutral == -2
    assert Output(name="y", low=-1, high=1).neutral == 0
