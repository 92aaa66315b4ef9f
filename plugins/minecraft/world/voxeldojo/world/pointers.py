"""Passes a world from one kernel to another as a single pointer.

Without this module, numba passes each field of a named tuple as a separate argument at every call. A world has about
150 fields; without pointers, two fifths of the kernels' intermediate code would handle these fields. Kernels change the
arrays of a world in place and never replace an array by another array. The kernel that Python calls therefore stores
the tuple of the world once, and all other kernels get a pointer to this tuple.
"""

# mypy: allow-untyped-calls, allow-untyped-decorators, allow-subclassing-any

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from llvmlite.ir.values import ArgumentAttributes  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.pythonapi import NativeValue, unbox
from numba.extending import typeof_impl

from voxeldojo.world.state import World


class Handed(types.NamedTuple):
    """The numba type of a named tuple that is passed by pointer."""

    @property
    def whole(self) -> types.NamedTuple:
        """Numba's own type for the named tuple."""
        return types.NamedTuple(self.types, self.instance_class)


@typeof_impl.register(World)
def _typeof(value: World, context: Any) -> Handed:
    return Handed([typeof_impl(array, context) for array in value], World)


class _ReadOnly(ArgumentAttributes):
    """Adds the attribute ``readonly`` of LLVM to arguments, which llvmlite does not support. With the attribute
    ``readonly``, LLVM may keep values behind the pointer in registers.
    """

    _known = MappingProxyType({**ArgumentAttributes._known, "readonly": False})


@register_default(Handed)
class _HandedModel(models.PrimitiveModel):
    """A pointer without reference counting. A pointer needs no reference counting, because Python keeps the arrays of
    the world alive while a kernel runs.
    """

    def __init__(self, manager: Any, kind: Handed) -> None:
        super().__init__(manager, kind, manager.lookup(kind.whole).get_value_type().as_pointer())

    def from_argument(self, builder: Any, value: Any) -> Any:
        value.attributes = _ReadOnly(("noalias", "nonnull", "readonly"))
        return value


@lower_getattr_generic(Handed)
def _array(context: Any, builder: Any, kind: Handed, value: Any, name: str) -> Any:
    index = kind.fields.index(name)
    array = builder.load(cgutils.gep_inbounds(builder, value, 0, index), name=name)
    return impl_ret_borrowed(context, builder, kind.types[index], array)


@unbox(Handed)
def _unbox(kind: Handed, value: Any, frame: Any) -> NativeValue:
    native = frame.unbox(kind.whole, value)
    place = cgutils.alloca_once_value(frame.builder, native.value)

    def cleanup() -> None:
        # Numba releases the references that the type of an argument contains; it finds none behind a pointer.
        if native.cleanup is not None:
            native.cleanup()
        if frame.context.enable_nrt:
            frame.context.nrt.decref(frame.builder, kind.whole, native.value)

    return NativeValue(place, cleanup=cleanup, is_error=native.is_error)
