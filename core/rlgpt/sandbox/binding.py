"""Calls of the guest's functions. Texts, numbers and replies cross in the memory of the guest, at places that are fixed
when the guest program is built (:mod:`rlgpt.sandbox.snapshot`).

The host calls one function of CPython, which calls a method of the guest without arguments. The *exchange* is a part of
the guest's memory; the host writes what it sends into the exchange. A reply can be anywhere in the guest's memory: the
guest writes its length and address into the exchange. The host checks both against the size of the memory before it
copies the reply.

wasmtime's Python package takes most of the time of a call for conversions. This module calls the same C functions of
wasmtime with addresses that are found once. It uses private names of the wasmtime package, whose version is therefore
pinned.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from ctypes import c_size_t, c_uint64, c_void_p
from struct import Struct
from typing import Any

from wasmtime import Module, Store, Trap, WasmtimeError
from wasmtime import _ffi as ffi

from rlgpt.sandbox.checks import Refused
from rlgpt.sandbox.guest.floats import Packed
from rlgpt.sandbox.snapshot import ABORT, CALL, SELF_ONLY

CAPACITY = 2**16
"""Size of the exchange in bytes."""

_BEGIN = 32
"""Offset of the host's data in the exchange. A longer text is sent in pieces."""

_PIECE = CAPACITY - _BEGIN
_HEAD = Struct("<7I")
_REPLY = Struct("<2I").unpack_from
_ZEROS = [(0,) * (7 - count) for count in range(8)]
_FORMS = 64
"""Maximal number of forms that an instance knows."""

_VALUES = {"send_reply": "send_values", "ask_can_start": "ask_with_values", "call_function": "call_with_values"}
"""Function that takes texts -> function that takes a text and numbers."""

Places = Mapping[str, int]


class TooLong(Exception):
    """A reply is longer than the caller accepts, and was not copied.

    :ivar size: its length in bytes.
    :ivar begin: its first bytes.
    """

    def __init__(self, size: int, begin: bytes) -> None:
        self.size, self.begin = size, begin
        super().__init__(f"the guest's message has {size} bytes")


_call = ctypes.CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_void_p, c_size_t, c_void_p)(
    ("wasmtime_func_call_unchecked", ffi.dll)
)
_get_fuel = ctypes.CFUNCTYPE(c_void_p, c_void_p, c_void_p)(("wasmtime_context_get_fuel", ffi.dll))


