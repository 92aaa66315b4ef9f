"""Lint gives one message with advice for each common mistake, and no message for correct code."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator

import pytest
from rlgpt.domain import CodedAction, Parameter, Verdict
from rlgpt.sandbox import Ask, Guest, Library, SandboxLimits, lint, lint_parse
from rlgpt.sandbox.checks import Refused
from rlgpt.sandbox.runtime import Instance

DX = Parameter(name="dx", low=-1, high=1, default=0.1)

WRONG = [
    ("no run", "def go():\n    yield grasp()", None, "define `def run():`"),
    ("a syntax error", "def run():\n    yield (", 2, "SyntaxError"),
    ("a null byte", "\0", None, "null bytes"),
    ("not a generator", "def run():\n    grasp", 1, "is not a generator"),
    ("yields only in a helper", "def run():\n    def f():\n        yield grasp()\n    f()", 1, "is not a generator"),
    ("async", "async def run():\n    yield grasp()", 1, "not `async def`"),
    ("an undeclared argument", "def run(z):\n    yield grasp()", 1, "'z' of `run` is not declared; declared: []"),
    ("an argument never given", "def run(z=1):\n    yield grasp()", 1, "'z' of `run` never gets a value"),
    ("numpy", "import numpy as np\ndef run():\n    yield grasp()", 1, "vec.norm"),
    ("os.path", "def run():\n    from os.path import join\n    yield grasp()", 2, "no file system"),
    ("a relative import", "from . import x\ndef run():\n    yield grasp()", 1, "cannot be imported"),
    (
        "an unknown primitive",
        "def run():\n    yield move_two(x=1)",
        2,
        "Did you mean 'move_to'? Valid: observe, move_to",
    ),
    ("an unknown argument", "def run():\n    yield move_to(z=1)", 2, "no argument 'z'; valid: x, y, speed"),
    ("too many arguments", "def run():\n    yield grasp(1)", 2, "takes at most 0 arguments"),
    ("an argument twice", "def run():\n    yield move_to(1, x=2)", 2, "got 'x' twice"),
    ("a call alone", "def run():\n    grasp()\n    yield observe()", 2, "`outcome = yield grasp(...)`"),
    (
        "an outcome without yield",
        "def run():\n    o = grasp()\n    if o['ok']: yield grasp()",
        2,
        "does nothing unless",
    ),
    ("a view without yield", "def run():\n    v = observe()\n    yield move_to(v['x'])", 2, "`view = yield observe()`"),
    ("a subscript", "def run():\n    x = observe()['x']\n    yield grasp()", 2, "unless yielded"),
    ("a condition", "def run():\n    if grasp(): yield grasp()", 2, "unless yielded"),
    ("yield from", "def run():\n    yield from grasp()", 2, "unless yielded"),
    ("can_start yields", "def run():\n    yield grasp()\ndef can_start(view):\n    yield 1", 3, "is a plain function"),
    ("can_start takes none", "def run():\n    yield grasp()\ndef can_start():\n    return True", 3, "one argument"),
    ("can_start says nothing", "def run():\n    yield grasp()\ndef can_start(view):\n    view", 3, "returns nothing"),
    ("async can_start", "def run():\n    yield grasp()\nasync def can_start(view):\n    return False", 3, "not `async"),
    ("a list never used", "def run():\n    plan = [grasp(), observe()]\n    yield observe()", 2, "unless yielded"),
    (
        "a list only tested",
        "def run():\n    plan = [grasp()]\n    if plan:\n        yield observe()",
        2,
        "unless yielded",
    ),
    ("a key of an element", "def run():\n    x = [observe()][0]['hand']\n    yield grasp()", 2, "unless yielded"),
    ("an assignment only tested", "def run():\n    if (o := grasp()):\n        yield observe()", 2, "unless yielded"),
    ("too long", "#" * 16_385, None, "at most 16384"),
    ("deep nesting", "(" * 9000, None, "nested too deep"),
    ("deep signs", "-" * 9000 + "1", None, "nested too deep"),
    ("deep attributes", "a" + ".b" * 8000, None, "define `def run():`"),
    ("a bad indent", "def run():\n  yield grasp()\n observe()", 3, "IndentationError: unindent does not match"),
    ("half a character", "def run():\n    yield grasp()  # \ud800", None, "UnicodeEncodeError"),
]

RIGHT = [
    "def run():\n    d = {'k': 0}\n    d['k'] += 1\n    x: int = 1\n    yield grasp()",
    "def run():\n    n = 0\n    def f():\n        nonlocal n\n        n += 1\n    f()\n    yield grasp()",
    "def run():\n    plan = [move_to(x=i / 10) for i in range(3)]\n    yield plan",
    "def run():\n    plan = []\n    plan.append(grasp())\n    yield plan",
    "def run():\n    go = move_to()\n    o = yield go\n    print(o['error'])",
    "def step(x):\n    return move_to(x)\ndef run():\n    yield step(1)",
    "def helper():\n    return (yield grasp())\ndef run():\n    o = yield from helper()\n    yield [grasp(), o]",
    "def run():\n    v = (yield observe())['hand']\n    yield move_to(*v[:2])",
    "def run():\n    if (o := (yield grasp())) and o.get('ok'):\n        yield grasp() if o else observe()",
    "import math, random, vec\nfrom collections import deque\ndef run():\n    deque()\n    yield move_to(**{'x': 1})",
    "def grasp():\n    return 1\ndef run():\n    grasp()\n    yield observe()",
    "def run():\n    try:\n        yield grasp()\n    except ValueError as e:\n        raise RuntimeError(str(e))",
    "def run():\n    class P:\n        def __init__(self): self.f = lambda: move_to()\n    yield P().f()",
    "def run():\n    plan = [grasp(), observe()]\n    yield plan[0]",
    "def run():\n    plan = [grasp(), observe()]\n    while plan:\n        yield plan.pop(0)",
    "def run():\n    plan = (grasp(), observe())\n    yield plan[1]",
    "def run():\n    for i in range(2):\n        yield [grasp(), observe()][i]",
    "def run():\n    yield (grasp(), observe())[True]",
    "def run():\n    yield [grasp(), observe(), observe()][:2]",
    "def run():\n    yield [grasp(), observe()].pop()",
    "def run():\n    plan = [grasp(), observe()] if random.random() < 2 else []\n    yield plan[-1]",
    "def run():\n    if (plan := [grasp()]):\n        yield plan[0]",
    "def can_start(view, margin=0.1):\n    return view['hand'][0] > margin\ndef run():\n    yield grasp()",
]

NEWER = [
    "def run():\n    d = {'a': 1}\n    print(f'{d['a']}')\n    yield grasp()\n",
    "def run():\n    print(f'{'\\n'.join('ab')}')\n    yield grasp()\n",
    "def first[T](xs: list[T]) -> T:\n    return xs[0]\ndef run():\n    yield first([grasp()])\n",
    "type Point = tuple[float, float]\ndef run():\n    yield grasp()\n",
    "class Box[T]:\n    pass\ndef run():\n    Box[int]()\n    yield grasp()\n",
    "def run():\n    try:\n        yield grasp()\n    except KeyError, ValueError:\n        pass\n",
    "def run():\n    print(t'{1}')\n    yield grasp()\n",
]
"""Sources that are valid in the guest's version of Python, and not in every version of the host."""


