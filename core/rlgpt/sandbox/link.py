"""Links the core modules of a WebAssembly component into one core module.

componentize-py makes a component of forty core modules (CPython, the C library, stubs), which share one memory and one
table. An instance of the component is forty instances, and the component's own calling convention copies every text
twice. The linked module is one instance, and the host reads and writes its memory directly.

The component must import nothing, and must contain all its instances' memory (componentize-py's snapshot does). Binary
formats: https://webassembly.github.io/spec/core/binary/ and the component model's ``Binary.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rlgpt.sandbox.wasm_code import Body
from rlgpt.sandbox.wasm_format import FUNC, GLOBAL, MEMORY, TABLE, Instance, Item, LinkError, Reader, leb, signed

_CORE_MODULE, _CORE_INSTANCE, _ALIAS, _CANON = 1, 2, 6, 8
_NONE: Mapping[str, int] = {}
_HEADER = b"\0asm\1\0\0\0"


def link(component: bytes, exports: Iterable[str]) -> Linked:
    """Link the core modules of ``component``.

    :param exports: names of functions that any core module exports. If several modules export a name, the last one
        counts.
    :raises LinkError: the component contains something that this linker does not know, or lacks an export.
    """
    instances = _instances(bytes(component))
    found: dict[str, Item] = {}
    for instance in instances:
        found.update({name: item for name, item in instance.exports.items() if item.kind == FUNC})
    if missing := sorted(set(exports) - found.keys()):
        raise LinkError(f"no core module exports {', '.join(missing)}")
    return Linked(instances, {name: found[name] for name in exports})


def _instances(component: bytes) -> list[Instance]:
    """All instances of core modules that the component makes, in order."""
    modules: list[bytes] = []
    spaces: dict[int, list[Item]] = {kind: [] for kind in (FUNC, TABLE, MEMORY, GLOBAL)}
    scopes: list[dict[str, Item]] = []
    made: list[Instance] = []
    for kind, part in Reader(component, 8).sections():
        if kind == _CORE_MODULE:
            modules.append(component[part.at : part.end])
        elif kind == _CORE_INSTANCE:
            for _ in range(part.number()):
                if part.byte() == 0:
                    module = modules[part.number()]
                    arguments = {}
                    for _ in range(part.number()):
                        name = part.name()
                        part.byte()
                        arguments[name] = scopes[part.number()]
                    made.append(_instantiate(module, arguments))
                    scopes.append(made[-1].exports)
                else:
                    scope = {}
                    for _ in range(part.number()):
                        name, sort = part.name(), part.byte()
                        scope[name] = spaces[sort][part.number()]
                    scopes.append(scope)
        elif kind == _ALIAS:
            _read_aliases(part, scopes, spaces)
        elif kind == _CANON:
            for _ in range(part.number()):
                if part.byte() != 0:
                    raise LinkError("the component has core functions that are no core module's")
                break  # Only functions of the component follow, which are not read here.
    return made


def _read_aliases(part: Reader, scopes: list[dict[str, Item]], spaces: dict[int, list[Item]]) -> None:
    for _ in range(part.number()):
        sort = part.byte()
        core = part.byte() if sort == 0 else None
        target = part.byte()
        if target == 2:
            part.number(), part.number()
            continue
        scope, name = part.number(), part.name()
        if target == 1:
            assert core is not None
            spaces[core].append(scopes[scope][name])


def _instantiate(module: bytes, arguments: Mapping[str, Mapping[str, Item]]) -> Instance:
    made = Instance()
    spaces = made.spaces
    declared: list[Item] = []
    for kind, part in Reader(module, 8).sections():
        if kind in (0, 12):
            continue
        if kind == 8:
            raise LinkError("a core module has a start function")
        count = part.number()
        for i in range(count):
            begin = part.at
            if kind == 1:
                if part.byte() != 0x60:
                    raise LinkError("a type is no function")
                for _ in range(2):
                    part.take(part.number())
                made.types.append(part.since(begin))
            elif kind == 2:
                scope, name, sort = part.name(), part.name(), part.byte()
                part.number() if sort == FUNC else part.type_of(sort)
                spaces[sort].append(arguments[scope][name])
            elif kind == 3:
                declared.append(Item(FUNC, made.types[part.number()], owner=made))
            elif kind in (4, 5):
                spaces[kind - 3].append(Item(kind - 3, part.type_of(kind - 3)))
            elif kind == 6:
                spaces[GLOBAL].append(Item(GLOBAL, part.type_of(GLOBAL), value=part.constant(spaces)))
            elif kind == 7:
                name, sort = part.name(), part.byte()
                number = part.number()
                own = number - len(spaces[FUNC])
                made.exports[name] = declared[own] if sort == FUNC and own >= 0 else spaces[sort][number]
            elif kind == 9:
                made.elements.append(_element(part, spaces, declared))
            elif kind == 10:
                declared[i].body = part.take(part.number())
            elif kind == 11:
                made.data.append(_data(part, spaces))
        if kind == 9:
            continue
    spaces[FUNC].extend(declared)
    return made


def _element(part: Reader, spaces: tuple[list[Item], ...], declared: list[Item]) -> Any:
    flags = part.number()
    if flags not in (0, 2):
        raise LinkError(f"an element segment has the flags {flags}")
    table = spaces[TABLE][part.number() if flags == 2 else 0]
    offset = part.constant(spaces)
    if flags == 2 and part.byte() != 0:
        raise LinkError("an element segment is not of functions")
    functions = [*spaces[FUNC], *declared]
    return table, offset, [functions[part.number()] for _ in range(part.number())]


def _data(part: Reader, spaces: tuple[list[Item], ...]) -> bytes:
    if part.number() != 0:
        raise LinkError("a data segment is not active in the only memory")
    offset = part.constant(spaces)
    size = part.number()
    return b"\0" + offset + b"\x0b" + leb(size) + part.take(size)


def _reached(roots: list[Item], types: dict[bytes, int]) -> dict[Item, Body]:
    """The functions that calls from ``roots`` can reach, with their bodies."""
    found: dict[Item, Body] = {}
    waiting = list(roots)
    while waiting:
        item = waiting.pop()
        if item not in found:
            body = found[item] = Body(item, types)
            waiting += body.called()
    return found


class Linked:
    """The linked module, with the functions that its exports and tables reach.

    :ivar assigned: number of globals that functions assign.
    """

    def __init__(self, instances: list[Instance], exports: Mapping[str, Item]) -> None:
        self._types: dict[bytes, int] = {}
        elements = [segment for instance in instances for segment in instance.elements]
        bodies = _reached([*exports.values(), *(item for _, _, listed in elements for item in listed)], self._types)
        spaces: tuple[list[Item], ...] = ([], [], [], [])
        for instance in instances:
            for own, space in zip(spaces, instance.spaces, strict=True):
                for item in space:
                    if item.number < 0 and (item.kind != FUNC or item in bodies):
                        item.number = len(own)
                        own.append(item)
        functions, tables, memories, globals_ = spaces
        if len(memories) != 1:
            raise LinkError(f"the component has {len(memories)} memories")
        assigned = {item for body in bodies.values() for item in body.assigned()}
        for item in globals_:
            item.constant = item not in assigned
        self.assigned = len(assigned)
        code = [bodies[function].linked() for function in functions]
        self._data = [segment for instance in instances for segment in instance.data]
        self._exports = {name: _text(name) + bytes([FUNC]) + leb(item.number) for name, item in exports.items()}
        numbers = [leb(self._types.setdefault(function.type, len(self._types))) for function in functions]
        self._parts = {
            1: list(self._types),
            3: numbers,
            4: [item.type for item in tables],
            5: [item.type for item in memories],
            6: [item.type + item.value + b"\x0b" for item in globals_],
            9: [_segment(*segment) for segment in elements],
            10: [leb(len(body)) + body for body in code],
        }

    def encode(
        self, exports: Iterable[str] | None = None, memory: bytes | None = None, constants: Mapping[str, int] = _NONE
    ) -> bytes:
        """The linked module in the binary format.

        :param exports: those of the functions that the module exports besides its memory; None for all.
        :param memory: the content of the memory with which an instance begins, a whole number of pages of 64 KiB. If
            ``memory`` is None, an instance begins with the data of the component.
        :param constants: names and values of 32-bit globals that the module also exports.
        """
        parts, data = dict(self._parts), self._data
        listed = [self._exports[name] for name in (self._exports if exports is None else exports)]
        listed.append(_text("memory") + bytes([MEMORY, 0]))
        for name, value in constants.items():
            listed.append(_text(name) + bytes([GLOBAL]) + leb(len(parts[6])))
            parts[6] = [*parts[6], b"\x7f\0\x41" + signed((value + 2**31) % 2**32 - 2**31) + b"\x0b"]
        if memory is not None:
            parts[5], data = [b"\0" + leb(len(memory) // 65536)], _pages(memory)
        parts |= {7: listed, 11: data}
        return _HEADER + b"".join(_section(kind, parts[kind]) for kind in sorted(parts))


def _section(kind: int, entries: list[bytes]) -> bytes:
    body = leb(len(entries)) + b"".join(entries)
    return bytes([kind]) + leb(len(body)) + body


def _pages(memory: bytes, size: int = 4096) -> list[bytes]:
    """Data segments for the pages of ``memory`` that are not zero."""
    used = [at for at in range(0, len(memory), size) if memory[at : at + size].strip(b"\0")]
    segments: list[tuple[int, int]] = []
    for at in used:
        begin = segments.pop()[0] if segments and segments[-1][1] == at else at
        segments.append((begin, at + size))
    return [b"\0\x41" + signed(begin) + b"\x0b" + leb(end - begin) + memory[begin:end] for begin, end in segments]


def _text(name: str) -> bytes:
    return leb(len(name.encode())) + name.encode()


def _segment(table: Item, offset: bytes, functions: list[Item]) -> bytes:
    head = b"\2" + leb(table.number) + offset + b"\x0b\0"
    return head + leb(len(functions)) + b"".join(leb(function.number) for function in functions)
