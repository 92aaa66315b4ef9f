"""Replaces what the guest does not have (output streams, entropy, files) by functions with helpful messages. The
replacements are not the security boundary. Code that avoids the replacements reaches WASI stubs, which end the
WebAssembly instance.
"""

import builtins
import random
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Never

import modules  # type: ignore[import-not-found]


class _Nowhere:
    """Standard output and standard error, which ignore all text. Writing to the stubbed WASI streams would end the
    WebAssembly instance.
    """

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        return None


sys.stdout = sys.stderr = _Nowhere()
sys.unraisablehook = lambda _: None
warnings.simplefilter("ignore")


_random_seed = random.Random.seed


def _seed(self: random.Random, a: Any = None, version: int = 2) -> None:
    """``random.Random.seed``. If no seed is given, the seed is drawn from the module ``random``, because the guest has
    no source of entropy.
    """
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
    """Raise an error when a file is opened. Without this hook, opening a file would end the WebAssembly instance, even
    when the interpreter only tries to quote the line of a syntax error.
    """
    if event == "open":
        raise RuntimeError("there is no file system")


class _Open(str):
    """The name of the event that :func:`audit` refuses, as a key of a dict."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, event: object) -> bool:
        audit("open", None)
        return False


audit_hook = {_Open("open"): None}.get
"""Calls :func:`audit` for the event ``open`` alone. The interpreter calls its hook for every event, and the search of a
dict, which compares a key only if the hashes are equal, takes a third of the time of a function of Python.
"""
