"""Bundles to share: archives, model cards, and the hub's API, answered by a local stand-in."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from rlgpt.cli import main
from rlgpt.domain import ActionPlan, Bundle, CodedAction, CodedPredicate, Parameter, Provenance, SubAction
from rlgpt.errors import BundleError
from rlgpt.options import load_bundle, save_bundle
from rlgpt.options.card import card
from rlgpt.options.sharing import pack, pull, read_bundle

HOSTILE = (
    "<script>alert(1)</script> [x](javascript:alert(1)) `code` | cell\n# head\u202e ---\n![i](http://evil.example)"
)


def bundle(text: str = "Walks to the key.") -> Bundle:
    reach = Parameter(name="reach", low=0, high=1, default=0.5, unit="m")
    step = SubAction(name="walk", description=text, kind="code", reason=text)
    return Bundle(
        actions=(
            CodedAction(
                name="walk", doc=text, source="def run(reach=0.5):\n    yield observe()\n", parameters=(reach,)
            ),
        ),
        functions=(CodedPredicate(name="there", doc=text, source="def done(view, memory):\n    return True\n"),),
        plan=ActionPlan(sub_actions=(step,)),
        tested_on=Provenance(
            task="grid/key",
            versions={"rlgpt": "0.1.0"},
            success_rate=0.9,
            episodes=50,
            primitive_steps=12_345,
            model=text,
        ),
    )


@pytest.fixture
def hub() -> Iterator[Any]:
    pytest.importorskip("huggingface_hub", reason="the extra rlgpt[hub] is not installed")
    spec = importlib.util.spec_from_file_location("stand_in_hub", Path(__file__).parent / "hub.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    hub = module.Hub()
    yield hub
    hub.close()


def test_archive_of_a_bundle_contains_the_bundle_and_a_model_card(tmp_path: Path) -> None:
    folder = save_bundle(bundle(), tmp_path / "bundle")
    (folder / "private.txt").write_text("not a file of the bundle")
    found = read_bundle(folder)
    packed = pack(found, tmp_path / "a.zip")
    assert packed.read_bytes() == pack(found, tmp_path / "b.zip").read_bytes()
    with zipfile.ZipFile(packed) as archive:
        assert sorted(archive.namelist()) == ["README.md", "actions/walk.py", "bundle.json", "functions/there.py"]
        assert "| success | 0.90 in 50 fresh episodes |" in archive.read("README.md").decode()
    assert read_bundle(packed) == bundle()


@pytest.mark.parametrize(
    "name", ["../evil.py", "/etc/evil.py", "actions/../../evil.py", "evil.pkl", "actions/Evil.py", "actions\\evil.py"]
)
def test_archive_with_other_files_is_refused(tmp_path: Path, name: str) -> None:
    path = pack(bundle(), tmp_path / "a.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(name, "import os")
    with pytest.raises(BundleError, match="no file of a bundle"):
        read_bundle(path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.zip"]


def test_archive_above_the_size_limit_after_unpacking_is_refused(tmp_path: Path) -> None:
    path = pack(bundle(), tmp_path / "a.zip")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("actions/big.py", b"\0" * (33 << 20))
    with pytest.raises(BundleError, match="at most"):
        read_bundle(path)
    (tmp_path / "b.zip").write_bytes(b"PK\x03\x04 not an archive")
    with pytest.raises(BundleError, match="not an archive"):
        read_bundle(tmp_path / "b.zip")


def test_damaged_archive_is_read_or_refused(tmp_path: Path) -> None:
    content = pack(bundle(), tmp_path / "a.zip").read_bytes()
    for place in range(0, len(content), 2):
        damaged = bytearray(content)
        damaged[place] ^= 0xFF
        (tmp_path / "b.zip").write_bytes(damaged)
        with suppress(BundleError):
            read_bundle(tmp_path / "b.zip")


def test_model_card_escapes_markup_in_text_of_the_language_model() -> None:
    shown = card(bundle(HOSTILE))
    assert "<script" not in shown
    assert "](javascript" not in shown
    assert "\u202e" not in shown
    assert shown.count("\n# ") == 1, "no further title"
    assert all(line.count(" | ") == 2 for line in shown.splitlines() if line.startswith("| `walk`"))


def rlgpt(hub: Any, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """``rlgpt bundle`` in a separate process, because the hub's library reads its address when it is imported."""
    settings = {"HF_ENDPOINT": hub.address, "HF_TOKEN": "hf_of_nobody", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    command = [sys.executable, "-m", "rlgpt", "bundle", *map(str, arguments)]
    return subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True, check=False)


def test_pulled_bundle_equals_the_pushed_bundle(hub: Any, tmp_path: Path) -> None:
    folder = save_bundle(bundle(), tmp_path / "bundle")
    (folder / "private.txt").write_text("not a file of the bundle")
    done = rlgpt(hub, "push", folder, "someone/doors")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(hub.address)
    files = hub.repositories["someone/doors"]
    assert sorted(files) == ["README.md", "actions/walk.py", "bundle.json", "functions/there.py"]
    assert hub.private["someone/doors"] is True
    for name in ("evil.py", "actions/Large.py", "actions/deep/evil.py"):
        files[name] = b"import os"
    done = rlgpt(hub, "pull", "someone/doors", tmp_path / "here")
    assert done.returncode == 0, done.stderr
    assert sorted(hub.downloads) == ["actions/walk.py", "bundle.json", "functions/there.py"]
    assert load_bundle(tmp_path / "here") == bundle()
    assert sorted(p.name for p in (tmp_path / "here").iterdir()) == ["README.md", "actions", "bundle.json", "functions"]
    with pytest.raises(BundleError, match="exists already"):
        pull("someone/doors", tmp_path / "here")


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ({"model.bin": b"x"}, "holds no bundle.json"),
        ({"bundle.json": b'{"schema_version": 3, "actions": [{"name": "../x"}]}'}, "valid bundle"),
        ({"bundle.json": b"0" * (33 << 20)}, "at most"),
        (None, "the hub refuses someone/other"),
    ],
    ids=["no bundle", "wrong name", "too large", "missing"],
)
def test_repository_without_a_valid_bundle_is_refused(hub: Any, tmp_path: Path, files: Any, fault: str) -> None:
    if files is not None:
        hub.repositories["someone/other"] = files
    done = rlgpt(hub, "pull", "someone/other", tmp_path / "here")
    assert done.returncode == 2
    assert fault in done.stderr
    assert not (tmp_path / "here").exists()


def test_invalid_name_of_a_hub_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="USER/NAME"):
        pull("nobody", tmp_path / "here")


def test_commands_bundle_show_check_and_pack_accept_a_bundle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = save_bundle(bundle(), tmp_path / "bundle")
    assert main(["bundle", "show", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "grid/key: success 0.90 in 50 episodes" in out
    assert "walk(reach 0..1)  2 lines: Walks to the key." in out
    assert main(["bundle", "pack", str(folder), str(tmp_path / "a.zip")]) == 0
    assert main(["bundle", "check", str(tmp_path / "a.zip")]) == 0
    assert "a valid bundle: 1 actions, 1 functions" in capsys.readouterr().out
    (folder / "actions" / "walk.py").unlink()
    assert main(["bundle", "check", str(folder)]) == 2
    assert "is missing" in capsys.readouterr().err
