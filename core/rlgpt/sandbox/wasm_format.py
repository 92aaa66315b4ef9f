"""The binary format of WebAssembly modules, as far as :mod:`rlgpt.sandbox.link` needs it.

https://webassembly.github.io/spec/core/binary/
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

FUNC, TABLE, MEMORY, GLOBAL = range(4)
"""Kinds of items."""


class LinkError(ValueError):
    """The component contains something that this linker does not know."""


@dataclass(eq=False)
class Item:
    """A function, table, memory or global of the linked module.

    :ivar type: a function's type, or the encoded type of a table, memory or global.
    :ivar value: a global's initial value as encoded ``const`` instruction.
    """

    kind: int
    type: bytes
    body: bytes = b""
    owner: Instance | None = None
    value: bytes = b""
    number: int = -1
    constant: bool = False


@dataclass(eq=False)
class Instance:
    """One instance of a core module, with its index spaces."""

    types: list[bytes] = field(default_factory=list)
    spaces: tuple[list[Item], ...] = field(default_factory=lambda: ([], [], [], []))
    exports: dict[str, Item] = field(default_factory=dict)
    elements: list[Any] = field(default_factory=list)
    data: list[bytes] = field(default_factory=list)


class Reader:
    def __init__(self, data: bytes, at: int = 0, end: int | None = None) -> None:
        self.data, self.at, self.end = data, at, len(data) if end is None else end

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def number(self) -> int:
        """An unsigned LEB128 number."""
        result = shift = 0
        while True:
            byte = self.byte()
            result |= (byte & 127) << shift
            if byte < 128:
                return result
            shift += 7

    def skip(self) -> None:
        """Skip a LEB128 number, signed or not."""
        while self.byte() >= 128:
            pass

    def take(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]

    def name(self) -> str:
        return self.take(self.number()).decode()

    def since(self, begin: int) -> bytes:
        return self.data[begin : self.at]

    def sections(self) -> Iterator[tuple[int, Reader]]:
        while self.at < self.end:
            kind, size = self.byte(), self.number()
            yield kind, Reader(self.data, self.at, self.at + size)
            self.at += size

    def type_of(self, kind: int) -> bytes:
        """The encoded type of a table, memory or global."""
        begin = self.at
        if kind == GLOBAL:
            self.at += 2
            return self.since(begin)
        if kind == TABLE:
            self.byte()
        flags = self.byte()
        self.skip()
        if flags & 1:
            self.skip()
        return self.since(begin)

    def constant(self, spaces: tuple[list[Item], ...]) -> bytes:
        """A constant expression, computed to one ``const`` instruction without its ``end``."""
        stack: list[bytes] = []
        while True:
            begin, opcode = self.at, self.byte()
            if opcode == 0x0B:
                (value,) = stack
                return value
            if opcode == 0x23:
                stack.append(spaces[GLOBAL][self.number()].value)
            elif opcode in (0x41, 0x42):
                self.skip()
                stack.append(self.since(begin))
            elif opcode in (0x43, 0x44):
                self.at += 4 if opcode == 0x43 else 8
                stack.append(self.since(begin))
            elif opcode == 0x6A:
                stack.append(_sum(stack.pop(), stack.pop()))
            else:
                raise LinkError(f"a constant expression has the opcode {opcode:#x}")


def _sum(a: bytes, b: bytes) -> bytes:
    """``a`` plus ``b``, which are instructions ``i32.const``."""
    total = 0
    for given in (a, b):
        if given[0] != 0x41:
            raise LinkError("a constant expression adds something else than 32-bit numbers")
        number = Reader(given, 1).number()
        bits = 7 * (len(given) - 1)
        total += number - (1 << bits) * (number >> (bits - 1) & 1)
    return b"\x41" + signed((total + 2**31) % 2**32 - 2**31)


def signed(number: int) -> bytes:
    """``number`` in signed LEB128."""
    out = bytearray()
    while not -64 <= number < 64:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number & 127)
    return bytes(out)


def leb(number: int) -> bytes:
    """``number`` in unsigned LEB128."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)
