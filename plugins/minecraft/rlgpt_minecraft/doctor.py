"""Checks for ``rlgpt doctor`` whether this machine can run the Minecraft tasks.

The embedded world needs a folder in which numba can store compiled code. All checks except the check of numba are for
``backend=minedojo``, which needs either the game (Java 8, a display) or a running Malmo server.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import tempfile
from importlib import metadata
from pathlib import Path

import voxeldojo
from rlgpt.plugin.types import Check

from rlgpt_minecraft.interpreter import HINT, minedojo_python

VERSION = "0.1"
"""Version of the package minedojo that has the same spaces as this plugin."""
MALMO_PORT = "RLGPT_MALMO_PORT"
DEFAULT_PORT = 9000
"""Malmo's default port."""
SECONDS = 20.0


def checks() -> list[Check]:
    """Return all checks of this module, the most important first."""
    return [numba(), minedojo(), java(), display(), server()]


def numba() -> Check:
    """Check that the compiler numba can store compiled code in ``NUMBA_CACHE_DIR``, beside the modules, or in the
    user's cache.
    """
    version = metadata.version("numba")
    value = os.environ.get("NUMBA_CACHE_DIR")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    places = [Path(value)] if value else [Path(voxeldojo.__file__).parent / "world" / "__pycache__", home / "numba"]
    found = next((place for place in places if _writable(place)), None)
    if found is None:
        advice = (
            "Name a folder that can be written to, NUMBA_CACHE_DIR: else every start compiles again (25 CPU-seconds)."
        )
        return Check("numba cache", False, f"numba {version}, cannot write to {', '.join(map(str, places))}", advice)
    return Check("numba cache", True, f"numba {version}, {found}")


def minedojo() -> Check:
    """Check that MineDojo's interpreter has the package ``minedojo``."""
    name, python = "minedojo package", minedojo_python()
    if python is None:
        return Check(name, False, "no interpreter that has it", f"For backend=minedojo: {HINT}.")
    ask = "import importlib.metadata as m; print(m.version('minedojo'))"
    status, output = _run([str(python), "-c", ask])
    if status != 0:
        return Check(name, False, f"{python} has no minedojo", f"{HINT[0].upper()}{HINT[1:]}.")
    return Check(name, output == VERSION, f"{output}, {python}", f"Version {VERSION} is needed: make minedojo")


def java() -> Check:
    """Check for Java 8, the only version that runs Minecraft 1.11.2 with Forge."""
    advice = (
        "For the game itself: install a JDK 8 (Debian: openjdk-8-jdk; else adoptium.net) and set JAVA_HOME. "
        "A Malmo server that runs already needs none here."
    )
    home = os.environ.get("JAVA_HOME")
    program = shutil.which(str(Path(home) / "bin" / "java") if home else "java")
    if program is None:
        return Check("Java 8", False, f"no java in JAVA_HOME={home}" if home else "no java in PATH", advice)
    status, output = _run([program, "-version"])
    found = re.search(r'version "([^"]+)"', output)
    version = found[1] if status == 0 and found else "of unknown version"
    return Check("Java 8", version.startswith("1.8."), f"{version}, {program}", advice)


def display() -> Check:
    """Check for a real or virtual display, which the game needs."""
    shown, virtual = os.environ.get("DISPLAY"), shutil.which("xvfb-run")
    if shown:
        return Check("display", True, f"DISPLAY={shown}")
    advice = "For the game itself: set DISPLAY, or install Xvfb (Debian: apt install xvfb)."
    return Check("display", virtual is not None, f"virtual, {virtual}" if virtual else "none, nor xvfb-run", advice)


def server() -> Check:
    """Check for a running Malmo server. If a Malmo server is running, the plugin needs neither Java nor a display."""
    value = os.environ.get(MALMO_PORT, str(DEFAULT_PORT))
    hint = f"{MALMO_PORT} tells this check where (now {value})."
    advice = f"Optional: task_settings.port=PORT plays on a running server; {hint}"
    if not value.isdecimal() or not 0 < int(value) < 65_536:
        return Check("Malmo server", False, f"{MALMO_PORT}={value} is no port", advice)
    try:
        socket.create_connection(("localhost", int(value)), timeout=2.0).close()
    except OSError as fault:
        return Check("Malmo server", False, f"none on port {value}: {fault.strerror or fault}", advice)
    return Check("Malmo server", True, f"something listens on port {value}")


def _writable(place: Path) -> bool:
    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            return True
    except OSError:
        return False


def _run(command: list[str]) -> tuple[int, str]:
    """Run a command. Return the command's exit status, and its output of both streams."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as fault:
        return 1, str(fault)
    return done.returncode, f"{done.stdout}{done.stderr}".strip()
