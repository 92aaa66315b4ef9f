"""Each guard of the host matters: with it the attack ends in a verdict, and with it alone taken away the attack works.

The guest's own import list and missing ``open`` are no guards; see ``test_programs.py``, which runs without them.
Workers' environments are in ``tests/rl/test_secrets.py``.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import wasmtime
from hostile_programs import APP, BENIGN
from hostile_stage import Stage
from pydantic import ValidationError
from rlgpt.domain import Bundle, CodedAction, SubAction, Verdict
from rlgpt.domain.events import VerdictKind
from rlgpt.errors import BundleError, TrainerError
from rlgpt.options import ExtendedEnv, bundle, load_bundle, save_bundle
from rlgpt.report import html
from rlgpt.report.values import Page
from rlgpt.rl import tally
from rlgpt.rl.checkpoint import FILE, Checkpoint
from rlgpt.rl.tally import Tally, TallyState
from rlgpt.runs import Run
from rlgpt.sandbox import Ask, Budgets, Done, Guest, Sandbox, Turn, cache, checks, host, replies
from rlgpt.sandbox.checks import Checker
from rlgpt.sandbox.runtime import runtime

Open = Callable[..., Guest]
Patch = pytest.MonkeyPatch
BOTH = pytest.mark.parametrize("guarded", [True, False], ids=["guarded", "bare"])


def _says(reply: str) -> str:
    """A program in whose place the guest answers ``reply``."""
    return f"def run():\n    {APP}['_reply'] = lambda *_: {reply!r}\n    yield grasp()"


def _kind(turn: Turn) -> str:
    return turn.kind if isinstance(turn, Verdict) else type(turn).__name__


# -- what a program may use up ----------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("where", ["in run", "at the top"])
def test_fuel(guarded: bool, where: str, open_guest: Open, monkeypatch: Patch) -> None:
    if not guarded:
        endless = wasmtime.Store.set_fuel
        monkeypatch.setattr(wasmtime.Store, "set_fuel", lambda store, fuel: endless(store, 2**60))
    loop = "for _ in range(300_000): pass"
    source = (
        f"def run():\n    {loop}\n    yield grasp()" if where == "in run" else f"{loop}{BENIGN.replace('use', 'grasp')}"
    )
    small = Budgets(turn_fuel=10_000_000, load_fuel=10_000_000)
    assert _kind(open_guest(source, budgets=small).start("a", {})) == ("fuel" if guarded else "Ask")


@BOTH
def test_memory(guarded: bool, open_guest: Open, monkeypatch: Patch) -> None:
    if not guarded:
        monkeypatch.setattr(wasmtime.Store, "set_limits", lambda store, **_: None)
    turn = open_guest("def run():\n    x = bytes(100_000_000)\n    yield grasp()").start("a", {})
    assert _kind(turn) == ("memory" if guarded else "Ask")


@contextmanager
def _fast_clock() -> Iterator[None]:
    """Ticks of the wall clock without waiting for them."""
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


@BOTH
def test_wall_clock(guarded: bool, open_guest: Open, monkeypatch: Patch) -> None:
    if not guarded:
        deadline = wasmtime.Store.set_epoch_deadline
        monkeypatch.setattr(wasmtime.Store, "set_epoch_deadline", lambda store, ticks: deadline(store, 2**40))
    # without the clock nothing but fuel ends it: enough for hundreds of ticks there, without an end with the clock
    budgets = Budgets(turn_fuel=10**15 if guarded else 4 * 10**9, wall_seconds=0.3)
    guest = open_guest("def run():\n    yield grasp()\n    while True: pass", budgets=budgets)
    assert isinstance(guest.start("a", {}), Ask)
    with _fast_clock():
        assert _kind(guest.send({})) == ("wall" if guarded else "fuel")


@BOTH
def test_yields(guarded: bool, open_guest: Open) -> None:
    guest = open_guest("def run():\n    while True:\n        yield observe()", budgets=_without("yields", guarded))
    turn = guest.start("a", {})
    for _ in range(100):
        turn = guest.send({}) if isinstance(turn, Ask) else turn
    assert _kind(turn) == ("yields" if guarded else "Ask")


@BOTH
@pytest.mark.parametrize(
    ("field", "source", "kind"),
    [
        ("source_bytes", "def run():\n    yield observe()\n" + "#" * 20_000, "load"),
        ("requests", "def run():\n    yield [grasp()] * 30", "type"),
        ("reply_bytes", _says('["done"' + " " * 10_000 + "]"), "reply"),
        ("view_bytes", "def run():\n    yield observe()\n    yield grasp()", "view"),
    ],
)
def test_sizes(guarded: bool, field: str, source: str, kind: str, open_guest: Open) -> None:
    guest = open_guest(source, budgets=_without(field, guarded))
    turn = guest.start("a", {})
    if field == "view_bytes":
        assert isinstance(turn, Ask)
        turn = guest.send({"text": "x" * 20_000})
    assert (_kind(turn) == kind) is guarded
    assert guarded or isinstance(turn, Ask | Done)


def _without(field: str, guarded: bool) -> Budgets:
    return Budgets() if guarded else Budgets.model_validate({field: 10**6})


# -- what the host reads ----------------------------------------------------------------------------------------------


@BOTH
def test_depth_of_a_reply(guarded: bool, open_guest: Open, monkeypatch: Patch) -> None:
    if not guarded:
        monkeypatch.setattr(replies, "_depth", lambda reply: 0)
    nested = '["ask",false,[["move_to",{"x":' + '{"a":' * 100 + "1" + "}" * 100 + "},1]]]"
    assert _kind(open_guest(_says(nested)).start("a", {})) == ("reply" if guarded else "type")


@BOTH
def test_pythons_own_limit_is_caught(guarded: bool, open_guest: Open, monkeypatch: Patch) -> None:
    """Behind the limit on depth: what a decoder raises never reaches the trainer."""
    monkeypatch.setattr(replies, "_depth", lambda reply: 0)
    guest = open_guest(_says("[" * 4000))
    if guarded:
        assert _kind(guest.start("a", {})) == "reply"
        return
    monkeypatch.setattr(replies, "RecursionError", type("Never", (Exception,), {}), raising=False)
    with pytest.raises(RecursionError):
        guest.start("a", {})


@pytest.mark.parametrize(
    ("decoder", "range_check", "ends"),
    [(True, True, "reply"), (False, True, "type"), (True, False, "reply"), (False, False, "Ask")],
)
def test_not_a_number(decoder: bool, range_check: bool, ends: str, open_guest: Open, monkeypatch: Patch) -> None:
    """Two guards, one behind the other."""
    if not decoder:
        monkeypatch.setattr(replies, "_DECODER", json.JSONDecoder())
    if not range_check:
        lax = SimpleNamespace(isfinite=lambda _: True, floor=math.floor, ceil=math.ceil, inf=math.inf)
        monkeypatch.setattr(checks, "math", lax)
    turn = open_guest(_says('["ask",false,[["move_to",{"x":NaN},1]]]')).start("a", {})
    assert _kind(turn) == ends
    if isinstance(turn, Ask):
        assert math.isnan(float(turn.requests[0].args["x"]))


@BOTH
def test_names_and_ranges_of_the_library(guarded: bool, open_guest: Open, monkeypatch: Patch) -> None:
    if not guarded:
        monkeypatch.setattr(Checker, "request", lambda self, name, args, line: checks.Request(name, dict(args)))
    unknown = open_guest(_says('["ask",false,[["win",{"now":1},1]]]')).start("a", {})
    assert _kind(unknown) == ("primitive" if guarded else "Ask")
    far = open_guest("def run():\n    yield move_to(x=1e9)").start("a", {})
    assert isinstance(far, Ask)
    assert far.requests[0].args["x"] == (1.5 if guarded else 1e9)


@BOTH
def test_control_characters(guarded: bool, open_guest: Open, monkeypatch: Patch) -> None:
    if not guarded:
        monkeypatch.setattr(checks, "printable", lambda text: text)
    turn = open_guest("def run():\n    raise ValueError('\\x1b]0;owned\\x07')\n    yield").start("a", {})
    assert isinstance(turn, Verdict)
    assert ("\x1b" in turn.message) is not guarded


@BOTH
def test_a_trap_costs_the_instance(guarded: bool, open_guest: Open, monkeypatch: Patch) -> None:
    """Else what the trap left half done would stop the next action, which did nothing wrong."""
    if not guarded:
        monkeypatch.setattr(Guest, "_drop", lambda self: setattr(self, "_running", None))
    guest = open_guest("def run():\n    while True: pass\n    yield", "def run():\n    yield grasp()")
    assert _kind(guest.start("a", {})) == "fuel"
    assert _kind(guest.start("b", {})) == ("Ask" if guarded else "load")


@BOTH
@pytest.mark.parametrize(
    ("kind", "hostile", "honest"),
    [
        ("memory", "kept = []\ndef run():\n    while True: kept.append(bytes(10**6))\n    yield", "x = bytes(10**7)"),
        ("reply", _says("nonsense"), "pass"),
    ],
)
def test_what_a_reply_gave_away_costs_the_instance(
    guarded: bool, kind: VerdictKind, hostile: str, honest: str, open_guest: Open, monkeypatch: Patch
) -> None:
    """Else the next action, which did nothing wrong, finds no memory left, or its messages replaced."""
    if not guarded:
        monkeypatch.setattr(host, "_FATAL", host._FATAL - {kind})
    guest = open_guest(hostile, f"def run():\n    {honest}\n    yield grasp()")
    assert _kind(guest.start("a", {})) == kind
    assert _kind(guest.start("b", {})) == ("Ask" if guarded else kind)


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
def test_faults_are_checked_for_not_caught(guarded: bool) -> None:
    """Handlers belong to the whole process: beside other libraries' a guest's fault once ended it."""
    command = [sys.executable, "-c", HANDLERS, "guarded" if guarded else "bare"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    added = json.loads(done.stdout)
    assert added == [] if guarded else signal.SIGSEGV in added


# -- what outlasts a call ---------------------------------------------------------------------------------------------


@BOTH
def test_an_instance_for_each_episode(guarded: bool, monkeypatch: Patch) -> None:
    if not guarded:
        monkeypatch.setattr(ExtendedEnv, "_close_guest", lambda self: None)
    tampering = "def run():\n    math.pi = 3\n    random.random = lambda: 0.0\n    yield use()"
    told = []
    for source in (BENIGN, tampering):
        stage = Stage(source, Sandbox())
        stage.attack()
        told.append(stage.honest_episode())
    assert (told[0] == told[1]) is guarded


@BOTH
def test_quarantine(guarded: bool, monkeypatch: Patch) -> None:
    if not guarded:
        monkeypatch.setattr(tally, "QUARANTINE_AFTER", 10**9)
    stage, counts, endings = Stage("def run():\n    yield 5", Sandbox()), Tally(TallyState()), []
    for _ in range(5):
        endings.append(stage.attack()[-1].ended)
        counts.add_verdicts(stage.verdicts)
        counts.close_segment()
        stage.env.quarantine(counts.quarantined)
    assert endings == ["violation"] * 3 + ["masked" if guarded else "violation"] * 2


# -- files and pages --------------------------------------------------------------------------------------------------


def _sneaky(name: str) -> Bundle:
    """What would be written if names were not checked."""
    action = CodedAction.model_construct(name=name, doc="", source="stolen = 1", parameters=(), max_steps=1)
    return Bundle.model_construct(schema_version=1, actions=(action,), setup=None, plan=None, tested_on=None)


@pytest.mark.parametrize("name", ["../../escaped", "/tmp/escaped", "a/b", "A", "a\n", "a.py", "", "a" * 41, "\u202ea"])
def test_names_are_checked_before_they_name_a_file(name: str) -> None:
    with pytest.raises(ValidationError, match="name"):
        CodedAction.model_validate({"name": name, "doc": "", "source": ""})
    with pytest.raises(ValidationError, match="name"):
        SubAction.model_validate({"name": name, "description": "", "kind": "code", "reason": ""})


def test_names_that_were_not_checked_would_leave_the_folder(tmp_path: Path) -> None:
    save_bundle(_sneaky("../../escaped"), tmp_path / "inner" / "b")
    assert (tmp_path / "inner" / "escaped.py").read_text() == "stolen = 1"
    run = Run.create(tmp_path / "run", task="grid/key", seed=0, config={})
    run.once("iterations/0/actions/../../../../escaped/0", int, lambda: 1)
    assert (tmp_path / "escaped" / "0.json").is_file()


class _Lax:
    """A bundle that believes its manifest."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.actions = [SimpleNamespace(**a) for a in content["actions"]]

    model_validate = classmethod(lambda cls, content: cls(content))


