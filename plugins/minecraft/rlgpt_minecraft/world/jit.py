"""One way to compile: cached on disk, IEEE arithmetic, division as numpy does it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import types

F = TypeVar("F", bound=Callable[..., object])


def digest(package: Path) -> str:
    """A digest of what kernels take in as constants: the tables and the modules that read them."""
    names = sorted(package.glob("data/*.csv")) + [
        package / "world" / f"{name}.py" for name in ("state", "blocks", "items", "kinds", "constants", "shapes")
    ]
    return hashlib.sha256(b"".join(path.read_bytes() for path in names)).hexdigest()


TABLES = digest(Path(__file__).parents[1])


def jit(function: F) -> F:
    """``function``, compiled at its first call for each combination of types and kept in numba's cache.

    No fast mathematics: the same seed and actions give the same world on every machine. Numba's cache looks at the time
    of the function's own file alone, and a kernel keeps the tables it was compiled with: so the cache is told of those.
    """
    return _compiled(function)


def part(function: F) -> F:
    """As ``jit``, for what compiled functions alone call: without an entrance from Python, half of the time to compile.

    Python must not call it: that ends the process.
    """
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def _compiled(function: F, **options: Any) -> F:
    dispatcher: Any = numba.njit(cache=True, error_model="numpy", nogil=True, **options)(function)
    index = dispatcher._cache._cache_file
    index._source_stamp = (index._source_stamp, TABLES)
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
