"""Tries a few known attacks on the sandbox. ``rlgpt doctor`` uses this module to test that the sandbox works on this
machine.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rlgpt.domain import CodedAction, Verdict, VerdictKind
from rlgpt.sandbox.host import Sandbox
from rlgpt.sandbox.library import Library, Signature
from rlgpt.sandbox.turns import Ask, Turn

VARIABLE = "RLGPT_PROOF_SECRET"
SECRET = "proof-of-a-leak"

_SYS = "__builtins__['__import__'].__globals__['sys']"
_UNLOCK = f"    {_SYS}.modules['surroundings'].audit.__code__ = (lambda event, _: None).__code__\n"


@dataclass(frozen=True)
class Escape:
    """One attempt to break out of the sandbox.

    :ivar body: the body of the function ``run``. ``FILE`` and ``NEW`` in the code of an attack are replaced by paths.
    :ivar stopped_by: the kinds of verdict with which the sandbox may stop the attack.
    """

    name: str
    body: str
    stopped_by: tuple[VerdictKind, ...]


ESCAPES = (
    Escape("read a file", _UNLOCK + f"    raise ValueError({_SYS}.modules['io'].open(FILE).read())", ("error",)),
    Escape("write a file", _UNLOCK + f"    {_SYS}.modules['posix'].open(NEW, 65, 511)", ("error",)),
    Escape("read a key", f"    raise ValueError({_SYS}.modules['os'].environ['{VARIABLE}'])", ("error",)),
    Escape("start a process", f"    {_SYS}.modules['os'].system('touch ' + NEW)", ("error",)),
    Escape("end the process", f"    {_SYS}.modules['os']._exit(1)", ("error",)),
    Escape("loop for ever", "    while True: pass", ("fuel",)),
    Escape("loop for ever in C", "    10 ** 10 ** 8", ("fuel",)),
    Escape("eat memory", "    x = [bytes(10 ** 6) for _ in range(1000)]", ("memory",)),
    Escape(
        "forge a message",
        f"    {_SYS}.modules['app']._reply = lambda *_: '[\"ask\",false,[[\"win\",{{}},1]]]'",
        ("primitive",),
    ),
    Escape("flood the host", f"    {_SYS}.modules['app']._reply = lambda *_: ' ' * 10 ** 7", ("reply",)),
)


def prove(sandbox: Sandbox | None = None) -> list[str]:
    """Try every attack of this module.

    :param sandbox: the sandbox that the attacks try to break. If ``sandbox`` is None, a sandbox with the default limits
        is tested.
    :returns: a message for each attack that the sandbox did not stop; empty if all attacks were stopped.
    :raises SandboxError: the guest program is missing.
    """
    with _bait() as (file, new):
        return [fault for escape in ESCAPES for fault in _tried(escape, sandbox or Sandbox(), file, new)]


def _tried(escape: Escape, sandbox: Sandbox, file: Path, new: Path) -> Iterator[str]:
    source = f"FILE, NEW = {str(file)!r}, {str(new)!r}\ndef run():\n{escape.body}\n    yield act()\n"
    library = Library(primitives=(Signature(name="act"),))
    turn = _started(sandbox, library, source)
    if not isinstance(turn, Verdict) or turn.kind not in escape.stopped_by:
        found = turn.kind if isinstance(turn, Verdict) else type(turn).__name__
        yield f"{escape.name}: {found} is not an expected result of this attack"
    if isinstance(turn, Verdict) and SECRET in turn.message:
        yield f"{escape.name}: the attack read the secret"
    if new.exists():
        new.unlink()
        yield f"{escape.name}: the attack made a file"
    if not isinstance(_started(sandbox, library, "def run():\n    yield act()\n"), Ask):
        yield f"{escape.name}: the attack changed the next episode"


def _started(sandbox: Sandbox, library: Library, source: str) -> Turn:
    return sandbox.open(library, [CodedAction(name="proof", doc="", source=source)], seed=0).start("proof", {})


@contextmanager
def _bait() -> Iterator[tuple[Path, Path]]:
    """Make a file and an environment variable that contain a secret, for attacks that try to read the secret. The
    ``with`` block gets the path of the file with the secret, and a path at which no file may appear.
    """
    before = os.environ.get(VARIABLE)
    with tempfile.TemporaryDirectory(prefix="rlgpt-proof-") as folder:
        file = Path(folder) / "secret.txt"
        file.write_text(SECRET)
        os.environ[VARIABLE] = SECRET
        try:
            yield file, Path(folder) / "new.txt"
        finally:
            os.environ.pop(VARIABLE)
            if before is not None:
                os.environ[VARIABLE] = before
