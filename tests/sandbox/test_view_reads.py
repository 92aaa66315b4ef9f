"""Code gets only the keys of a view that it can read, and cannot see that others are missing."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st
from rlgpt.domain import CodedPredicate, CodedReward, Verdict
from rlgpt.errors import PluginError
from rlgpt.sandbox import Ask, Guest, Library, Sandbox, functions, runner
from rlgpt.sandbox.encode import encode
from rlgpt.sandbox.reads import ViewReads, view_reads_of

Open = Callable[..., Guest]
LOOK = "    v = yield observe()\n"
HELPERS = """
def far(view, least=0):
    return view["a"] > least
def pair(w):
    return w, 1
def look():
    seen = yield observe()
    return seen
"""

READ = {
    "subscript": ("    x = v['a']\n", {"a"}),
    "get": ("    x = v.get('a', 0) or v.get('b')\n", {"a", "b"}),
    "in": ("    x = 'a' in v and 'b' not in v\n", {"a", "b"}),
    "nothing": ("    yield grasp()\n", set()),
    "identity": ("    x = v is None or v is not v\n", set()),
    "unpacked list": ("    o, w = yield [grasp(), observe()]\n    x = w['a'] + o['b']\n", {"a", "b"}),
    "list": (
        "    all = yield [observe() for i in range(2)]\n    x = [w['a'] for w in all[1:]] + [all[-1]['b']]\n",
        {"a", "b"},
    ),
    "list of a name": ("    asked = [grasp()]\n    x = (yield asked)[0]['a']\n", {"a"}),
    "helper": ("    x = far(v) or far(least=2, view=v)\n", {"a"}),
    "tuple": ("    (w, n), x = pair(v), 2\n    x = w['b'] + n\n", {"b"}),
    "generator": ("    w = yield from look()\n    x = w['c']\n", {"c"}),
    "closure": ("    def near():\n        return v['a']\n    x = near() + (lambda: v['b'])()\n", {"a", "b"}),
    "loop": (
        "    x = [v[key] for key in ('a', 'b')]\n    for i, w in enumerate([v]):\n        x = w['c']\n",
        {"a", "b", "c"},
    ),
    "keys of a tuple of pairs": ("    for key, x in (('a', 1), ('b', 2)):\n        x = v[key]\n", {"a", "b"}),
    "keys of an argument": ("    def g(key):\n        return v.get(key)\n    x = g('a') + g(key='b')\n", {"a", "b"}),
    "changed key": ("    v['a'] += v['b']\n    v['c'] = 1\n", {"a", "b"}),
    "choice": ("    w = v if v else {'a': 1}\n    x = (w or v)['b']\n", {"b"}),
    "sub-view": ("    x = len(v['a']) + len(v['b']['c'])\n    x = [y for y in v['a']]\n", {"a", "b"}),
    "can_start": ("    x = can_start(v)\ndef can_start(view):\n    return view['k']\n", {"k"}),
}
WHOLE = {
    "length": "    x = len(v)\n",
    "iteration": "    x = [k for k in v]\n",
    "starred": "    x = [*v]\n",
    "double star": "    x = dict(**v)\n",
    "unpacking": "    x, y = v\n",
    "list of a name": "    asked = [grasp()]\n    (x,) = yield asked\n    y = x['a']\n",
    "items": "    x = v.items()\n",
    "bound method": "    get = v.get\n",
    "text": "    x = f'{v}'\n",
    "message": "    raise ValueError(v)\n",
    "message of an assertion": "    assert 0, v\n",
    "equality": "    x = v == {}\n",
    "membership": "    x = v in [1]\n",
    "membership in a list": "    x = memory['d'] in [v]\n",
    "key of an argument of the host": "    x = v[f'{memory}']\n",
    "json": "    x = json.dumps(v)\n",
    "copy": "    x = {'v': v}\n",
    "set": "    x = {(1, v)}\n",
    "merge": "    x = v | {}\n",
    "memory": "    memory['v'] = v\n",
    "attribute": "    run.v = v\n",
    "list that is changed": "    x = []\n    y = x\n    y.append(v)\n    print(x)\n",
    "in-place addition": "    x = []\n    x += [v]\n",
    "deletion": "    del v['a']\n",
    "deletion in a tuple": "    del (v['a'], [v['b']])\n",
    "pop": "    x = v.pop('a')\n",
    "unknown key": "    x = v[memory['key']]\n",
    "key that changes": "    key = 'a'\n    key += 'b'\n    x = v[key]\n",
    "key of a list that changes": "    keys = ['a']\n    keys.append('b')\n    x = [v[key] for key in keys]\n",
    "key of a row that is not known": "    for x, y, z in ((*memory, 'a', *memory),):\n        y = v[y]\n",
    "key that is too long": f"    key = {'a' * 600!r}\n    x = v[key + key]\n",
    "key of a type with its own operators": "    A = type('A', (), {'__add__': memory})\n    x = v[A() + 'a']\n",
    "key of an enumeration with operators": "    A = enum.Enum('A', {'__add__': 1})\n    x = v[A.q + 'a']\n",
    "key of an argument of a callback": "    def g(key):\n        return v[key]\n    x = list(map(g, memory))\n",
    "yielded": "    yield v\n",
    "argument of a primitive": "    yield move_to(x=v)\n",
    "callback": "    x = memory['f'](v)\n",
    "method": "    x = memory.update(v)\n",
    "lambda": "    f = lambda: v\n    x = len(f())\n",
    "returned by a callback": "    def f():\n        return v\n    g = f\n    x = len(g())\n",
    "generator by hand": "    def f():\n        return v\n        yield\n    g = f()\n    x = len((yield from g))\n",
    "yielded by a helper": "    def f():\n        yield v\n    x = len(next(f()))\n",
    "default": "    def f(w=v):\n        return len(w)\n    x = f()\n",
    "arguments": "    def f(*w):\n        return len(w[0])\n    x = f(v)\n",
    "sent": "    def f():\n        w = yield 1\n        print(w)\n    g = f()\n    next(g)\n    g.send(v)\n",
    "global": "    global kept\n    kept = v\ndef other():\n    return len(kept)\n",
    "nonlocal": "    w = None\n    def f():\n        nonlocal w\n        w = v\n    f()\n    x = len(w)\n",
    "walrus": "    x = len(w := v)\n",
    "with": "    with v:\n        pass\n",
    "match": "    match v:\n        case {'a': 1, **rest}:\n            print(rest)\n",
    "locals": "    x = locals()\n",
    "eval": "    x = eval('v')\n",
    "frame": "    x = memory['g'].gi_frame\n",
    "traceback": "    try:\n        1 / 0\n    except ZeroDivisionError as e:\n        x = e.__traceback__\n",
    "format": "    x = '{0.gi_frame.f_locals}'.format(memory)\n",
    "closure by a pattern": "    f = lambda: v['a']\n    match f:\n        case object(__closure__=x): pass\n",
    "private name of a module": "    from collections import _sys as s\n    s.setprofile(memory)\n",
    "set attribute": "    setattr(memory, '__code__', 1)\n",
    "function with the code of another": "    functools.wraps(look, ['__code__'], [])(far)\n",
    "annotation that is evaluated": "    def f(w: 'v'):\n        pass\n    functools.singledispatch(f).register(f)\n",
    "function of a code object": "    x = dataclasses.types.FunctionType(memory, {})\n",
    "inspect": "    x = dataclasses.inspect.currentframe()\n",
    "class": "    class A:\n        w = v\n    x = len(A.w)\n",
    "decorated": "    @memory\n    def f():\n        return v\n    x = len(f())\n",
    "two functions of one name": "    def f(w):\n        pass\n    def f(w):\n        return len(w)\n    x = f(v)\n",
    "shadowed built-in": "    def bool(w):\n        return len(w)\n    x = bool(v)\n",
    "type with its own check": "    x = isinstance(v, memory['t'])\n",
}


def reads(body: str, before: str = HELPERS) -> ViewReads | None:
    return view_reads_of(f"{before}\ndef run(memory):\n{LOOK}{body}", "", "run")


@pytest.mark.parametrize("name", READ)
def test_static_analysis_finds_the_keys_that_code_can_read(name: str) -> None:
    body, keys = READ[name]
    found = reads(body)
    assert found is not None
    assert {(pattern.prefix, pattern.suffix) for pattern in found.keys} == {(key, None) for key in keys}


@pytest.mark.parametrize("name", WHOLE)
def test_code_that_could_see_which_keys_a_view_has_gets_the_whole_view(name: str) -> None:
    assert reads(WHOLE[name]) is None


def test_keys_that_are_known_in_part_get_all_keys_that_fit() -> None:
    found = reads("    x = v[memory['n'] + '_near'] + v[f\"at_{memory['n']}_x\"] + v[NAME + '_y']\n", "NAME = 'b'\n")
    assert found is not None
    view = {"a_near": 1, "near": 2, "at_b_x": 3, "b_y": 4, "c_y": 5, "at_x": 6}
    assert list(found.part(view)) == ["a_near", "at_b_x", "b_y"]


def test_view_keeps_the_order_of_its_keys_and_a_key_where_code_tests_it() -> None:
    found = reads("    x = v['b'] + v['a']\n")
    assert found is not None
    assert list(found.part({"a": 1, "c": 2, "b": 3})) == ["a", "b"]
    assert found.part({"c": 2}) == {}
    tested = reads("    while not v:\n        x = v['a']\n")
    assert tested is not None
    assert (tested.part({"c": 2, "d": 3}), tested.part({})) == ({"c": 2}, {})


def test_code_without_its_function_or_with_two_gets_whole_views() -> None:
    for source in ("x = 1", "def run():\n    pass\n" * 2, "@x\ndef run():\n    pass\n", "def run(:", "run = 1"):
        assert view_reads_of(source, "", "run") is None
    assert view_reads_of("def run():\n    yield grasp()\n", "def run():\n    pass\n", "run") is None
    assert view_reads_of("def reward():\n    return 1\n", "", "reward") is None


def test_name_that_is_local_in_a_part_of_a_function_can_be_a_global() -> None:
    found = reads("    x = [key for key in ('a',)]\n    y = v[key]\n", "key = 'b'\n")
    assert found is not None
    assert {pattern.prefix for pattern in found.keys} == {"a", "b"}
    store = "def store(x):\n    global w\n    w = x\n"
    for local in ("[w for w in ()]", "lambda w: 1"):
        assert reads(f"    store(v)\n    x = {local}\n    y = len(w)\n", store) is None
    assert view_reads_of(f"{store}def reward(w, memory):\n    return len(w)\n", "", "reward") is None


def test_view_that_can_start_returns_is_whole() -> None:
    source = "G = 0\ndef can_start(view):\n    return G\ndef run():\n    global G\n    G = yield observe()\n"
    assert view_reads_of(source, "", "run") is None


def test_long_source_gets_whole_views() -> None:
    source = "def run():\n    v = yield observe()\n    x = v['a']\n"
    assert view_reads_of(source, "", "run") is not None
    assert view_reads_of(source + "#" * 100_000, "", "run") is None


def test_analysis_of_tuples_of_several_kinds_ends() -> None:
    tuples = "".join(f"    {a} = {', '.join([b] * 8)}\n" for a, b in ("av", "ba", "ca"))
    assert reads(f"{tuples}    w = yield memory\n    x = {'c or b or w or ' * 1500}w\n") is None


def test_analysis_of_nested_tuples_and_many_calls_ends() -> None:
    nested = "".join(f"    a{i + 1} = ({', '.join([f'a{i}'] * 40)})\n" for i in range(40))
    calls = "".join(f"def f{i}(key):\n    return f{i - 1}(key + key) + f{i - 1}(key)\n" for i in range(1, 60))
    assert reads(f"    a0 = v\n{nested}") is None
    source = (
        f"def f0(key):\n    return V[key]\n{calls}def run():\n    global V\n    V = yield observe()\n    f59('a')\n"
    )
    assert view_reads_of(source, "", "run") is None


# Generated programs. Each statement can fail, and the program reports its errors.
STATEMENTS = [
    *(
        "v = yield observe()",
        "o, v = yield [act(1), observe()]",
        "l = yield [observe(), observe()]",
        "l = yield both()",
    ),
    *("n = v['a']", "n = v.get('b', 0)", "n = 'c' in v", "n = v is None", "n = 1 if v else 2", "n = not v"),
    *("v = l[0]", "v = l[-1]", "n = [w['d'] for w in l]", "v = v or {'z': 1}", "n = far(v)", "v, n = pair(v)"),
    *("v = yield from look()", "n = v[k]", "k = 'b'", "n = v[k + '_b']", "n = v.get(f'{k}_x')", "v['a'] = 5"),
    *("for k in ('a', 'f'): n = v[k]", "v['q'] = 1", "v['a'] += 1", "l = [v, o]", "v = (v, n)[0]", "n = len(l)"),
    *("n = isinstance(v, dict)", "n = [i for i, w in enumerate(l) if w['a']]", "G = v", "n = G['h']", "n = v[0]"),
    *("n = [w['a'] for w, m in zip(l, (1, 2))]", "v, *l = l", "n = bool(v)", "n = o['x']", "n = v[1:]", "l = l[::-1]"),
    *("yield act(n)", "n = (lambda: v['c'])()", "n = seen()", "n = v['g']['h']", "n = [g for g in v.get('g', ())]"),
]
ODD = [
    *("n = len(v)", "n = list(v)", "n = str(v)", "n = [*v]", "n = v == o", "n = f'{v}'", "n = {**v}", "(n,) = v"),
    *("n = v.keys()", "n = v.pop('a')", "del v['a']", "n = str(l)", "n = v | {}", "n = (lambda: v)()", "k = k + 'b'"),
    *("del (v['a'], n)", "del [v['a'], [v['c']]]"),
    *("n = l[0] == l[1]", "STORE.append(v)", "n = len(STORE[0])", "n = l[0] if n else v", "n = max(l, key=len)"),
    *("f = seen", "n = [f() for f in [keep]]", "l += [v]", "o = {'v': v}", "n = sorted(v)", "v = yield act(2)"),
]
PROGRAM = """
G, STORE, LOG = None, [], []
def both():
    return [observe(), act(3)]
