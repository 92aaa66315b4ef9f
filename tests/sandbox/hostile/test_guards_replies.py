"""Guards for the replies of the guest to the host: each attack ends in a verdict."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import wasmtime
from hostile_guards import BOTH, Open, Patch, kind_of, says
from hostile_programs import APP
from rlgpt.domain import CodedAction, Parameter, Verdict
from rlgpt.domain.events import VerdictKind
from rlgpt.errors import SandboxError
from rlgpt.sandbox import Ask, Library, Sandbox, build
from rlgpt.sandbox.binding import Binding
from rlgpt.sandbox.runtime import runtime


def _nested(levels: int) -> str:
    inner = '{"a":' * levels + "1" + "}" * levels
    return f'["ask",false,[["move_to",{{"x":{inner}}},1]]]'


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (_nested(10), "type"),
        (_nested(100), "reply"),
        ("[" * 4000, "reply"),
        ('["ask",false,[["move_to",{"x":0.5},1]]]', "Ask"),
        ('["ask",false,[["move_to",{"x":NaN},1]]]', "reply"),
        ('["ask",false,[["move_to",{"x":-Infinity},1]]]', "reply"),
        ('["ask",false,[["move_to",{"x":1e999},1]]]', "reply"),
        ('["ask",false,[["win",{"now":1},1]]]', "primitive"),
        ('["ask",false,[["grasp",{"now":1},1]]]', "type"),
    ],
)
def test_host_refuses_a_forged_reply_of_the_guest_with_a_verdict(reply: str, kind: str, open_guest: Open) -> None:
    assert kind_of(open_guest(says(reply)).start("a", {})) == kind


def test_argument_of_a_primitive_is_clipped_to_its_range(open_guest: Open) -> None:
    turn = open_guest("def run():\n    yield move_to(x=1e9)").start("a", {})
    assert isinstance(turn, Ask)
    assert turn.requests[0].args["x"] == 1.5


def test_control_characters_in_the_message_of_a_verdict_are_replaced(open_guest: Open) -> None:
    turn = open_guest("def run():\n    raise ValueError('\\x1b]0;owned\\x07')\n    yield").start("a", {})
    assert isinstance(turn, Verdict)
    assert turn.message == "ValueError: ?]0;owned?"


@pytest.mark.parametrize(
    ("kind", "harm"),
    [
        ("fuel", "while True: pass"),
        ("memory", "kept = []\n        while True: kept.append(bytes(10**6))"),
        ("reply", f"{APP}['_reply'] = lambda *_: 'nonsense'"),
    ],
)
def test_verdict_of_kind_fuel_memory_or_reply_replaces_the_guest_instance(
    kind: VerdictKind, harm: str, library: Library
) -> None:
    """In the old instance, the next call of the action would have no free memory, or a broken interpreter."""
    source = f"kept = calls = 0\ndef run(harm):\n    global kept, calls\n    calls += 1\n    if harm:\n        {harm}\n"
    source += "    x = bytes(10**7)\n    yield move_to(tries=calls)"
    harmful = Parameter(name="harm", low=0.0, high=1.0, default=0.0)
    action = CodedAction(name="a", doc="", source=source, parameters=(harmful,))
    guest = Sandbox().open(library, [action], seed=0)
    calls = []
    for harm_now in (0.0, 0.0, 1.0, 0.0):
        turn = guest.start("a", {"harm": harm_now})
        calls.append(turn.requests[0].args["tries"] if isinstance(turn, Ask) else kind_of(turn))
    assert calls == [1, 2, kind, 1]


HANDLERS = """
import re, sys, wasmtime
from rlgpt.sandbox import cache, runtime

def caught():
    return int(re.search(r"SigCgt:\\s*(\\w+)", open("/proc/self/status").read())[1], 16)

cache.guest = cache.compiled = lambda *_: None  # nothing runs: an engine is enough
if sys.argv[1] == "bare":
    wasmtime.Config.signals_based_traps = property(None, lambda config, wanted: None)
before = caught()
runtime.Runtime()
print([n for n in range(1, 65) if (caught() & ~before) >> (n - 1) & 1])
"""


@BOTH
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux which signals are caught")
def test_wasmtime_installs_no_signal_handlers(guarded: bool) -> None:
    """Signal handlers apply to the whole process. The handlers of wasmtime and of another library together once ended
    the process.
    """
    command = [sys.executable, "-c", HANDLERS, "guarded" if guarded else "bare"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    added = json.loads(done.stdout)
    assert added == [] if guarded else signal.SIGSEGV in added


PEEKS = '(module (import "wasi:cli/environment@0.2.0" "get-environment" (func (param i32))))'
"""The source of a guest that could read environment variables if it were given its import."""


@BOTH
def test_guest_gets_no_system_functions(guarded: bool) -> None:
    """There are two guards: the guest imports nothing (``--stub-wasi``), and the host gives an instance nothing."""
    engine = runtime().engine
    guest = runtime().module if guarded else wasmtime.Module(engine, PEEKS)
    assert bool(guest.imports) is not guarded
    if not guarded:
        store = wasmtime.Store(engine)
        with pytest.raises(wasmtime.WasmtimeError, match="expected 1 imports, found 0"):
            Binding(store, guest, {})


def test_guest_is_built_with_stubs_for_system_functions(tmp_path: Path, monkeypatch: Patch) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], **_: Any) -> Any:
        commands.append(command)
        return SimpleNamespace(returncode=1, stdout="")

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(SandboxError):
        build.build(tmp_path / "guest.wasm", force=True)
    assert ["--stub-wasi" in command for command in commands] == [True]


@pytest.mark.parametrize("kind", ["error", "memory"])
def test_host_shortens_a_long_error_message_of_a_guest(kind: VerdictKind, open_guest: Open) -> None:
    turn = open_guest(says(json.dumps(["error", kind, "x" * 3000, 1]))).start("a", {})
    assert isinstance(turn, Verdict)
    assert (turn.kind, len(turn.message)) == (kind, 500)


@BOTH
@pytest.mark.parametrize("where", ["in run", "in can_start", "at the top", "a primitive"])
def test_guest_shortens_its_long_error_messages(guarded: bool, where: str, open_guest: Open) -> None:
    """The host refuses a too long message. Then the language model would not get the description of the fault."""
    wrong = "raise ValueError('x' * 10**5)"
    lax = "pass" if guarded else f"{APP}['_text'] = str"
    head = {
        "in run": f"def run():\n    {lax}\n    {wrong}\n    yield",
        "in can_start": f"def can_start(view):\n    {lax}\n    {wrong}\ndef run():\n    yield grasp()",
        "at the top": f"{lax}\n{wrong}\ndef run():\n    yield grasp()",
        "a primitive": f"def run():\n    {lax}\n    yield grasp(**{{'x' * 10**5: 1}})",
    }
    guest = open_guest(head[where])
    turn = guest.can_start("a", {}) if where == "in can_start" else guest.start("a", {})
    assert isinstance(turn, Verdict)
    expected = {"at the top": "load", "a primitive": "type"}.get(where, "error")
    assert turn.kind == (expected if guarded else "reply")
    assert ("xxxx" in turn.message) is guarded
