"""Reads the bodies of WebAssembly functions, and replaces the numbers that linking changes."""

from __future__ import annotations

from collections.abc import Iterator

from rlgpt.sandbox.wasm_format import FUNC, GLOBAL, Item, LinkError, Reader, leb


class Body:
    """The body of a function, instruction by instruction."""

    def __init__(self, function: Item, types: dict[bytes, int]) -> None:
        assert function.owner is not None
        self._owner, self._types, self._body = function.owner, types, function.body
        self._places = list(self._numbers())

    def called(self) -> list[Item]:
        """The functions that the function names."""
        functions = self._owner.spaces[FUNC]
        return [functions[number] for opcode, number, _, _ in self._places if opcode in (0x10, 0x12, 0xD2)]

    def assigned(self) -> list[Item]:
        """The globals that the function may assign."""
        return [self._owner.spaces[GLOBAL][number] for opcode, number, _, _ in self._places if opcode == 0x24]

    def linked(self) -> bytes:
        """The body with the index spaces of the linked module. A global that no function assigns is a constant."""
        functions, tables, _, globals_ = self._owner.spaces
        out, copied = bytearray(), 0
        for opcode, number, begin, end in self._places:
            if opcode in (0x10, 0x12, 0xD2):
                new = leb(functions[number].number)
            elif opcode in (0x02, 0x11):
                new = leb(self._types.setdefault(self._owner.types[number], len(self._types)))
            elif opcode == 0x04:
                new = leb(tables[number].number)
            elif opcode == 0x23 and globals_[number].constant:
                begin -= 1
                new = globals_[number].value
            else:
                new = leb(globals_[number].number)
            out += self._body[copied:begin]
            out += new
            copied = end
        return bytes(out + self._body[copied:])

    def _numbers(self) -> Iterator[tuple[int, int, int, int]]:
        """The numbers of functions, types, tables and globals in the body: the opcode (0x02 for a type, 0x04 for a
        table), the number, and the place of its LEB128.
        """
        reader = Reader(self._body)
        for _ in range(reader.number()):
            reader.skip()
            reader.byte()
        body, end = self._body, len(self._body)
        while reader.at < end:
            at = reader.at
            opcode = body[at]
            reader.at = at + 1
            shape = _SHAPES[opcode]
            if shape == "":
                continue
            if shape == "n":
                while body[reader.at] >= 128:
                    reader.at += 1
                reader.at += 1
            elif shape == "m":
                if body[at + 1] & 0x40:
                    raise LinkError("a function uses a second memory")
                reader.skip()
                reader.skip()
            elif shape == "x":
                number = reader.number()
                yield opcode, number, at + 1, reader.at
                if opcode == 0x11:
                    yield from self._table(reader)
            elif shape == "b":
                if body[at + 1] & 0x40:  # A value type or none; the number of a type is not negative.
                    reader.at += 1
                else:
                    number = reader.number()
                    yield 0x02, number, at + 1, reader.at
            elif shape == "t":
                yield from self._table(reader)
            elif shape == "l":
                for _ in range(reader.number() + 1):
                    reader.skip()
            elif shape == "p":
                self._skip_prefixed(opcode, reader)
            elif shape == "?":
                raise LinkError(f"a function has the opcode {opcode:#x}")
            else:
                reader.at += int(shape)

    @staticmethod
    def _table(reader: Reader) -> Iterator[tuple[int, int, int, int]]:
        begin = reader.at
        number = reader.number()
        yield 0x04, number, begin, reader.at

    @staticmethod
    def _skip_prefixed(opcode: int, reader: Reader) -> None:
        kind = reader.number()
        if opcode == 0xFC and kind < 8:
            return
        if opcode == 0xFC and kind in (10, 11):
            reader.at += 12 - kind
            return
        raise LinkError(f"a function has the opcode {opcode:#x} {kind}")


def _shapes() -> list[str]:
    """For each opcode, the kind of its operands: "" none, "n" a number, "m" a place in memory, "x" a number to be
    linked, "b" a block's type, "t" a table, "l" a list of labels, "p" a second opcode, "?" not known, or bytes.
    """
    shapes = ["?"] * 256
    for opcodes, shape in (
        ((0x00, 0x01, 0x05, 0x0B, 0x0F, 0x1A, 0x1B, 0xD1, *range(0x45, 0xC5)), ""),
        ((0x0C, 0x0D, 0x20, 0x21, 0x22, 0x41, 0x42), "n"),
        (range(0x28, 0x3F), "m"),
        ((0x10, 0x11, 0x12, 0x23, 0x24, 0xD2), "x"),
        ((0x02, 0x03, 0x04), "b"),
        ((0x25,), "t"),
        ((0x0E,), "l"),
        ((0xFC,), "p"),
        ((0x3F, 0x40, 0xD0), "1"),
        ((0x43,), "4"),
        ((0x44,), "8"),
    ):
        for opcode in opcodes:
            shapes[opcode] = shape
    return shapes


_SHAPES = _shapes()
