"""The linker makes one core module of a component's core modules, and refuses what it does not know."""

from __future__ import annotations

import pytest
import wasmtime
from rlgpt.sandbox.link import link
from rlgpt.sandbox.wasm_format import LinkError

COMPONENT = """(component
  (core module $base
    (memory (export "memory") 1)
    (table (export "table") 4 funcref)
    (global (export "seven") i32 (i32.const 7))
    (global (export "stack") (mut i32) (i32.const 100))
    (data (i32.const 8) "\\2a\\00\\00\\00"))
  (core module $lib
    (import "env" "memory" (memory 1))
    (import "env" "table" (table 4 funcref))
    (import "env" "seven" (global $seven i32))
    (import "env" "stack" (global $stack (mut i32)))
    (type $binary (func (param i32 i32) (result i32)))
    (elem (table 0) (offset (i32.add (global.get $seven) (i32.const -5))) func $add $less)
    (func $less (type $binary) (i32.sub (local.get 0) (local.get 1)))
    (func $add (export "add") (type $binary) (i32.add (local.get 0) (local.get 1)))
    (func $unused (unreachable))
    (func (export "read") (result i32)
      (global.set $stack (i32.sub (global.get $stack) (i32.const 1)))
      (i32.add (i32.load (i32.const 8)) (global.get $seven))))
  (core module $app
    (import "lib" "add" (func $add (param i32 i32) (result i32)))
    (import "lib" "read" (func $read (result i32)))
    (import "env" "table" (table 4 funcref))
    (type $binary (func (param i32 i32) (result i32)))
    (func (export "main") (param i32) (result i32)
      (local i64)
      (block (result i32)
        (if (result i32) (local.get 0)
          (then (call $add (call $read) (local.get 0)))
          (else (call_indirect (type $binary) (i32.const 50) (i32.const 8) (i32.const 3)))))))
  (core instance $b (instantiate $base))
  (core instance $l (instantiate $lib (with "env" (instance $b))))
  (core instance $a (instantiate $app (with "lib" (instance $l)) (with "env" (instance $b))))
)"""


def _run(module: bytes, value: int) -> int:
    store = wasmtime.Store()
    exports = wasmtime.Instance(store, wasmtime.Module(store.engine, module), []).exports(store)
    result: int = exports["main"](store, value)  # type: ignore[operator]
    return result


def test_linked_module_computes_what_the_component_computes() -> None:
    linked = link(wasmtime.wat2wasm(COMPONENT), ["main"])
    module = linked.encode()
    assert linked.assigned == 1
    assert [_run(module, value) for value in (1, 5, 0)] == [50, 54, 42]
    assert not wasmtime.Module(wasmtime.Engine(), module).imports


def test_linked_module_begins_with_a_given_memory_and_exports_constants() -> None:
    memory = bytearray(2 * 65536)
    memory[8] = 10
    module = link(wasmtime.wat2wasm(COMPONENT), ["main", "read"]).encode(["main"], bytes(memory), {"place": 2**31 - 1})
    assert _run(module, 1) == 18
    store = wasmtime.Store()
    exports = wasmtime.Instance(store, wasmtime.Module(store.engine, module), []).exports(store)
    assert set(exports) == {"main", "memory", "place"}
    assert exports["place"].value(store) == 2**31 - 1  # type: ignore[union-attr]
    assert exports["memory"].data_len(store) == 2 * 65536  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("part", "other", "says"),
    [
        ("(func $unused (unreachable))", "(start $init) (func $init)", "start function"),
        ("(unreachable)", "(table.set (i32.const 0) (ref.null func))", None),
        ("(i32.load (i32.const 8))", "(block (result i32) (table.set (i32.const 0) (ref.null func)) (i32.const 1))",
         "opcode 0x26"),
        ("(i32.load (i32.const 8))", "(table.grow (ref.null func) (i32.const 1))", "opcode 0xfc 15"),
    ],
)  # fmt: skip
def test_linker_refuses_what_a_restored_memory_would_not_undo(part: str, other: str, says: str | None) -> None:
    """A function that nothing calls is left out, whatever it does."""
    component = wasmtime.wat2wasm(COMPONENT.replace(part, other))
    if says is None:
        assert _run(link(component, ["main"]).encode(), 1) == 50
    else:
        with pytest.raises(LinkError, match=says):
            link(component, ["main"])


def test_linker_names_a_missing_export() -> None:
    with pytest.raises(LinkError, match="no core module exports fly"):
        link(wasmtime.wat2wasm(COMPONENT), ["main", "fly"])
