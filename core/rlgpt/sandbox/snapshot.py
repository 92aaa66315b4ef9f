"""Makes the guest program from the component of componentize-py: one core module whose memory is a snapshot of an
initialised guest.

The module exports three functions, the memory, and the places in the memory that the host needs
(:mod:`rlgpt.sandbox.binding`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

from wasmtime import Config, Engine, Instance, Module, Store

from rlgpt.sandbox.link import link
from rlgpt.sandbox.wasm_format import LinkError

CALL, ABORT = "PyObject_VectorcallMethod", "abort"
"""Functions of CPython and of the C library that the host calls."""

METHODS = (
    *("keep_piece", "prepare_library", "load_action", "start_action", "send_reply", "ask_can_start", "call_function"),
    *("cancel_action", "read_memory", "send_values", "ask_with_values", "call_with_values", "learn_form"),
)
"""The methods of the guest that the host calls, as CPython spells them."""

_BUILD = (
    *("malloc", "PyGILState_Ensure", "PyImport_ImportModule", "PyObject_GetAttrString"),
    *("PyUnicode_InternFromString", "PyByteArray_AsString"),
)

SELF_ONLY = 1 - 2**31
"""``1 | PY_VECTORCALL_ARGUMENTS_OFFSET`` as a signed number: a call with the receiver alone, whose argument has a free
place before it.
"""


def snapshot(component: bytes) -> bytes:
    """The guest program, made from the component that componentize-py has built.

    :raises LinkError: the component is not what this version of componentize-py makes.
    """
    linked = link(component, (CALL, ABORT, *_BUILD))
    if linked.assigned != 1:
        raise LinkError(f"functions assign {linked.assigned} globals: besides the stack pointer, a snapshot keeps none")
    config = Config()
    config.cranelift_opt_level = "none"
    config.max_wasm_stack = 2**21
    engine = Engine(config)
    guest = _Guest(engine, Module(engine, linked.encode()))
    places = guest.places()
    return linked.encode((CALL, ABORT), guest.memory(), places)


class _Guest:
    """The instance from which the snapshot is taken."""

    def __init__(self, engine: Engine, module: Module) -> None:
        self._store = Store(engine)
        self._exports: Mapping[str, Any] = Instance(self._store, module, []).exports(self._store)

    def _call(self, name: str, *arguments: int | str) -> int:
        flat = [self._text(a) if isinstance(a, str) else a for a in arguments]
        result: int = self._exports[name](self._store, *flat) % 2**32
        if result == 0 and name != "PyGILState_Ensure":
            raise LinkError(f"{name} of the guest failed")
        return result

    def _text(self, text: str) -> int:
        data = text.encode() + b"\0"
        place = self._call("malloc", len(data))
        self._exports["memory"].write(self._store, data, place)
        return place

    def places(self) -> dict[str, int]:
        """Seal the guest, and return the places in its memory that the host needs."""
        self._call("PyGILState_Ensure")
        app = self._call("PyImport_ImportModule", "app")
        calls = self._call("PyObject_GetAttrString", app, "CALLS")
        view = self._call("PyObject_GetAttrString", self._call("PyImport_ImportModule", "exchange"), "EXCHANGE")
        exchange = self._call("PyObject_GetAttrString", view, "obj")
        arguments = self._call("malloc", 8) + 4
        self._exports["memory"].write(self._store, calls.to_bytes(4, "little"), arguments)
        places = {name: self._call("PyUnicode_InternFromString", name) for name in METHODS}
        places |= {"exchange": self._call("PyByteArray_AsString", exchange), "arguments": arguments}
        self._call(CALL, self._call("PyUnicode_InternFromString", "seal"), arguments, SELF_ONLY, 0)
        return places

    def memory(self) -> bytes:
        memory = self._exports["memory"]
        return ctypes.string_at(memory.data_ptr(self._store), memory.data_len(self._store))
