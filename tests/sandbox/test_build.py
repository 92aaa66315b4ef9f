"""The build of the sandbox's guest program.

The build is skipped if the guest is up to date. A failed build leaves no incomplete guest. If a tool is missing, the
error names the tool.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rlgpt.errors import SandboxError
from rlgpt.sandbox import build, cache, stamps


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the guest's sources, and a path without a file for the built guest."""
    shutil.copytree(build.SOURCES, tmp_path / "guest", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(build, "SOURCES", tmp_path / "guest")
    monkeypatch.setattr(build, "GUEST", tmp_path / "guest.wasm")
    return tmp_path


def test_build_skips_an_up_to_date_guest(elsewhere: Path) -> None:
    guest = elsewhere / "guest.wasm"
    guest.write_bytes(b"\0asm" + stamps.section(build.current()))
    assert build.build(guest) is False
    assert guest.read_bytes()[:4] == b"\0asm"
    assert cache.guest() == guest


def test_stamp_of_a_guest_contains_the_hash_of_its_sources(elsewhere: Path) -> None:
    guest = elsewhere / "guest.wasm"
    assert stamps.stamp(guest) == {}
    guest.write_bytes(b"no WebAssembly at all")
    assert stamps.stamp(guest) == {}
    guest.write_bytes(b"x" * 1000 + stamps.section(build.current()))
    assert stamps.stamp(guest)["sources"] == build.sources_hash()
    (elsewhere / "guest" / "vec.py").write_text("")
    assert stamps.stamp(guest)["sources"] != build.sources_hash()


@pytest.mark.parametrize("there", [True, False])
def test_error_about_a_guest_that_cannot_be_built_gives_advice(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    monkeypatch.setattr(build, "can_build", lambda: False)
    if there:
        (elsewhere / "guest.wasm").write_bytes(b"old")
    with pytest.raises(SandboxError, match=("from other sources" if there else "is missing") + ".*make guest"):
        cache.guest()
    with pytest.raises(SandboxError, match="released wheel"):
        build.build(elsewhere / "guest.wasm")


def test_failed_build_keeps_the_old_guest(elsewhere: Path) -> None:
    guest = elsewhere / "guest.wasm"
    guest.write_bytes(b"old")
    (elsewhere / "guest" / "rlgpt.wit").write_text("world of nonsense {")
    with pytest.raises(SandboxError, match="componentize-py failed"):
        build.build(guest)
    assert guest.read_bytes() == b"old"
    assert sorted(p.name for p in elsewhere.iterdir()) == ["guest", "guest.wasm"]


@pytest.mark.slow
def test_concurrent_builds_compile_the_guest_once(tmp_path: Path) -> None:
    program = "import sys, pathlib, rlgpt.sandbox.build as b; print(b.build(pathlib.Path(sys.argv[1])))"
    command = [sys.executable, "-c", program, str(tmp_path / "guest.wasm")]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = sorted(child.communicate()[0].strip() for child in children)
    assert said == ["False", "True"]
    assert [p.name for p in tmp_path.iterdir()] == ["guest.wasm"]
    assert stamps.stamp(tmp_path / "guest.wasm") == build.current()
