"""Guards on what is read from files and put on pages: each with it, and with it alone taken away.

Workers' environments are in ``tests/rl/test_secrets.py``.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import wasmtime
from hostile_guards import BOTH, Patch
from pydantic import ValidationError
from rlgpt.domain import Bundle, CodedAction, SubAction
from rlgpt.errors import BundleError, RunError, TrainerError
from rlgpt.files import door
from rlgpt.options import bundle, load_bundle, save_bundle
from rlgpt.report import html
from rlgpt.report.values import Page
from rlgpt.rl.checkpoint import FILE, Checkpoint
from rlgpt.runs import Run
from rlgpt.sandbox import cache


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


def test_a_name_that_was_not_checked_does_not_leave_the_folder(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="not the name of a file"):
        save_bundle(_sneaky("../../escaped"), tmp_path / "inner" / "b")
    run = Run.create(tmp_path / "run", task="grid/key", seed=0, config={})
    with pytest.raises(RunError, match="not the name of a file"):
        run.once("iterations/0/actions/../../../../escaped/0", int, lambda: 1)
    assert not list(tmp_path.rglob("escaped*"))


class _Lax:
    """A bundle that believes its manifest."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.actions = [SimpleNamespace(**a) for a in content["actions"]]

    model_validate = classmethod(lambda cls, content: cls(content))


@BOTH
@pytest.mark.parametrize("attack", ["name", "link", "linked folder", "size", "manifest size", "number"])
def test_a_strangers_bundle(guarded: bool, attack: str, tmp_path: Path, monkeypatch: Patch) -> None:
    """Without a check of the loader a secret is read, or any amount of data. A name is checked twice."""
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
        bare = (door, "PLAIN", 0)
    elif attack == "linked folder":
        source.unlink()
        source.parent.rmdir()
        source.parent.symlink_to(tmp_path)
        bare = (door, "PLAIN", 0)
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
    if not guarded:
        monkeypatch.setattr(*bare)
        monkeypatch.setattr(door, "check_file", lambda status, single=False: None)
    if guarded or attack == "name":
        with pytest.raises(BundleError):
            load_bundle(folder)
    else:
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
def test_a_compiled_guest_is_what_its_namesays(
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
