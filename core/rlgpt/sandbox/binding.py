"""Calls of exported functions that take and return text.

wasmtime's Python package makes new ctypes types for the length of each text, which takes 40 % of a call. This module
calls the same C functions with buffers that are made once. The fast calls use a private module of the package, whose
version is pinned.
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
    """An exported function of one instance.

    :param count: number of the arguments of the function. All arguments and the result are texts.
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
        """:raises WasmtimeError: the function trapped.
        :raises UnicodeError: a text cannot be encoded.
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
