"""docs/security.md, and the list of modules in docs/how-to/coded-actions.md, match the code."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import re
import threading
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rlgpt.domain import Verdict
from rlgpt.sandbox import Ask, Guest, SandboxLimits
from rlgpt.sandbox.guest import vec
from rlgpt.sandbox.guest.modules import PREIMPORTED
from rlgpt.sandbox.replies import DEPTH
from rlgpt.sandbox.runtime import runtime

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text()
CODED_ACTIONS = (ROOT / "docs" / "how-to" / "coded-actions.md").read_text()
WORLDS = ROOT / "examples" / "design"
PROGRAMS = {
    path.stem: tomllib.loads(path.read_text())
    for path in (ROOT / "tests" / "sandbox" / "hostile" / "programs").glob("*.toml")
}
FIRST = "def run():\n    yield grasp()\n"
DEEP = "__builtins__['__import__'].__globals__['sys'].modules['app'].__dict__['_reply'] = lambda *_: '[' * 100"
GOES_OVER = {
    "source": FIRST + "#" * 20_000,
    "memory of an instance": f"{FIRST}    bytes(10 ** 8)",
    "fuel to load": f"{FIRST}while True: pass",
    "between two yields": f"{FIRST}    while True: pass",
    "fuel of a call": "def run():\n    while True:\n        for _ in range(40_000): pass\n        yield grasp()",
    "fuel of an action in an episode": f"{FIRST}    for _ in range(200_000): pass",
    "calls of `observe()` in a call": "def run():\n    while True: yield observe()",
    "requests of a yield": f"{FIRST}    yield [grasp()] * 30",
    "message of a yield": f"{FIRST}    yield move_to(speed='x' * 5000)",
    "brackets in one another": f"{FIRST}    {DEEP}\n    yield grasp()",
    "view": f"{FIRST}    yield grasp()",
    "memory that actions share": "def run(memory):\n    memory['x'] = 'x' * 9000\n    yield grasp()",
    "wall clock": f"{FIRST}    while True: pass",
}
"""Name of a limit in the table -> a program that exceeds the limit."""


def test_security_page_states_the_pinned_wasmtime_version() -> None:
    wanted = tomllib.loads((ROOT / "core" / "pyproject.toml").read_text())["project"]["dependencies"]
    (pin,) = [line for line in wanted if line.startswith("wasmtime")]
    assert f"`{pin}`" in PAGE


def test_security_page_states_the_number_of_hostile_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "tests" / "sandbox" / "hostile")
    kinds = len(importlib.import_module("hostile_programs").KINDS)
    programs = sum(map(len, PROGRAMS.values()))
    assert f"{programs} programs of {kinds} kinds" in PAGE
    assert f"the tests try {programs} programs" in PAGE


def test_security_page_names_the_traps_of_the_hostile_programs() -> None:
    told = re.findall(r"`(\w+)`\s+(?:ends\s+)?in\s+the\s+trap\s+`([^`]+)`", PAGE)
    assert len(told) == 2
    for name, trap in told:
        assert PROGRAMS["eval_and_compile"][name]["says"] == " ".join(trap.split())


def test_security_page_shows_the_default_limits() -> None:
    limits = SandboxLimits()
    for told in (
        f"| source | {limits.source_bytes:,} bytes |",
        f"| {limits.memory_bytes >> 20} MiB |",
        f"| {limits.looks}, or two for each of its yields; {limits.requests} |",
        f"may yield primitives {limits.yields} times",
        f"| {limits.reply_bytes:,} bytes, {DEPTH} |",
        f"| view | {limits.view_bytes:,} bytes |",
        f"| memory that actions share | {limits.shared_bytes:,} bytes as JSON |",
        f"| {limits.wall_seconds:g} s |",
    ):
        assert told in PAGE
    assert limits.load_fuel == limits.turn_fuel == 10**9
    assert (limits.call_fuel, limits.episode_fuel, limits.fuel_shares) == (4 * 10**9, 2 * 10**10, 8)
    assert limits.step_fuel == 5 * 10**7


def _rows() -> dict[str, str]:
    """Return the kind of verdict that the table states for each limit."""
    table = PAGE.partition("verdict if it is exceeded |\n|---|---|---|\n")[2].partition("\n\n")[0]
    rows = {}
    for line in table.splitlines():
        names, _, ends = (cell.strip() for cell in line.strip("|").split("|"))
        kinds = re.findall(r"`(\w+)`", ends)
        told = [name for name in GOES_OVER if name in names]
        rows.update(zip(told, kinds * len(told) if len(kinds) == 1 else kinds, strict=True))
    return rows


@contextlib.contextmanager
def _clock_that_runs_ahead() -> Iterator[None]:
    """Advance the wall clock of the sandbox without waiting."""
    over, engine = threading.Event(), runtime().engine

    def tick() -> None:
        while not over.wait(0.001):
            engine.increment_epoch()

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_every_limit_in_the_security_table_has_a_test() -> None:
    assert set(_rows()) == set(GOES_OVER)


@pytest.mark.parametrize("limit", GOES_OVER)
def test_exceeded_limit_causes_the_verdict_in_the_security_table(limit: str, open_guest: Callable[..., Guest]) -> None:
    fuel = 10**15 if limit == "wall clock" else 10**8
    episode = fuel // 2 if "episode" in limit else 10 * fuel
    limits = SandboxLimits(turn_fuel=fuel, call_fuel=4 * fuel, episode_fuel=episode, load_fuel=10**8)
    guest = open_guest(GOES_OVER[limit], limits=limits)
    turn = guest.start("a", {})
    with _clock_that_runs_ahead() if limit == "wall clock" else contextlib.nullcontext():
        while isinstance(turn, Ask):
            turn = guest.send({"text": "x" * 10_000} if limit == "view" else {})
    assert isinstance(turn, Verdict)
    assert turn.kind == _rows()[limit]


def test_files_named_on_the_security_page_exist() -> None:
    paths = set(re.findall(r"`((?:core|tests|benchmarks)/[\w./]+)`", PAGE))
    assert paths
    assert not [path for path in paths if not (ROOT / path).exists()]


@pytest.mark.parametrize("name", [n for n, f in vars(vec).items() if inspect.isfunction(f)])
def test_documentation_lists_every_function_of_vec(name: str) -> None:
    assert f"`{name}({', '.join(inspect.signature(getattr(vec, name)).parameters)})`" in CODED_ACTIONS


def test_documentation_lists_the_preimported_modules() -> None:
    sentence = CODED_ACTIONS.partition("Without an import, code can use the modules ")[2].partition(", and `vec`")[0]
    names = re.findall(r"\w+", re.sub(r"\(.*?\)| and\b", "", sentence))
    assert names == [*PREIMPORTED[:-1]]
    assert PREIMPORTED[-1] == "vec"
