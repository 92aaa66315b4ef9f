"""One way to compile: cached on disk, IEEE arithmetic, division as numpy does it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import event, types

from voxeldojo.world import pointers  # noqa: F401 - numba is told of it
from voxeldojo.world.compiling import Outermost, no_collecting, remembering
from voxeldojo.world.linking import Callee, Root
from voxeldojo.world.sources import stamp

F = TypeVar("F", bound=Callable[..., object])

OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True}


def digest(package: Path) -> str:
    """A digest of what kernels take in as constants: the tables and the modules that read them."""
    names = sorted(package.glob("data/*.csv")) + [
        package / "world" / f"{name}.py"
        for name in ("state", "blocks", "items", "mob_kinds", "constants", "shapes", "skins")
    ]
    return hashlib.sha256(b"".join(path.read_bytes() for path in names)).hexdigest()


TABLES = digest(Path(__file__).parents[1])
event.register("numba:compile", Outermost(no_collecting, remembering))  # type: ignore[no-untyped-call]


def jit(function: F) -> F:
    """``function``, compiled when Python first calls it, for each combination of types, and kept in numba's cache.

    No fast mathematics: the same seed and actions give the same world on every machine. Numba's cache looks at the time
    of the function's own file alone, but a kernel holds what it calls and the tables it reads: so the cache is told of
    all those files.
    Compiled functions call it as a ``part``.
    """
    return _entered(function, part(function))


def part(function: F) -> F:
    """``function`` for compiled functions alone to call: it becomes a part of them.

    Python must not call it: that ends the process. It makes no arrays: numba does not count who holds which. What is
    called often takes records and arrays: a world that is handed on is a hundred and more numbers to put down and read.
    """
    return _callee(function, _nrt=False)


def maker(function: F) -> F:
    """As ``jit``, for what makes arrays of its own."""
    return _entered(function, _callee(function, _nrt=True))


def is_cached(kernel: Any) -> bool:
    """Whether numba's cache has what a function of ``jit`` or ``maker`` was compiled to, and it is still good."""
    return bool(kernel._cache._cache_file._load_index())


def _entered(function: F, callee: Any) -> F:
    dispatcher: Any = numba.njit(cache=True, pipeline_class=Root, **OPTIONS)(function)
    index = dispatcher._cache._cache_file
    index._source_stamp = (TABLES, stamp(Path(function.__code__.co_filename)))
    dispatcher.get_call_template, dispatcher.get_overload = callee.get_call_template, callee.get_overload
    return cast(F, dispatcher)


def _callee(function: F, **options: Any) -> F:
    wrappers: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    dispatcher: Any = numba.njit(pipeline_class=Callee, **wrappers, **OPTIONS, **options)(function)
    template = dispatcher.get_call_template
    # Numba compiles a callee once for each literal and each width it is called with, 0 and 1, int16 and int32.
    dispatcher.get_call_template = lambda args, kws: template(
        tuple(map(_wide, args)), {name: _wide(kind) for name, kind in kws.items()}
    )
    return cast(F, dispatcher)


def _wide(kind: Any) -> Any:
    """A numba type without its value; of whole numbers int64, uint64 excepted."""
    kind = types.unliteral(kind)  # type: ignore[no-untyped-call]
    narrow = isinstance(kind, types.Integer) and kind is not types.uint64
    return types.int64 if narrow else types.float64 if kind is types.float32 else kind
