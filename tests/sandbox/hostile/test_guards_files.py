"""Guards for files that are read and for pages that are written.

The environment variables of worker processes are tested in ``tests/rl/test_secrets.py``.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from pydantic import ValidationError
from rlgpt.domain import Bundle, CodedAction, SubAction
from rlgpt.errors import BundleError, RunError, TrainerError
from rlgpt.options import load_bundle, save_bundle
from rlgpt.report import html
from rlgpt.report.values import Page
from rlgpt.rl.checkpoint import FILE, Checkpoint
from rlgpt.runs import Run


def _sneaky(name: str) -> Bundle:
    """Return a bundle whose names were not checked."""
    action = CodedAction.model_construct(name=name, doc="", source="stolen = 1", parameters=(), max_steps=1)
    return Bundle.model_construct(schema_version=1, actions=(action,), setup=None, plan=None, tested_on=None)


@pytest.mark.parametrize("name", ["../../escaped", "/tmp/escaped", "a/b", "A", "a\n", "a.py", "", "a" * 41, "\u202ea"])
def test_action_names_that_are_unsafe_as_file_names_are_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="name"):
        CodedAction.model_validate({"name": name, "doc": "", "source": ""})
    with pytest.raises(ValidationError, match="name"):
        SubAction.model_validate({"name": name, "description": "", "kind": "code", "reason": ""})


def test_bundle_with_an_unchecked_name_writes_no_file_outside(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="not the name of a file"):
        save_bundle(_sneaky("../../escaped"), tmp_path / "inner" / "b")
    run = Run.create(tmp_path / "run", task="grid/key", seed=0, config={})
    with pytest.raises(RunError, match="not the name of a file"):
        run.once("iterations/0/actions/../../../../escaped/0", int, lambda: 1)
    assert not list(tmp_path.rglob("escaped*"))


@pytest.mark.parametrize("attack", ["name", "link", "linked folder", "size", "manifest size", "number"])
def test_load_bundle_refuses_a_manipulated_bundle(attack: str, tmp_path: Path) -> None:
    """Loading such a bundle would read a secret or any amount of data."""
    (tmp_path / "go.py").write_text("secret")
    action = CodedAction(name="go", doc="", source="def run():\n    yield\n")
    folder = save_bundle(Bundle(actions=(action,)), tmp_path / "bundle")
    manifest, source = folder / "bundle.json", folder / "actions" / "go.py"
    content = json.loads(manifest.read_text())
    (listed,) = content["actions"]
    assert load_bundle(folder).actions == (action,)
    if attack == "name":
        manifest.write_text(json.dumps({**content, "actions": [{**listed, "name": "../../go"}]}))
    elif attack == "link":
        source.unlink()
        source.symlink_to(tmp_path / "go.py")
    elif attack == "linked folder":
        source.unlink()
        source.parent.rmdir()
        source.parent.symlink_to(tmp_path)
    elif attack == "size":
        source.write_text("#" * 10**6)
    elif attack == "number":
        names = ["go", *(f"go_{i}" for i in range(300))]
        for name in names[1:]:
            (folder / "actions" / f"{name}.py").write_text("#")
        manifest.write_text(json.dumps({**content, "actions": [{**listed, "name": n} for n in names]}))
    else:
        manifest.write_text(manifest.read_text() + " " * (2 << 20))
    with pytest.raises(BundleError):
        load_bundle(folder)


class _RunsCode:
    """An object whose pickle is a call that makes a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.folder),)


def test_load_refuses_a_checkpoint_with_pickled_code_and_does_not_run_the_code(tmp_path: Path) -> None:
    made = tmp_path / "made"
    torch.save({"state": _RunsCode(made)}, tmp_path / FILE)
    with pytest.raises(TrainerError):
        Checkpoint.load(tmp_path)
    assert not made.exists()


def test_report_page_escapes_hostile_text() -> None:
    script = "<script>alert(1)</script>"
    page = html.render(Page(title=script, note=script, comparisons=(), stories=()))
    assert script not in page
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page
