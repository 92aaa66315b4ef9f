"""The decorators that compile kernels. Compiled kernels are cached on disk; their arithmetic follows IEEE 754, and
division by zero gives infinity or NaN, as in numpy.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import event, types

from voxeldojo.world import pointers  # noqa: F401 - the import registers it with numba
from voxeldojo.world.compiling import Outermost, no_collecting, remembering
from voxeldojo.world.linking import Callee, Root
from voxeldojo.world.sources import stamp

F = TypeVar("F", bound=Callable[..., object])

OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True}


def digest(package: Path) -> str:
    """Return a digest of the constants of kernels, which are in the tables and in the modules that read the tables."""
    names = sorted(package.glob("data/*.csv")) + [
        package / "world" / f"{name}.py"
        for name in ("state", "blocks", "items", "mob_kinds", "constants", "crops", "shapes", "skins")
    ]
    return hashlib.sha256(b"".join(path.read_bytes() for path in names)).hexdigest()


TABLES = digest(Path(__file__).parents[1])
event.register("numba:compile", Outermost(no_collecting, remembering))  # type: ignore[no-untyped-call]


def jit(function: F) -> F:
    """Compile the kernel ``function`` at its first call from Python, once for each combination of types, with numba's
    cache.

    Numba's option ``fastmath`` is off, so that the same seed and actions give the same world on every machine. Numba's
    own cache checks only the modification time of a kernel's file, although a kernel also contains the functions that
    it calls and the tables. The name of a kernel's cache index therefore contains a digest of the tables and of all
    source files of the kernel. Other compiled functions can call a function of ``jit``, as they can call a function of
    ``part``.
    """
    return _entry_point(function, part(function))


def part(function: F) -> F:
    """Compile ``function`` only as a part of the compiled functions that call it.

    Python must not call such a function: the process would crash. A function of ``part`` must not create arrays,
    because it is compiled without reference counting. A function of ``part`` that is called often should take records
    and arrays as arguments, not a world.
    """
    return _callee(function, _nrt=False)


def maker(function: F) -> F:
    """Compile ``function`` like ``jit``, but allow ``function`` to create arrays."""
    return _entry_point(function, _callee(function, _nrt=True))


def is_cached(kernel: Any) -> bool:
    """Return whether numba's cache has a valid compilation of a kernel, which is a function of ``jit`` or ``maker``."""
    return bool(kernel._cache._cache_file._load_index())


def _entry_point(function: F, callee: Any) -> F:
    dispatcher: Any = numba.njit(cache=True, pipeline_class=Root, **OPTIONS)(function)
    index = dispatcher._cache._cache_file
    index._source_stamp = (TABLES, stamp(Path(function.__code__.co_filename)))
    # Numba compares the version before it unpickles the rest of the index, which can name classes that no longer exist.
    index._version = (index._version, *index._source_stamp)
    dispatcher.get_call_template, dispatcher.get_overload = callee.get_call_template, callee.get_overload
    return cast(F, dispatcher)


def _callee(function: F, **options: Any) -> F:
    wrappers: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    dispatcher: Any = numba.njit(pipeline_class=Callee, **wrappers, **OPTIONS, **options)(function)
    template = dispatcher.get_call_template
    # Without this change, numba compiles a called function again for each literal (0, 1) and each width (int16, int32)
    # of its arguments.
    dispatcher.get_call_template = lambda args, kws: template(
        tuple(map(_wide, args)), {name: _wide(kind) for name, kind in kws.items()}
    )
    return cast(F, dispatcher)


def _wide(kind: Any) -> Any:
    """Return a numba type without its literal value; the result is int64 for all integers except uint64."""
    kind = types.unliteral(kind)  # type: ignore[no-untyped-call]
    narrow = isinstance(kind, types.Integer) and kind is not types.uint64
    return types.int64 if narrow else types.float64 if kind is types.float32 else kind
