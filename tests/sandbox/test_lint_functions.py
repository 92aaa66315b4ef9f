"""Lint of features, reward terms and predicates: one message with advice for a mistake, and no message for correct
code.
"""

from __future__ import annotations

import pytest
from rlgpt.domain import CodedAction, CodedFeatures, CodedFunction, CodedPredicate, CodedReward, Output
from rlgpt.options import BrokenActionWarning
from rlgpt.sandbox import Library, Sandbox, faults, lint
from rlgpt.testing.counting import action
from rlgpt.testing.grid import TASKS, GridPlugin

FAR = Output(name="far", low=0, high=9)
HAND = Output(name="hand", low=0, high=9)
KEYS = "hand, kettle, step, note"


def features(source: str, *outputs: Output) -> CodedFeatures:
    return CodedFeatures(name="f", source=source, outputs=outputs or (FAR,))


def reward(source: str) -> CodedReward:
    return CodedReward(name="f", source=source)


def done(source: str) -> CodedPredicate:
    return CodedPredicate(name="f", source=source)


WRONG: list[tuple[str, CodedFunction, int | None, str]] = [
    ("none", features("def run():\n    return 1"), None, "define `def features(view, memory):`; there is no"),
    ("another kind", done("def reward(view, memory):\n    return 1"), None, "there is no function `done`"),
    ("a syntax error", reward("def reward(view, memory):\n    return ("), 2, "SyntaxError"),
    ("async", reward("async def reward(view, memory):\n    return 1"), 1, "not `async def`"),
    ("yields", done("def done(view, memory):\n    yield True"), 1, "must not `yield`"),
    ("returns nothing", done("def done(view, memory):\n    view['hand']"), 1, "it must return True or False"),
    ("returns nothing ever", features("def features(view, memory):\n    return"), 1, "a dict with a number for each"),
    ("one argument", reward("def reward(view):\n    return 1"), 1, "takes two arguments, the view and the memory"),
    ("three arguments", done("def done(view, memory, t):\n    return True"), 1, "`def done(view, memory):`"),
    ("a key", done("def done(view, memory):\n    return view['stp'] > 1"), 2, f"Did you mean 'step'? Valid: {KEYS}"),
    ("numpy", reward("import numpy as np\ndef reward(view, memory):\n    return 1"), 1, "vec.norm"),
    ("a primitive", reward("def reward(view, memory):\n    return grasp()"), 2, "cannot call primitives"),
    ("observe", done("def done(view, memory):\n    return observe()['hand']"), 2, "This code receives the view"),
    ("other outputs", features("def features(view, memory):\n    return {'near': 1}"), 2, "outputs, far; here: near"),
    ("no outputs", features("def features(view, memory):\n    return {}"), 2, "outputs, far; here: nothing"),
    ("a taken output", features("def features(view, memory):\n    return {'hand': 1}", HAND),
     None, "the output 'hand' has the name of a key of the view"),
    ("too long", reward("#" * 16_385), None, "at most 16384"),
]  # fmt: skip

RIGHT: list[CodedFunction] = [
    features("def features(view, memory):\n    memory['n'] = 1\n    return {'far': abs(view['step'])}"),
    features("def features(view, memory, gain=2.0):\n    return dict(far=gain)"),
    features("def features(*args):\n    return {**{'far': 1}}"),
    features("def features(v, m):\n    out = {}\n    for k in ('far',):\n        out[k] = 1\n    return out"),
    features("def features(view, memory):\n    view = {'other': 1}\n    return {'far': view['other']}"),
    features("def features(view, memory):\n    def f():\n        return {'x': 1}\n    return {'far': f()['x']}"),
    reward(
        "import math\ndef near(x):\n    return math.exp(-x)\ndef reward(view, memory):\n    return near(view['step'])"
    ),
    done("def done(view, memory):\n    return view.get('none', 0) > 1 or any(x > 1 for x in view['hand'])"),
    done("def done(view, memory):\n    memory.setdefault('seen', []).append(view[max(view)])\n    return True"),
]


def _lint(function: CodedFunction, library: Library) -> list[tuple[int | None, str]]:
    verdicts = lint(function, library)
    assert all(v.kind == "lint" and v.action == "f" for v in verdicts)
    return [(v.line, v.message) for v in verdicts]


@pytest.mark.parametrize(("function", "line", "says"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_lint_reports_each_kind_of_mistake_in_a_function(
    function: CodedFunction, line: int | None, says: str, library: Library
) -> None:
    ((found, message),) = _lint(function, library)
    assert found == line
    assert says in message


@pytest.mark.parametrize("function", RIGHT)
def test_correct_function_source_passes_lint(function: CodedFunction, library: Library) -> None:
    assert _lint(function, library) == []


def test_lint_accepts_a_reward_that_reads_the_outputs_of_features(library: Library) -> None:
    near = reward("def reward(view, memory):\n    return -view['far']")
    far = features("def features(view, memory):\n    return {'far': 1}")
    assert "no key 'far'" in _lint(near, library)[0][1]
    assert _lint(near, library.with_features([near, far])) == []


def test_unknown_view_key_in_a_condition_is_reported_by_lint_and_is_not_a_certain_fault(library: Library) -> None:
    source = "def done(view, memory):\n    return 'old' in view and view['old'] > 1"
    assert _lint(done(source), library)
    assert faults(done(source), library) == []
    assert faults(done("def done(view):\n    return True"), library)


def test_function_with_a_certain_fault_in_lint_also_fails_in_the_guest() -> None:
    """Each certain fault also fails in the guest. The skipped cases are valid in the guest: a predicate's return
    value is converted to a bool.
    """
    library = Library(primitives=())
    for name, function, *_ in WRONG:
        if name not in ("a taken output", "yields", "returns nothing") and faults(function, library):
            answers = Sandbox().open_functions(library, [function], seed=0).evaluate({"hand": [0.0], "step": 0.0})
            assert answers.verdicts, name


def test_extend_warns_of_a_function_with_a_certain_fault() -> None:
    from rlgpt import extend

    plugin, task = GridPlugin(), TASKS["grid/key"]
    walk: CodedAction = action("walk", "def run():\n    yield go(direction='up', cells=1)\n")
    with pytest.warns(BrokenActionWarning, match="predicate 'f' has a fault, line 1: `done` takes two"):
        extend(
            plugin.make_env(task, seed=0),
            [walk],
            plugin=plugin,
            task=task,
            functions=[done("def done(view):\n    return 1")],
        )
