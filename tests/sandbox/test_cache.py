"""The cache of the compiled guest: the guest is compiled once, files that are damaged or of other users are not used,
and the cache is optional.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import wasmtime
from filelock import FileLock
from rlgpt.sandbox import cache


@pytest.fixture
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty module, which compiles very fast."""
    path = tmp_path_factory.mktemp("guest") / "empty.wasm"
    path.write_bytes(b"\0asm\1\0\0\0")
    return path


def _engine() -> wasmtime.Engine:
    return wasmtime.Engine(wasmtime.Config())


PROGRAM = """
import logging, pathlib, sys, wasmtime
from rlgpt.sandbox import cache
logging.basicConfig(stream=sys.stdout, format="%(message)s")
print("ready", flush=True)
cache.compiled(wasmtime.Engine(wasmtime.Config()), pathlib.Path(sys.argv[2]), "settings", pathlib.Path(sys.argv[1]))
"""


def test_guest_is_compiled_once_for_each_setting(
    module: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    engine = _engine()
    for _ in range(3):
        cache.compiled(engine, module, "settings", tmp_path)
    assert [r.message.split()[0] for r in caplog.records] == ["compiling"]
    assert len(list(tmp_path.glob("*.cwasm"))) == 1
    cache.compiled(engine, module, "other settings", tmp_path)
    assert len(list(tmp_path.glob("*.cwasm"))) == 2


def test_concurrent_processes_compile_the_guest_once(module: Path, tmp_path: Path) -> None:
    cache.compiled(_engine(), module, "settings", tmp_path)
    (found,) = tmp_path.glob("*.cwasm")
    found.unlink()
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), str(module)]
    with FileLock(tmp_path / f"{found.name.partition('-')[0]}.lock"):
        children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        for child in children:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
    said = [child.communicate(timeout=60)[0] for child in children]
    assert [child.returncode for child in children] == [0, 0]
    assert sum("compiling" in s for s in said) == 1
    assert len(list(tmp_path.glob("*.cwasm"))) == 1


