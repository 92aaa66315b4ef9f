"""Builds ``guest.wasm``, the WebAssembly program that runs coded actions. ``make guest`` calls ``python -m
rlgpt.sandbox.build``.

The build of the guest needs ``componentize-py``, a development dependency. (A released wheel contains the built guest.)
The file of the guest ends with a custom section that contains a hash of the sources. This hash shows whether a guest
was built from other sources.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import importlib.util
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from filelock import FileLock

from rlgpt.errors import SandboxError
from rlgpt.sandbox import stamps

log = logging.getLogger(__name__)

SOURCES = Path(__file__).parent / "guest"
GUEST = Path(__file__).parent / "guest.wasm"


def sources_hash() -> str:
    """SHA-256 over the guest's source files."""
    return stamps.sources_hash(SOURCES)


def current() -> dict[str, str]:
    """The :func:`~rlgpt.sandbox.stamps.stamp` that the guest has if it is built now."""
    return {"sources": sources_hash(), "componentize_py": importlib.metadata.version("componentize-py")}


def can_build() -> bool:
    """Whether ``componentize-py`` is installed."""
    return importlib.util.find_spec("componentize_py") is not None


def build(guest: Path, *, force: bool = False) -> bool:
    """Build the guest program ``guest`` from the sources, completely or not at all.

    :param force: whether to build the guest even if its file is up to date.
    :returns: False if the guest's file was up to date and was not built.
    :raises SandboxError: ``componentize-py`` is missing or failed.
    """
    if not can_build():
        raise SandboxError("componentize-py is not installed: run `make guest`, or install a released wheel of rlgpt")
    wanted = current()
    guest.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(Path(tempfile.gettempdir()) / f"rlgpt-guest-{_name(guest)}.lock"):
        if not force and stamps.stamp(guest) == wanted:
            return False
        from rlgpt.sandbox.snapshot import snapshot
        from rlgpt.sandbox.wasm_format import LinkError

        log.warning("building the sandbox's guest program (once, about a minute): %s", guest)
        with tempfile.TemporaryDirectory(dir=guest.parent, prefix=".guest-") as folder:
            built = _componentize(Path(folder))
            try:
                program = snapshot(built.read_bytes())
            except LinkError as error:
                raise SandboxError(f"the guest program cannot be linked: {error}") from error
            built.write_bytes(program + stamps.section(wanted))
            os.replace(built, guest)
    return True


def _componentize(folder: Path) -> Path:
    """Run componentize-py in ``folder``, on a copy of the guest's sources. The guest's sources can import no other
    package during the build.
    """
    app, wit, venv = folder / "app", folder / "wit", folder / "venv"
    for directory in (app, wit, venv / "lib" / "python3" / "site-packages"):
        directory.mkdir(parents=True)
    for name in stamps.FILES:
        shutil.copy(SOURCES / name, wit if name.endswith(".wit") else app)
    program = "import sys, componentize_py; sys.exit(componentize_py.script())"
    command = [sys.executable, "-c", program, "-d", str(wit), "-w", "sandboxed", "componentize", "--stub-wasi"]
    command += ["-p", str(app), "-o", str(folder / "guest.wasm"), "app"]
    done = subprocess.run(
        command,
        env={**os.environ, "VIRTUAL_ENV": str(venv)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0:
        raise SandboxError(f"componentize-py failed with status {done.returncode}:\n{done.stdout[-2000:]}")
    return folder / "guest.wasm"


def _name(path: Path) -> str:
    return hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]


def main() -> None:
    """Run the command line of this module."""
    parser = argparse.ArgumentParser(prog="python -m rlgpt.sandbox.build", description="Build the sandbox's guest.")
    parser.add_argument("--force", action="store_true", help="build the guest even if it is up to date")
    logging.basicConfig(format="%(message)s")
    built = build(GUEST, force=parser.parse_args().force)
    print(f"{GUEST}: {'built' if built else 'up to date'}, {GUEST.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
