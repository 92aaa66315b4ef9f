"""Misbehaving programs, each with the verdict that stops the program. The host continues after each program."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest
from rlgpt.domain import Verdict, VerdictKind
from rlgpt.sandbox import Ask, Guest, SandboxLimits, Turn


class Case(NamedTuple):
    name: str
    body: str
    kind: VerdictKind
    says: str = ""
    line: int | None = None


def _reach(patch: str) -> str:
    """Return the body of a program that replaces the guest's own functions. No program can do more inside the guest."""
    return (
        f"    g = __builtins__['__import__'].__globals__['sys'].modules['app'].__dict__\n    {patch}\n    yield grasp()"
    )


def _says(reply: str) -> str:
    """Return the body of a program that makes the guest send ``reply``."""
    return _reach(f"g['_reply'] = lambda *_: {reply!r}")


OS = "g['sys'].modules['os']"
DEEP = "    x = []\n    for _ in range(10 ** 5): x = [x]\n"
CASES = [
    # time
    Case("endless loop", "    while True: pass\n    yield", "fuel", "ran too long"),
    Case("endless generator expression", "    sum(i for i in range(10 ** 12))\n    yield", "fuel"),
    Case("loop in C: a power", "    10 ** 10 ** 8\n    yield", "fuel"),
    Case("loop in C: a regular expression", "    import re\n    re.match('(a+)+$', 'a' * 40 + 'b')\n    yield", "fuel"),
    Case("endless text of an error", "    class E(Exception):\n        def __str__(self):\n"
         "            while True: pass\n    raise E\n    yield", "fuel"),
    Case("endless clean-up", "    try:\n        yield grasp()\n        yield 5\n    finally:\n"
         "        while True: pass", "fuel"),
    Case("observes without end", "    while True:\n        yield observe()", "yields", "yield observe() 500 times", 3),
    Case("observes in lists", "    while True:\n        yield [observe()] * 16", "yields", "500 times", 3),
    Case("ignores close", "    while True:\n        try:\n            yield observe()\n"
         "        except BaseException: pass", "yields"),
    # memory
    Case("a huge list", "    x = [0] * 10 ** 9\n    yield", "memory", "memory is used up", 2),
    Case("a growing list", "    x = []\n    while True: x.append('a' * 10 ** 6)\n    yield", "memory"),
    # errors
    Case("an exception", "    yield grasp()\n    raise ValueError('no')", "error", "ValueError: no", 3),
    Case("an undefined variable", "    x = y + 1\n    yield", "error", "'y' is not defined", 2),
    Case("recursion", "    def f(): return f()\n    f()\n    yield", "error", "RecursionError"),
    Case("recursion in C", DEEP + "    repr(x)\n    yield", "error", "RecursionError"),
    Case("recursion in JSON", DEEP + "    json.dumps(x)\n    yield", "error", "RecursionError"),
    Case("leaving", "    raise SystemExit(0)\n    yield", "error", "SystemExit", 2),
    Case("an interrupt", "    raise KeyboardInterrupt\n    yield", "error", "KeyboardInterrupt", 2),
    Case("a broken text of an error", "    class E(Exception):\n        def __str__(self): raise OSError\n"
         "    raise E\n    yield", "error", "text cannot be made", 4),
    Case("escapes for terminals",
         "    raise ValueError('\\x1b[31m \\ud800')\n    yield", "error", "ValueError: ?[31m ?"),
    Case("an import in run", "    import numpy as np\n    yield", "error", "vec.norm", 2),
    Case("a file", "    open('/etc/passwd')\n    yield", "error", "no open() here", 2),
    # types
    Case("no request", "    yield 5", "type", "got int 5", 2),
    Case("nothing", "    yield", "type", "got NoneType", 2),
    Case("an empty list", "    yield []", "type", "at least one", 2),
    Case("too many at once", "    yield [grasp()] * 17", "type", "at most 16"),
    Case("a str for a number", "    yield move_to(x='1')", "type", "'x' of move_to must be a number", 2),
    Case("a bool for a number", "    yield move_to(x=True)", "type", "must be a number, got True", 2),
    Case("a list for a number", "    yield move_to(x=[1.0])", "type", "got list", 2),
    Case("a fraction for an int", "    yield move_to(tries=1.5)", "type", "a whole number", 2),
    Case("no choice", "    yield move_to(speed='warp')", "type", "one of 'slow', 'fast'", 2),
    Case("a number for a bool", "    yield move_to(hold=1)", "type", "True or False", 2),
    Case("NaN", "    yield move_to(x=float('nan'))", "type", "must be finite", 2),
    Case("infinity", "    yield move_to(x=1e999)", "type", "must be finite", 2),
    Case("an unknown argument", "    yield move_to(z=1)", "type", "valid: x, y, speed, tries, hold", 2),
    Case("too many arguments", "    yield grasp(1)", "type", "at most 0", 2),
    Case("an argument twice", "    yield move_to(1, x=1)", "type", "'x' twice", 2),
    Case("an outcome without yield", "    o = move_to()\n    o['reached']\n    yield", "type", "outcome = yield", 3),
    Case("yield from a primitive", "    yield from grasp()", "type", "outcome = yield", 2),
    Case("no generator", "    return 3", "type", "must be a generator", 1),
    # primitives
    Case("an unknown primitive", "    yield fly(x=1)", "primitive", "valid: observe, move_to, grasp", 2),
    # code that replaces the guest's own functions
    Case("a reply too long", _reach("g['_reply'] = lambda *_: '[' * 100_000"), "reply", "at most 4096 bytes"),
    Case("a reply nested deep", _reach("g['_reply'] = lambda *_: '[' * 4000"), "reply", "nested too deep"),
    Case("a reply of 30 MB", _reach("g['_reply'] = lambda *_: 'x' * 10_000_000"), "reply", "at most 4096 bytes"),
    Case("a reply with NaN", _says('["ask",false,[["move_to",{"x":NaN},1]]]'), "reply"),
    Case("a reply with 1e999", _says('["ask",false,[["move_to",{"x":1e999},1]]]'), "reply"),
    Case("a forged primitive", _says('["ask",false,[["fly",{},1]]]'), "primitive", "'fly'"),
    Case("a forged argument", _says('["ask",false,[["grasp",{"x":1},1]]]'), "type"),
    Case("a forged kind", _says('["error","quarantined","",1]'), "reply"),
    Case("a reply that is no text", _reach("g['_reply'] = lambda *_: 3"), "error", "the interpreter stopped"),
    Case("files by way of os", _reach(OS + ".listdir('/')"), "error"),
    Case("entropy by way of os", _reach(OS + ".urandom(8)"), "error"),
    Case("leaving by way of os", _reach(OS + "._exit(3)"), "error"),
    Case("processes by way of os", _reach(OS + ".system('id')"), "error", "AttributeError"),
    Case("environment by way of os", _reach(f"raise ValueError(str(dict({OS}.environ)))"), "error", "ValueError: {}"),
]  # fmt: skip