def _lint(source: str, library: Library, *parameters: Parameter) -> list[tuple[int | None, str]]:
    verdicts = lint(CodedAction(name="a", doc="", source=source, parameters=parameters), library)
    assert all(v.kind == "lint" and v.action == "a" for v in verdicts)
    return [(v.line, v.message) for v in verdicts]


@pytest.mark.parametrize(("source", "line", "says"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_lint_reports_each_kind_of_mistake(source: str, line: int | None, says: str, library: Library) -> None:
    found = _lint(source, library)
    assert found
    assert found[0][0] == line
    assert says in found[0][1]


@pytest.mark.parametrize("source", [*RIGHT, *NEWER])
def test_correct_action_source_passes_lint_and_runs(
    source: str, library: Library, open_guest: Callable[..., Guest]
) -> None:
    assert _lint(source, library) == []
    assert isinstance(open_guest(source).start("a", {}), Ask)


@pytest.mark.parametrize("source", NEWER)
def test_lint_reports_mistakes_next_to_newer_python_syntax(source: str, library: Library) -> None:
    last = source.count("\n") + 1
    found = _lint(f"{source}    grasp()\ndef can_start():\n    import numpy\n    return fly()", library)
    assert [line for line, _ in found] == [last, last + 1, last + 2, last + 3]


def test_lint_reports_mistakes_inside_syntax_that_the_hosts_python_does_not_know(library: Library) -> None:
    """The host's Python lacks the classes of some syntax nodes, and the new fields of other nodes."""
    source = "def run():\n    print(t'{fly()}')\n    yield grasp()\ntype P[T: land()] = int\ndef f[T: soar()](): pass"
    assert [line for line, _ in _lint(source, library)] == [2, 4, 5]


def _fails(error: type[Exception]) -> Callable[..., ast.Module]:
    def parse(*_: object, **__: object) -> ast.Module:
        raise error("this Python is of no use")

    return parse


def test_guest_parses_a_source_that_the_host_cannot_parse(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = [*(source for _, source, *_ in WRONG), *RIGHT]
    expected = [_lint(source, library, DX) for source in sources]
    monkeypatch.setattr(ast, "parse", _fails(SyntaxError))
    assert [_lint(source, library, DX) for source in sources] == expected
    for error in (ValueError, RecursionError, MemoryError):
        monkeypatch.setattr(ast, "parse", _fails(error))
        assert _lint(sources[0], library, DX) == expected[0]


def test_lint_repeats_the_syntax_error_of_the_guest(library: Library, open_guest: Callable[..., Guest]) -> None:
    refused = [
        "def run():\n    yield (",
        "def run():\n  yield\n x",
        "x = 5 5",
        "\0",
        "(" * 9000,
        "f'{'",
        "def f[]: pass",
    ]
    for source in refused:
        verdict = open_guest(source).load("a")
        assert isinstance(verdict, Verdict)
        assert _lint(source, library) == [(verdict.line, verdict.message)]


def test_lint_opens_a_guest_only_when_the_host_cannot_parse_the_source(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []

    def stopped(*_: object, **__: object) -> str:
        made.append(1)
        raise Refused("fuel", "it ran too long")

    monkeypatch.setattr(Instance, "call", stopped)
    assert _lint(RIGHT[0], library) == []
    assert made == []
    assert _lint("def run(:", library) == [], "a source that the guest cannot parse within its limits has no fault"
    assert made == [1]


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [["Pass", 1, {}]],
        [["Module", None, {"body": [[7]]}]],
        [["Module"]],
        [[3, None, {}]],
        [["NodeVisitor", None, {}]],
        ["Module"],
    ],
    ids=["none", "another", "beyond", "short", "number", "no node", "text"],
)
def test_forged_syntax_tree_from_the_guest_is_ignored(rows: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    said = json.dumps(["ask", False, [["told", {"rows": rows}, 1]]])
    monkeypatch.setattr(Instance, "call", lambda *_, **__: said.encode())
    monkeypatch.setattr(ast, "parse", _fails(SyntaxError))
    assert lint_parse.parse("def run(): yield") is None


def test_lint_reports_declared_parameters_that_run_does_not_accept(library: Library) -> None:
    body = ":\n    yield grasp()"
    assert _lint(f"def run(dx){body}", library, DX) == []
    assert _lint(f"def run(*, dx=0){body}", library, DX) == []
    assert _lint(f"def run(**parameters){body}", library, DX) == []
    for signature in ("run()", "run(dx, /)", "run(*dx)"):
        ((line, message),) = _lint(f"def {signature}{body}", library, DX)[:1]
        assert line == 1
        assert "'dx' is declared, but `run` has no argument of that name" in message


def test_lint_orders_findings_by_line(library: Library) -> None:
    found = _lint("import numpy\ndef run():\n    fly()\n    yield grasp(1)\n    observe()", library)
    assert [line for line, _ in found] == [1, 3, 4, 5]


def test_lint_uses_the_given_limits(library: Library) -> None:
    action = CodedAction(name="a", doc="", source="def run():\n    yield grasp()  # ä")
    assert lint(action, library) == []
    (verdict,) = lint(action, library, SandboxLimits(source_bytes=30))
    assert verdict.message.startswith(f"the source has {len(action.source) + 1} bytes")


def test_lint_walks_a_tree_a_constant_number_of_times(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sources are hostile data. So the cost of linting 16 KB is limited, counted in walks over the whole tree."""
    walks = 0
    whole = ast.walk

    def counted(tree: ast.AST) -> Iterator[ast.AST]:
        nonlocal walks
        walks += 1
        return whole(tree)

    monkeypatch.setattr(ast, "walk", counted)
    source = "def run():\n" + "    a = grasp()\n" * 1000
    assert len(lint(CodedAction(name="a", doc="", source=source), library)) > 1000
    assert walks < 10


def test_lint_ignores_a_syntax_warning(library: Library) -> None:
    assert lint(CodedAction(name="a", doc="", source="def run():\n    x = '\\q'\n    yield grasp()"), library) == []


SHARED = "LIMIT = 2\ndef near(a, b):\n    return abs(a - b) < LIMIT\n"


@pytest.mark.parametrize(
    ("source", "shared", "says"),
    [
        ("def run(memory, dx=0.1):\n    yield grasp()\n", "", None),
        ("def can_start(view, memory):\n    return not memory\ndef run(dx=0.1):\n    yield grasp()\n", "", None),
        ("def can_start(view, other):\n    return True\ndef run(dx=0.1):\n    yield grasp()\n", "", "perhaps `memory`"),
        ("def run(dx=0.1):\n    if near(dx, 0):\n        yield grasp()\n", SHARED, None),
        ("def run(dx=0.1):\n    if near(dx, 0):\n        yield grasp()\n", "", "there is no 'near'"),
        ("def run(dx=0.1):\n    yield grasp()\n", "x = (\n", "in the shared code, line 1"),
        ("def run(dx=0.1):\n    yield grasp()\n", "\nimport numpy\n", "in the shared code, line 2: 'numpy'"),
    ],
)
def test_lint_accepts_the_memory_argument_and_calls_of_shared_functions(
    source: str, shared: str, says: str | None, library: Library
) -> None:
    parameters = (Parameter(name="dx", low=0.0, high=1.0, default=0.1),)
    action = CodedAction(name="a", doc="", source=source, shared=shared, parameters=parameters)
    found = [v.message for v in lint(action, library)]
    assert found == [] if says is None else any(says in message for message in found), found