def far(view):
    return view["a"] > 1
def pair(w):
    return w, 1
def look():
    seen = yield observe()
    return seen
def run():
    global G
    v = o = l = f = None
    n, k = 0, "a"
    def seen():
        return v["e"]
    def keep():
        return v
{body}
"""
STEP = "    try:\n        {}\n        LOG.append(str(n))\n    except Exception as e:\n        LOG.append(str(e))\n"
VIEWS = st.dictionaries(st.sampled_from([*"abcdefh", "a_b", "b_b", "a_x"]), st.integers(0, 3), max_size=6) | st.just(
    {"g": {"h": 1}, "a": 2}
)


def play(source: str, view: Mapping[str, Any], reads: ViewReads | None) -> tuple[list[Any], list[str]]:
    """The requests of a program and its report, if each of its views is the part of ``view`` that ``reads`` gives."""
    space: dict[str, Any] = {"observe": lambda: ("observe",), "act": lambda n: ("act", repr(n))}
    exec(source, space)
    running, asked, reply = space["run"](), [], None

    def answer(request: Any) -> Any:
        if isinstance(request, list):
            return [answer(one) for one in request]
        seen = copy.deepcopy(dict(view))
        return {"x": 7, "a": 8} if request != ("observe",) else dict(reads.part(seen)) if reads else seen

    try:
        while True:
            asked.append(running.send(reply))
            reply = answer(asked[-1])
    except StopIteration:
        return asked, space["LOG"]


@settings(max_examples=300)
@given(st.lists(st.sampled_from(STATEMENTS), max_size=8), st.lists(st.sampled_from(ODD), max_size=1), VIEWS)
@example(STATEMENTS, [], {"a": 1, "b": 2, "g": {"h": 3}, "h": 4, "zz": 5})
@example(STATEMENTS, [], {"zz": 5})
@example(STATEMENTS, [], {})
def test_program_behaves_equally_with_whole_views_and_with_the_keys_that_it_reads(
    statements: list[str], odd: list[str], view: Mapping[str, Any]
) -> None:
    body = "".join(STEP.format(s) for s in (STATEMENTS[0], *statements, *odd, *statements))
    source = PROGRAM.format(body=body)
    found = view_reads_of(source, "", "run")
    event("whole view" if found is None else "part of the view")
    assert play(source, view, None) == play(source, view, found)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_program_with_a_usual_statement_gets_a_part_of_the_view(statement: str) -> None:
    body = "".join(map(STEP.format, (STATEMENTS[0], "l = yield [observe(), observe()]", statement)))
    found = view_reads_of(PROGRAM.format(body=body), "", "run")
    assert found is not None
    assert "zz" not in found.part({"a": 1, "zz": 2})


def sent(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The values that are encoded for a guest."""
    values: list[Any] = []

    def noted(value: Any, action: str, limit: int) -> Any:
        values.append(value)
        return encode(value, action, limit)

    for module in (runner, functions):
        monkeypatch.setattr(module, "encode", noted)
    return values