def _stopped(turns: list[Turn]) -> Verdict:
    last = turns[-1]
    assert isinstance(last, Verdict), last
    return last


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_misbehaving_program_is_stopped_with_its_verdict(case: Case, play: Callable[..., list[Turn]]) -> None:
    verdict = _stopped(play(f"def run():\n{case.body}"))
    assert verdict.kind == case.kind, verdict
    assert case.says in verdict.message
    if case.line is not None:
        assert verdict.line == case.line
    assert 0 < verdict.fuel <= SandboxLimits().turn_fuel


LOADS = [
    ("a syntax error", "def run(:", "SyntaxError", 1),
    ("an indentation error", "def run():\nyield", "IndentationError", 2),
    ("an error at the top level", "\nx = 1 / 0", "ZeroDivisionError", 2),
    ("an import", "import numpy", "use lists of floats with `vec`", 1),
    ("no run", "x = 1", "no function `run`", None),
    ("a null byte", "x = '\0'", "null bytes", None),
    ("deep nesting", "x = " + "(" * 9000, "", None),
    ("deep signs", "x = " + "-" * 9000 + "1", "nested too deep", None),
    ("deep attributes", "x = a" + ".b" * 8000, "", None),
    ("too long", "#" * 16_385, "at most 16384", None),
]