class Binding:
    """The functions and the memory of one instance of the guest.

    :param store: the store of the instance. The limits of the store must be set.
    :param places: what :func:`places` returns for ``module``.
    :raises WasmtimeError: the module cannot be instantiated within the limits of the store.
    """

    def __init__(self, store: Store, module: Module, places: Places) -> None:
        self._store, self._places = store, places  # The store owns the memory that the addresses below belong to.
        self._context = _address(store._context())
        self._instance = _instantiate(store, module)
        self._functions = {name: _export(store, self._instance, name).of.func for name in (CALL, ABORT)}
        self._function, self._abort = (ctypes.addressof(function) for function in self._functions.values())
        self._memory = _export(store, self._instance, "memory").of.memory
        # The engine never moves a memory, and a memory never shrinks.
        self._base = _address(ffi.wasmtime_memory_data(store._context(), ctypes.byref(self._memory)))
        self._size = 0
        self._measure()
        self._least = self._size
        begin = places["exchange"]
        if not 0 < begin <= self._size - CAPACITY:
            raise WasmtimeError("the exchange of the guest program lies outside its memory")
        self._exchange = memoryview((ctypes.c_ubyte * CAPACITY).from_address(self._base + begin)).cast("B")
        self._raw = (ffi.wasmtime_val_raw_t * 4)()
        self._values = memoryview(self._raw).cast("B").cast("i")
        self._step = len(self._values) // 4
        for i, value in enumerate((0, places["arguments"], SELF_ONLY, 0)):
            self._values[i * self._step] = value
        self._raw_at = ctypes.addressof(self._raw)
        self._trap, self._fuel = c_void_p(), c_uint64()
        self._trap_at, self._fuel_at = ctypes.addressof(self._trap), ctypes.addressof(self._fuel)
        self._forms: dict[str, int] = {}

    @property
    def memory(self) -> tuple[int, int]:
        """The address and the size of the instance's memory. The address is valid as long as this object exists."""
        self._measure()
        return self._base, self._size

    @property
    def grown(self) -> bool:
        """Whether the instance's memory is larger than at its beginning."""
        self._measure()
        return self._size != self._least

    @property
    def closed(self) -> bool:
        """Whether the instance does not exist any more. The garbage collector can close a store before its owner."""
        try:
            self._store._context()
        except ValueError:
            return True
        return False

    def forget(self) -> None:
        """Forget what the guest has learned. Call ``forget`` when the memory is restored."""
        self._forms.clear()

    def limit(self, fuel: int, ticks: int) -> None:
        """Set the fuel and the number of ticks of the clock that the instance may use from now on."""
        self._store.set_fuel(fuel)
        self._store.set_epoch_deadline(ticks)

    @property
    def fuel(self) -> int:
        """The fuel that is left."""
        _get_fuel(self._context, self._fuel_at)
        return self._fuel.value

    def call(self, function: str, *arguments: str | int | Packed, most: int) -> bytes:
        """Call a function of the guest.

        :param arguments: texts; or a packed value, with a text before it if the function takes one.
        :param most: maximal length of a reply outside the exchange, in bytes.
        :returns: the guest's reply, which can be any bytes.
        :raises Trap: the guest was stopped.
        :raises Refused: the reply lies outside the guest's memory (kind ``reply``).
        :raises TooLong: the reply is longer than ``most``.
        :raises UnicodeError: a text cannot be encoded as UTF-8.
        """
        if arguments and type(arguments[-1]) is Packed:
            self._write_values(arguments[-1], "".join(arguments[:-1]))  # type: ignore[arg-type]
            function = _VALUES[function]
        else:
            self._write_texts([str(text).encode() for text in arguments])
        self._run(function)
        exchange = self._exchange
        length, address = _REPLY(exchange)
        if not address and length <= _PIECE:
            return bytes(exchange[_BEGIN : _BEGIN + length])
        if address + length > self._size:
            self._measure()
            if address + length > self._size:
                raise Refused("reply", "the guest's message lies outside its memory")
        if length > most:
            raise TooLong(length, ctypes.string_at(self._base + address, _BEGIN))
        return ctypes.string_at(self._base + address, length)

    def _write_texts(self, texts: list[bytes]) -> None:
        data, exchange = b"".join(texts), self._exchange
        if len(data) > _PIECE:
            self._keep(data)
        else:
            exchange[_BEGIN : _BEGIN + len(data)] = data
        _HEAD.pack_into(exchange, 0, 0, 0, *map(len, texts), *_ZEROS[len(texts) + 2])

    def _keep(self, data: bytes) -> None:
        for begin in range(0, len(data), _PIECE):
            self._write_texts([data[begin : begin + _PIECE]])
            self._run("keep_piece")

    def _write_values(self, packed: Packed, text: str) -> None:
        form = self._forms.get(packed.form)
        if form is None:
            if len(self._forms) >= _FORMS:
                self._forms.clear()
            form = self._forms[packed.form] = len(self._forms)
            described, exchange = packed.form.encode(), self._exchange
            exchange[_BEGIN : _BEGIN + len(described)] = described
            _HEAD.pack_into(exchange, 0, 0, 0, len(described), form, 0, 0, 0)
            self._run("learn_form")
        before, others = text.encode(), packed.others.encode()
        data = b"".join((before, others, packed.data))
        if len(data) > _PIECE:
            self._keep(before)
            before, data = b"", data[len(before) :]
        self._exchange[_BEGIN : _BEGIN + len(data)] = data
        _HEAD.pack_into(self._exchange, 0, 0, 0, len(before), form, len(others), 0, 0)

    def _run(self, function: str) -> None:
        self._values[0] = self._places[function]
        if _call(self._context, self._function, self._raw_at, 4, self._trap_at) or self._trap.value:
            self._raise()
        if not self._values[0]:  # The method has raised an exception, so the interpreter is not to be trusted.
            _call(self._context, self._abort, self._raw_at, 4, self._trap_at)
            self._raise()

    def _raise(self) -> None:
        if not self._trap.value:
            raise WasmtimeError("the guest cannot be called")
        pointer = ctypes.cast(self._trap, ctypes.POINTER(ffi.wasm_trap_t))
        self._trap.value = None
        raise Trap._from_ptr(pointer)

    def _measure(self) -> None:
        self._size = ffi.wasmtime_memory_data_size(self._store._context(), ctypes.byref(self._memory))


def places(store: Store, module: Module) -> Places:
    """The places in the guest's memory that the guest program exports."""
    instance, value, found = _instantiate(store, module), ffi.wasmtime_val_t(), {}
    for export in module.exports:
        item = _export(store, instance, export.name)
        if item.kind == ffi.WASMTIME_EXTERN_GLOBAL.value:
            ffi.wasmtime_global_get(store._context(), ctypes.byref(item.of.global_), ctypes.byref(value))
            found[export.name] = value.of.i32
    return found


def _address(pointer: Any) -> int:
    return ctypes.cast(pointer, c_void_p).value or 0


def _instantiate(store: Store, module: Module) -> Any:
    instance, trap = ffi.wasmtime_instance_t(), ctypes.POINTER(ffi.wasm_trap_t)()
    error = ffi.wasmtime_instance_new(
        store._context(), module.ptr(), None, 0, ctypes.byref(instance), ctypes.byref(trap)
    )
    if error:
        raise WasmtimeError._from_ptr(error)
    if trap:
        raise Trap._from_ptr(trap)
    return instance


def _export(store: Store, instance: Any, name: str) -> Any:
    item, text = ffi.wasmtime_extern_t(), ctypes.create_string_buffer(name.encode())
    found = ffi.wasmtime_instance_export_get(
        store._context(), ctypes.byref(instance), text, len(name), ctypes.byref(item)
    )
    if not found:
        raise WasmtimeError(f"the guest program exports no {name!r}")
    return item