@pytest.mark.parametrize("damage", ["flip", "truncate", "empty"])
def test_damaged_file_in_the_guest_cache_is_replaced(
    module: Path, tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    engine = _engine()
    cache.compiled(engine, module, "settings", tmp_path)
    (file,) = tmp_path.glob("*.cwasm")
    code = file.read_bytes()
    middle = len(code) // 2
    file.write_bytes(
        {"flip": code[:middle] + bytes([code[middle] ^ 1]) + code[middle + 1 :], "truncate": code[:middle]}.get(
            damage, b""
        )
    )
    caplog.clear()
    cache.compiled(engine, module, "settings", tmp_path)
    assert "is damaged" in caplog.records[0].message
    (file,) = tmp_path.glob("*.cwasm")
    assert len(file.read_bytes()) == len(code)
    assert [p for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_file_in_the_guest_cache_that_wasmtime_refuses_is_replaced(
    module: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The file is complete and from another engine (compiled with fuel), with the name of this engine's file."""
    fuelled = wasmtime.Config()
    fuelled.consume_fuel = True
    cache.compiled(_engine(), module, "settings", tmp_path)
    (file,) = tmp_path.glob("*.cwasm")
    file.unlink()
    key = file.name.partition("-")[0]
    other = bytes(wasmtime.Module.from_file(wasmtime.Engine(fuelled), module).serialize())
    (tmp_path / f"{key}-{hashlib.sha256(other).hexdigest()[:32]}.cwasm").write_bytes(other)
    cache.compiled(_engine(), module, "settings", tmp_path)
    assert "wasmtime refuses the compiled guest" in caplog.text
    assert "damaged" not in caplog.text
    assert len(list(tmp_path.glob("*.cwasm"))) == 1


def test_guest_cache_keeps_the_most_recently_used_files(module: Path, tmp_path: Path) -> None:
    """Compiled guests of other versions stay while they are used. An old incomplete file is removed."""
    engine = _engine()
    names: dict[str, Path] = {}

    def use(settings: str, at: int) -> None:
        cache.compiled(engine, module, settings, tmp_path)
        names.setdefault(settings, next(iter(set(tmp_path.glob("*.cwasm")) - set(names.values())), tmp_path))
        assert names[settings].stat().st_mtime > 10**6, "the file has the time of this use"
        os.utime(names[settings], (at, at))

    for at in range(cache.KEPT):
        use(str(at), at + 1)
    old, young = tmp_path / ".key-left", tmp_path / ".key-being-written"
    for path in (old, young):
        path.write_text("half")
    os.utime(old, (0, 0))
    use("0", 100)
    use("new", 101)
    assert set(tmp_path.glob("*.cwasm")) == {names[s] for s in ("0", "2", "3", "new")}
    assert not old.exists()
    assert young.exists()


def test_guest_compiles_without_a_cache_folder(module: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    cache.compiled(_engine(), module, "settings", tmp_path / "file" / "below")
    assert "compiling without it" in caplog.text


@pytest.mark.slow
def test_two_processes_use_one_compilation_of_the_real_guest(tmp_path: Path) -> None:
    program = """
from rlgpt.domain import CodedAction
from rlgpt.sandbox import Library, Sandbox, Signature
action = CodedAction(name="a", doc="", source="def run():\\n    yield act()")
library = Library(primitives=(Signature(name="act"),))
print(type(Sandbox().open(library, [action], seed=0).start("a")).__name__)
"""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-c", program]
    children = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [child.communicate()[0].strip() for child in children] == ["Ask", "Ask"]
    if sys.platform.startswith("linux"):
        assert len(list(tmp_path.rglob("*.cwasm"))) == 1


POSIX = pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs users")


@POSIX
@pytest.mark.parametrize(("mode", "used"), [(0o755, True), (0o775, False), (0o757, False)])
def test_cache_folder_that_others_may_write_is_not_used(
    module: Path, tmp_path: Path, mode: int, used: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Files in the cache run as machine code in this process. So a user with write access could run any code."""
    where = tmp_path / "cache"
    where.mkdir()
    where.chmod(mode)
    cache.compiled(_engine(), module, "settings", where)
    assert bool(list(where.glob("*.cwasm"))) is used
    assert ("can be written by other users" in caplog.text) is not used
    assert "chmod" not in caplog.text, "after chmod, earlier files of other users would be loaded"


def _writable(file: Path) -> None:
    file.chmod(0o666)


def _foreign(file: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root gives files away")
    os.chown(file, 65534, 65534)


def _link(file: Path) -> None:
    file.rename(file.with_name("elsewhere"))
    file.symlink_to(file.with_name("elsewhere"))


def _pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


@POSIX
@pytest.mark.parametrize(
    ("plant", "says"),
    [
        (_writable, "can be written by other users, who may have changed its code: remove it"),
        (_foreign, "belongs to another user: remove it"),
        (_link, "is not a regular file: remove it"),
        (_pipe, "is not a regular file: remove it"),
    ],
)
@pytest.mark.parametrize("planted", ["*.cwasm", "*.lock"])
def test_unsafe_file_in_a_cache_folder_of_the_right_mode_is_not_used(
    module: Path,
    tmp_path: Path,
    plant: Callable[[Path], None],
    says: str,
    planted: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """After a correction of the folder's mode, only the file itself shows that another user could have written it."""
    cache.compiled(_engine(), module, "settings", tmp_path)
    (file,) = tmp_path.glob(planted)
    if planted == "*.lock":
        next(tmp_path.glob("*.cwasm")).unlink()
    plant(file)
    caplog.clear()
    cache.compiled(_engine(), module, "settings", tmp_path)
    assert f"{file} {says}" in caplog.text
    assert "compiling" in caplog.text
    assert file.exists() or file.is_symlink(), "the user must remove the file"