VIEW = {"hand": [0.1, 0.2], "kettle": [1.0, 2.0], "step": 3, "note": "here"}


def test_run_gets_only_the_keys_that_it_reads(open_guest: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    values = sent(monkeypatch)
    source = (
        "def run():\n    v = yield observe()\n    outcome, w = yield [grasp(), observe()]\n"
        "    raise ValueError(v['step'] + w['hand'][0] + outcome['error'])"
    )
    guest = open_guest(source)
    guest.start("a")
    guest.send(VIEW)
    turn = guest.send([{"error": 0.25, "reached": True}, VIEW])
    part = {"hand": [0.1, 0.2], "step": 3}
    assert values == [part, [{"error": 0.25, "reached": True}, part]]
    assert isinstance(turn, Verdict)
    assert turn.message == "ValueError: 3.35"


def test_code_that_reads_no_single_keys_gets_the_whole_view(open_guest: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    values = sent(monkeypatch)
    guest = open_guest("def run():\n    raise ValueError(list((yield observe())))")
    guest.start("a")
    turn = guest.send(VIEW)
    assert values == [VIEW]
    assert isinstance(turn, Verdict)
    assert turn.message == f"ValueError: {list(VIEW)}"


def test_missing_key_has_the_message_of_a_whole_view(open_guest: Open) -> None:
    guest = open_guest("def run():\n    v = yield observe()\n    return v['gone']")
    guest.start("a")
    turn = guest.send(VIEW)
    assert isinstance(turn, Verdict)
    assert turn.message == "KeyError: no key 'gone'; of the view there are: hand, kettle, step, note"


def test_outcome_is_sent_whole(open_guest: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    values = sent(monkeypatch)
    guest = open_guest("def run():\n    out = yield grasp()\n    v = yield observe()\n    yield [grasp()]")
    guest.start("a")
    guest.send({"reached": True})
    assert isinstance(guest.send(VIEW), Ask)
    guest.send([{"reached": False}])
    assert values == [{"reached": True}, {}, [{"reached": False}]]


def test_functions_get_only_the_keys_that_they_read_and_equal_parts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    values = sent(monkeypatch)
    opened = Sandbox().open_functions(
        Library(primitives=()),
        [
            CodedPredicate(name="late", source="def done(view, memory):\n    return view['step'] > 2\n"),
            CodedReward(name="r", source="def reward(v, memory):\n    return v.get('step', 0) / 4\n"),
            CodedReward(name="size", source="def reward(view, memory):\n    return len(view) / 4\n"),
        ],
        seed=0,
    )
    answers = opened.evaluate(VIEW)
    assert (answers.predicates, answers.rewards) == ({"late": True}, {"r": 0.75, "size": 1.0})
    assert values == [{"step": 3}, VIEW]


def test_value_that_is_not_plain_is_an_error_where_code_reads_it(open_guest: Open) -> None:
    guest = open_guest("def run():\n    v = yield observe()\n    return v['hand']")
    guest.start("a")
    with pytest.raises(PluginError, match="may contain only"):
        guest.send({"hand": object()})