@BOTH
@pytest.mark.parametrize("attack", ["name", "link", "linked folder", "size", "manifest size", "number"])
def test_a_strangers_bundle(guarded: bool, attack: str, tmp_path: Path, monkeypatch: Patch) -> None:
    """What the loader checks, each alone: without it a secret is read, or as much as the stranger likes."""
    (tmp_path / "go.py").write_text("secret")
    action = CodedAction(name="go", doc="", source="def run():\n    yield\n")
    folder = save_bundle(Bundle(actions=(action,)), tmp_path / "bundle")
    manifest, source = folder / "bundle.json", folder / "actions" / "go.py"
    wanted = "secret"
    if attack == "name":
        content = json.loads(manifest.read_text())
        manifest.write_text(json.dumps({**content, "actions": [{**content["actions"][0], "name": "../../go"}]}))
        bare: tuple[Any, str, Any] = (bundle, "Bundle", _Lax)
    elif attack == "link":
        source.unlink()
        source.symlink_to(tmp_path / "go.py")
        bare = (Path, "is_symlink", lambda path: False)
    elif attack == "linked folder":
        source.unlink()
        source.parent.rmdir()
        source.parent.symlink_to(tmp_path)
        bare = (Path, "is_symlink", lambda path: False)
    elif attack == "size":
        source.write_text(wanted := "#" * 10**6)
        bare = (bundle, "_SOURCE_LIMIT", 10**9)
    elif attack == "number":
        wanted = action.source
        names = ["go", *(f"go_{i}" for i in range(300))]
        for name in names[1:]:
            (folder / "actions" / f"{name}.py").write_text("#")
        content = json.loads(manifest.read_text())
        manifest.write_text(json.dumps({**content, "actions": [{**content["actions"][0], "name": n} for n in names]}))
        bare = (bundle, "_ACTIONS_LIMIT", 10**9)
    else:
        wanted = action.source
        manifest.write_text(manifest.read_text() + " " * (2 << 20))
        bare = (bundle, "_MANIFEST_LIMIT", 10**9)
    if guarded:
        with pytest.raises(BundleError):
            load_bundle(folder)
    else:
        monkeypatch.setattr(*bare)
        assert load_bundle(folder).actions[0].source == wanted


