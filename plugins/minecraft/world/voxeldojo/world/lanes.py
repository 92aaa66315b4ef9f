"""Lets one compiled function call kernels for many worlds.

A call of a kernel from Python takes about 5 µs, because numba reads 16 arrays of the world. A kernel for many worlds
instead gets one table with the addresses of the worlds' arrays. A kernel for many worlds calls
other kernels by their addresses in memory, so that no kernel is compiled a second time as a part of another kernel.
"""

# mypy: allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numba
import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj, numpy_support
from numpy.typing import NDArray

from voxeldojo.world.state import World, empty

Addresses = NDArray[np.int64]
"""A row of ``addresses`` for each world, ``(worlds, len(World._fields))``."""

_EXAMPLE: Final = empty(0)
_KIND: Final[Any] = numba.typeof(_EXAMPLE)
_SHAPES: Final = tuple(array.shape for array in _EXAMPLE)


def addresses(world: World) -> Addresses:
    """Return the address of each array of a world. The addresses of a world's arrays are valid as long as the world
    exists.
    """
    return np.array([array.ctypes.data for array in world], np.int64)


def _world_at(typing: Any, table: Any, row: Any) -> Any:

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind, (table_value, row_value) = signature.args[0], args
        rows = context.make_array(kind)(context, builder, table_value)
        fields = []
        for column, (field, shape) in enumerate(zip(_KIND.types, _SHAPES, strict=True)):
            at = [row_value, context.get_constant(types.intp, column)]
            address = builder.load(cgutils.get_item_pointer(context, builder, kind, rows, at))
            array = context.make_array(field)(context, builder)
            size = numpy_support.as_dtype(field.dtype).itemsize
            strides = [size * int(np.prod(shape[axis + 1 :], dtype=np.int64)) for axis in range(len(shape))]
            arrayobj.populate_array(
                array,
                data=builder.inttoptr(address, array.data.type),
                shape=[context.get_constant(types.intp, n) for n in shape],
                strides=[context.get_constant(types.intp, n) for n in strides],
                itemsize=context.get_constant(types.intp, size),
                meminfo=None,
            )
            fields.append(array._getvalue())
        return cgutils.alloca_once_value(builder, context.make_tuple(builder, _KIND.whole, fields))

    return _KIND(table, row), generate


world_at: Any = intrinsic(_world_at)
"""A function for kernels: ``world_at(table, row)`` is the world whose addresses are in a row of ``table`` (Addresses).
The world gets no reference counts.
"""


class Linked:
    """A kernel that other kernels call by its address.

    :param kernel: a function of ``jit`` or ``maker`` whose first argument is a world.
    :param result: the numba type of its result.
    :param examples: an argument of each type, except the world.
    :ivar call: a function for kernels: ``call(address, (world, *arguments))``.
    """

    def __init__(self, kernel: Any, result: Any, *examples: Any) -> None:
        self._kernel = kernel
        self._types = tuple(map(numba.typeof, (_EXAMPLE, *examples)))
        self.call: Callable[[int, tuple[Any, ...]], Any] = _caller(result, self._types)

    def address(self) -> int:
        """Return the address of the compiled kernel. The first call of ``address`` compiles the kernel, or reads the
        compiled kernel from numba's cache.
        """
        self._kernel.compile(self._types)
        compiled = self._kernel.overloads[self._types]
        return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


def _caller(result: Any, arguments: tuple[Any, ...]) -> Any:
    @intrinsic
    def call(typing: Any, address: Any, values: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            place, given = args
            convention = context.call_conv
            function = builder.inttoptr(place, convention.get_function_type(result, arguments).as_pointer())
            parts = [builder.extract_value(given, i) for i in range(len(arguments))]
            status, value = convention.call_function(builder, function, result, arguments, parts)
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return value

        return result(types.int64, types.Tuple(arguments)), generate

    return call
