"""The corpus: hostile programs as data, a file of them for each kind, each with the verdict it must end in.

``verdict``   a kind of :class:`rlgpt.domain.Verdict`, or ``returned``: nothing is there to object to, nothing was done
``says``      part of the verdict's message
``source``    the program; ``@NAME@`` stands for something of the host that it is to attack (:class:`Targets`)
``generate``  instead of a source: ``[head, opening, middle, closing, n]``, openings and closings repeated n times
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "programs"

APP = "__builtins__['__import__'].__globals__['sys'].modules['app'].__dict__"
SYS = "__builtins__['__import__'].__globals__['sys']"
BENIGN = "\ndef run():\n    yield use()\n"


@dataclass(frozen=True)
class Targets:
    """What can be attacked: a file with a secret, a file that must not appear, a port, a variable, a process."""

    canary: Path
    new: Path
    port: int
    key: str
    pid: int

    def aim(self, source: str) -> str:
        """``source`` with its ``@NAME@`` filled in; the guest's own program is within reach of all."""
        marks = {
            "CANARY": self.canary,
            "NEW": self.new,
            "PORT": self.port,
            "KEY": self.key,
            "PID": self.pid,
            "APP": APP,
            "SYS": SYS,
        }
        for mark, value in marks.items():
            source = source.replace(f"@{mark}@", str(value))
        return source


@dataclass(frozen=True)
class Program:
    """One hostile program, and how it must end."""

    name: str
    source: str
    verdict: str
    says: str = ""


def programs() -> list[Program]:
    """All of them, named ``kind/name``."""
    found = []
    for path in sorted(FOLDER.glob("*.toml")):
        for name, entry in tomllib.loads(path.read_text()).items():
            source = entry.get("source") or _generated(*entry["generate"])
            found.append(Program(f"{path.stem}/{name}", source, entry["verdict"], entry.get("says", "")))
    return found


def _generated(head: str, opening: str, middle: str, closing: str, n: int) -> str:
    return head + opening * n + middle + closing * n + BENIGN
