"""Calls of functions that the guest exports, whose arguments and results are texts.

wasmtime's Python package makes new ctypes types for the length of each text, which takes 40 % of the time of a call of
the guest. This module calls the same C functions of wasmtime with buffers that are made once. The fast calls use a
private module of the wasmtime package, whose version is therefore pinned.
"""

from __future__ import annotations

import ctypes
from typing import Any

from wasmtime import Store, WasmtimeError
from wasmtime import _ffi as ffi
from wasmtime.component import Func

_BYTES = ctypes.POINTER(ctypes.c_uint8)
_TEXT = ffi.WASMTIME_COMPONENT_STRING.value


class TextFunction:
    """A function that one instance of the guest exports.

    :param count: number of the arguments of the exported function. All arguments and the result are texts.
    """

    def __init__(self, function: Func, store: Store, count: int) -> None:
        self._function, self._store, self._count = function, store, count
        self._handle = ctypes.byref(function._func)
        self._arguments: Any = (ffi.wasmtime_component_val_t * count)()
        self._texts = []
        for argument in self._arguments:
            argument.kind = _TEXT
            self._texts.append(argument.of.string)
        self._result: Any = ffi.wasmtime_component_val_t()

    def __call__(self, *texts: str) -> str:
        """:raises WasmtimeError: the exported function trapped.
        :raises UnicodeError: a text cannot be encoded as UTF-8.
        """
        encoded = [text.encode() for text in texts]  # The C functions read these bytes without a copy.
        for place, data in zip(self._texts, encoded, strict=True):
            place.size, place.data = len(data), ctypes.cast(ctypes.c_char_p(data), _BYTES)
        context, result = self._store._context(), self._result
        self._check(
            ffi.wasmtime_component_func_call(
                self._handle, context, self._arguments, self._count, ctypes.byref(result), 1
            )
        )
        try:
            if result.kind != _TEXT:
                raise TypeError("the guest's message is not text")
            text = result.of.string
            reply = ctypes.string_at(text.data, text.size).decode()
        finally:
            ffi.wasmtime_component_val_delete(ctypes.byref(result))
        self._check(ffi.wasmtime_component_func_post_return(self._handle, context))
        return reply

    @staticmethod
    def _check(error: Any) -> None:
        if error:
            raise WasmtimeError._from_ptr(error)