class _RunsCode:
    """Pickled, it is a call that makes a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.folder),)


@BOTH
def test_weights_are_read_without_code(guarded: bool, tmp_path: Path, monkeypatch: Patch) -> None:
    made = tmp_path / "made"
    torch.save({"state": _RunsCode(made)}, tmp_path / FILE)
    if not guarded:
        load = torch.load
        monkeypatch.setattr(torch, "load", lambda *args, **more: load(*args, **{**more, "weights_only": False}))
    with pytest.raises(TrainerError):
        Checkpoint.load(tmp_path)
    assert made.exists() is not guarded


@BOTH
def test_a_compiled_guest_is_what_its_name_says(
    guarded: bool, tmp_path: Path, monkeypatch: Patch, caplog: pytest.LogCaptureFixture
) -> None:
    """Machine code whose bytes changed on disk runs without any sandbox: wasmtime does not look."""
    engine, program = wasmtime.Engine(wasmtime.Config()), tmp_path / "empty.wasm"
    program.write_bytes(b"\0asm\x0d\0\x01\0")
    cache.compiled(engine, program, "settings", tmp_path)
    (kept,) = tmp_path.glob("*.cwasm")
    with kept.open("ab") as file:
        file.write(b"\0")
    if not guarded:
        digest = cache._digest
        named = kept.stem.partition("-")[2]
        monkeypatch.setattr(cache, "_digest", lambda path: named if path.suffix == ".cwasm" else digest(path))
    changed = kept.read_bytes()
    caplog.clear()
    cache.compiled(engine, program, "settings", tmp_path)
    assert ("is damaged" in caplog.text) is guarded
    assert (kept.read_bytes() == changed) is not guarded


@BOTH
def test_escaping(guarded: bool, monkeypatch: Patch) -> None:
    script = "<script>alert(1)</script>"
    if not guarded:
        lax = html._environment().overlay(autoescape=False, cache_size=0)
        monkeypatch.setattr(html, "_environment", lambda: lax)
    page = html.render(Page(title=script, note=script, comparisons=(), stories=()))
    assert (script in page) is not guarded
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page, "the second guard stands by itself"
