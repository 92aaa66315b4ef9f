"""What stands around a coded action: no streams, no entropy, no files, and a word on what to use instead.

None of it is a boundary: a program that gets past it finds WASI stubs that trap.
"""

import builtins
import random
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Never

import modules  # type: ignore[import-not-found]


class _Nowhere:
    """Standard output and error: writing to the stubbed WASI streams would trap."""

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        return None


sys.stdout = sys.stderr = _Nowhere()
sys.unraisablehook = lambda _: None
warnings.simplefilter("ignore")


_random_seed = random.Random.seed


def _seed(self: random.Random, a: Any = None, version: int = 2) -> None:
    """``random.Random.seed``, where no seed means one drawn from the seeded ``random``: there is no entropy here."""
    _random_seed(self, random.getrandbits(64) if a is None else a, version)


random.Random.seed = _seed  # type: ignore[method-assign]
random.seed = random._inst.seed


def _import(name: str, globals: Any = None, locals: Any = None, fromlist: Sequence[str] = (), level: int = 0) -> Any:
    if level or (name.partition(".")[0] not in modules.IMPORTABLE):
        raise ImportError(modules.refusal("." * level + name))
    return __import__(name, globals, locals, fromlist, 0)


def _refused(name: str, instead: str) -> Callable[..., Never]:
    def call(*_: object, **__: object) -> Never:
        raise RuntimeError(f"there is no {name}() here: {instead}")

    return call


BUILTINS = {
    **vars(builtins),
    "__import__": _import,
    "print": lambda *_, **__: None,
    "open": _refused("open", "no file system; keep state in variables"),
    "input": _refused("input", "nobody answers; ask with `view = yield observe()`"),
}


def audit(event: str, _: object) -> None:
    """Opening a file would trap (the interpreter itself tries, to quote the line of a syntax error): make it fail."""
    if event == "open":
        raise RuntimeError("there is no file system")