@pytest.mark.parametrize(("source", "says", "line"), [c[1:] for c in LOADS], ids=[c[0] for c in LOADS])
def test_source_that_cannot_be_loaded_gives_a_load_verdict(
    source: str, says: str, line: int | None, open_guest: Callable[..., Guest]
) -> None:
    guest = open_guest(source, "def run():\n    yield grasp()")
    verdict = guest.start("a", {})
    assert isinstance(verdict, Verdict)
    assert (verdict.kind, verdict.line) == ("load", line)
    assert says in verdict.message
    assert guest.start("a", {}) == verdict
    assert guest.can_start("a", {}) is True
    assert guest.load("a") == verdict
    assert isinstance(guest.start("b", {}), Ask)


def test_load_fuel_limits_the_top_level_of_a_source(open_guest: Callable[..., Guest]) -> None:
    guest = open_guest("while True: pass", limits=SandboxLimits(load_fuel=50_000_000))
    verdict = guest.start("a", {})
    assert isinstance(verdict, Verdict)
    assert (verdict.kind, verdict.fuel) == ("fuel", 50_000_000)
    assert "while its top level ran (over 50,000,000 units of fuel: SandboxLimits(load_fuel=...))" in verdict.message


def test_verdict_names_the_exceeded_limit(open_guest: Callable[..., Guest]) -> None:
    """The message names the limit in force and stays within 500 characters."""
    loops, hoards = "while True: pass", "x = [0] * 10**9"
    small = SandboxLimits(turn_fuel=50_000_000, memory_bytes=48 * 2**20)
    run = "def run():\n    {}\n    yield"
    for source, told in (
        (
            run.format(loops),
            "between two yields (over 50,000,000 units of fuel: SandboxLimits(turn_fuel=...)): give loops a bound",
        ),
        (run.format(hoards), "an instance has 48 MiB, the interpreter's own included"),
        (run.format("raise MemoryError('x' * 900)"), "an instance has 48 MiB, the interpreter's own included"),
    ):
        verdict = _stopped([open_guest(source, limits=small).start("a", {})])
        assert told in verdict.message
        assert len(verdict.message) <= 500
    guest = open_guest(f"def run():\n    yield grasp()\ndef can_start(view):\n    {loops}", limits=small)
    refused = guest.can_start("a", {})
    assert isinstance(refused, Verdict)
    assert "in can_start(view): it ran too long before it answered" in refused.message
    assert refused.message.endswith("give loops a bound")


def test_load_stopped_by_the_wall_clock_is_retried(open_guest: Callable[..., Guest]) -> None:
    guest = open_guest(
        "while True: pass", limits=SandboxLimits(load_fuel=10**15, episode_fuel=10**15, wall_seconds=0.01)
    )
    for _ in range(2):
        verdict = guest.load("a")
        assert isinstance(verdict, Verdict)
        assert verdict.kind == "wall"
        assert verdict.fuel > 0, "the top level ran again"


def test_wall_clock_stops_a_turn_without_fuel_limit(play: Callable[..., list[Turn]]) -> None:
    limits = SandboxLimits(turn_fuel=10**15, call_fuel=10**15, episode_fuel=10**15, wall_seconds=0.01)
    verdict = _stopped(play("def run():\n    while True: pass\n    yield", limits=limits))
    assert verdict.kind == "wall"
    assert "between two yields (over 0.01 s)" in verdict.message


def test_run_function_with_undeclared_parameters_gives_a_type_verdict(play: Callable[..., list[Turn]]) -> None:
    verdict = _stopped(play("def run(x):\n    yield grasp()"))
    assert verdict.kind == "type"
    assert "missing 1 required positional argument: 'x'" in verdict.message


def test_key_error_of_a_dict_that_is_not_the_view_does_not_list_view_keys(play: Callable[..., list[Turn]]) -> None:
    assert _stopped(play("def run():\n    {}['hand']\n    yield")).message == "KeyError: no key 'hand'"
