"""The guest's side of the exchange, which is the part of the guest's memory that the host reads and writes
(:mod:`rlgpt.sandbox.binding`).

The exchange begins with the length and address of the reply (no address if the reply stands at :data:`_BEGIN`), and
the lengths of the texts that the host has written. The texts begin at :data:`_BEGIN`.
"""

import struct
from collections.abc import Callable
from typing import Any

EXCHANGE = memoryview(bytearray(1 << 16))
_BEGIN = 32
_IN_BYTES = bytes.__basicsize__ - 1
"""Offset of the content in an object of type ``bytes``."""

_lengths = struct.Struct("<5I").unpack_from
_length = struct.Struct("<I").unpack_from
_SHORT = 768
_numbers = struct.Struct("<3I").unpack_from
_short = struct.Struct(f"<2I24x{_SHORT}s").pack_into
_long = struct.Struct("<2I").pack_into
_pieces: list[bytes] = []
_sent = b""


def keep_piece() -> None:
    """Keep a piece of texts that are too long for the exchange."""
    _pieces.append(bytes(EXCHANGE[_BEGIN : _BEGIN + _lengths(EXCHANGE, 8)[0]]))


def kept() -> bytes:
    """The texts whose pieces were kept."""
    data = b"".join(_pieces)
    _pieces.clear()
    return data


def texts(count: int) -> list[str]:
    """The first ``count`` texts that the host has written."""
    data, begin, found = EXCHANGE, _BEGIN, []
    if _pieces:
        data, begin = memoryview(kept()), 0
    for length in _lengths(EXCHANGE, 8)[:count]:
        found.append(str(data[begin : begin + length], "utf-8"))
        begin += length
    return found


def text() -> str:
    """The only text that the host has written."""
    if _pieces:
        return texts(1)[0]
    (length,) = _length(EXCHANGE, 8)
    return str(EXCHANGE[_BEGIN : _BEGIN + length], "utf-8")


def send(reply: str | bytes) -> None:
    """Write where the host finds ``reply``, which stays there until the next reply."""
    global _sent
    # The program can replace `isinstance`.
    data = reply if type(reply) is bytes else str.encode(reply)  # type: ignore[arg-type]
    if len(data) <= _SHORT:
        _short(EXCHANGE, 0, len(data), 0, data)
    else:
        _sent = data
        _long(EXCHANGE, 0, len(data), id(data) + _IN_BYTES)


def values() -> tuple[str, object]:
    """The name and the value that the host has written, the value as numbers of a known form."""
    name, form, others = _numbers(EXCHANGE, 8)
    begin = _BEGIN + name
    read, make = _forms[form]
    rest = str(EXCHANGE[begin : begin + others], "utf-8") if others else ""
    made = make(read(EXCHANGE, begin + others), rest)
    return str(EXCHANGE[_BEGIN:begin], "utf-8") if name else "", made


_forms: dict[int, Any] = {}


def learn(prepare: Callable[[str], Any]) -> None:
    """Learn the form that the host has written, in place of an older form with the same number.

    :param prepare: a function that prepares to read values of a form.
    """
    length, form, _ = _numbers(EXCHANGE, 8)
    _forms[form] = prepare(str(EXCHANGE[_BEGIN : _BEGIN + length], "utf-8"))
