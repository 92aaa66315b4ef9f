"""Encodes numbers as bytes in what host and guest exchange. Most values in a view are numbers, and JSON would spend
most of its time on them.

The host packs views and outcomes (:func:`pack`); the guest unpacks them to equal values (:func:`reader`), with new
dicts and lists each time. Floats keep all their bits. Text, long ints and nested values are encoded as JSON.

A packed value has three parts. The first part is the *form*, which lists as JSON which keys of which dicts hold
numbers. An instance learns a form once, and then knows it by a number. The second part is the value without these
keys, as JSON; empty if nothing is left. The third part is the numbers, little-endian: first the floats, with 8 bytes
each, then the ints, with 8 bytes each, then the bools, with one byte each.

Requests whose arguments are all numbers (floats, ints of 64 bits, bools) are packed, too (:func:`pack_requests`). Such
a message begins with :data:`MARK`. The form of requests is the JSON of ``["ask", many, [[name, line, kinds, argument,
...], ...]]``, where ``kinds`` has one character of :data:`KINDS` for each argument. The numbers follow after another
:data:`MARK`, little-endian, in the order of the arguments. A yield in the code has the same form each time, so the host
checks this form only once (:mod:`rlgpt.sandbox.forms`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from math import isfinite
from struct import Struct, error
from struct import pack as to_bytes
from typing import Any, NamedTuple

MARK = b"\x1f"
"""Begins a message of packed requests, and ends its form. JSON contains this character only in escaped form."""

KINDS = {float: "d", int: "q", bool: "?"}
"""Type of an argument -> its character in the form of requests, which is the one of the module ``struct``."""

LEAST = 16
"""Minimal number of numbers that is worth a form if a part of the value stays JSON. A value that is numbers alone is
always packed.
"""

MOST = 15_000
"""Maximal size of a packed value. Numbers and JSON in UTF-8 together fit into the exchange."""

_FLOAT, _REST, _INT, _BOOL = -1, -2, -3, -4
"""Stand in a form for a number of floats: a float that is not in a list; a value that stays JSON; an int; a bool."""

_FLOATS = {float}

ORDER = "" if sys.byteorder == "little" else "<"
"""Native numbers are read and written faster, and equal little-endian ones on nearly every machine. The order of the
kinds of numbers leaves no gaps between them.
"""

LONGEST = 2048
"""Maximal length of the form of requests with 16 bytes for each number. Then the JSON of the requests is shorter than
the message that the host accepts by default, so the same requests are accepted as bytes and as JSON.
"""

Place = tuple[int | None, tuple[str, ...], tuple[int, ...]]
"""A dict with numbers: its index in the list, or None if it is the value itself; its keys; what each key holds."""


class Packed(NamedTuple):
    """A packed value.

    :ivar form: its form, as JSON.
    :ivar others: all that is no number, as JSON; empty if there is nothing else.
    :ivar data: the numbers.
    """

    form: str
    others: str
    data: bytes

    @property
    def size(self) -> int:
        """The length of the longer one of the numbers and of all else."""
        return max(len(self.data), len(self.form) + len(self.others))


def pack(value: Any, encode: Callable[[Any], str]) -> Packed | None:
    """Encode ``value`` with its numbers as bytes; None if ``value`` has too few numbers, or a float that is not finite.

    :param value: a dict, or a list of dicts.
    :param encode: a function that encodes a value as JSON.
    """
    floats: list[float] = []
    ints: list[int] = []
    bools: list[bool] = []
    places: list[Place] = []
    rest: Any = None
    if type(value) is dict:
        rest = _take(None, value, floats, ints, bools, places)
        others = bool(rest)
    elif type(value) is list:
        rest = [
            _take(i, item, floats, ints, bools, places) if type(item) is dict else item for i, item in enumerate(value)
        ]
        others = len(places) < len(value) or any(rest)
    if not places or (others and len(floats) < LEAST):
        return None
    if floats and (set(map(type, floats)) != _FLOATS or not isfinite(sum(floats))):
        return None
    form = _form(tuple(places), type(value) is list)
    if form is None:
        return None
    data = to_bytes(f"{ORDER}{len(floats)}d{len(ints)}q{len(bools)}?", *floats, *ints, *bools)
    return Packed(form, encode(rest) if others else "", data)


def _take(
    index: int | None,
    given: dict[str, Any],
    floats: list[float],
    ints: list[int],
    bools: list[bool],
    places: list[Place],
) -> dict[str, Any]:
    """Append the numbers of the dict ``given`` to ``floats``, ``ints`` and ``bools``, and the place of this dict to
    ``places``. Returns the other items of the dict.
    """
    rest, counts = {}, []
    for key, value in given.items():
        kind = type(value)
        if kind is list and value and type(value[0]) is float:
            floats += value
            counts.append(len(value))
        elif kind is float:
            floats.append(value)
            counts.append(_FLOAT)
        elif kind is bool:
            bools.append(value)
            counts.append(_BOOL)
        elif kind is int and -(2**63) <= value < 2**63:
            ints.append(value)
            counts.append(_INT)
        else:
            rest[key] = value
            counts.append(_REST)
    places.append((index, tuple(given), tuple(counts)))
    return rest


@lru_cache(maxsize=1024)
def _form(places: tuple[Place, ...], many: bool) -> str | None:
    """The form of a packed value as JSON; None if a key of a dict is not text, because JSON would change such a key."""
    if not all(isinstance(key, str) for _, keys, _ in places for key in keys):
        return None
    return json.dumps([many, places], separators=(",", ":"))


def reader(form: str, decode: Callable[[str], Any]) -> tuple[Callable[..., tuple[Any, ...]], Callable[..., Any]]:
    """Prepare to read packed values of a form.

    :param decode: a function that decodes JSON.
    :returns: a function that reads the numbers at an offset of a buffer, and a function that makes the value from these
        numbers and from the other parts as JSON.
    """
    many, places = decode(form)
    kinds = [count for _, _, counts in places for count in counts]
    floats = sum(count if count > 0 else count == _FLOAT for count in kinds)
    ints, bools = kinds.count(_INT), kinds.count(_BOOL)
    begins = {_FLOAT: 0, _INT: floats, _BOOL: floats + ints}
    plans: list[tuple[int | None, list[tuple[str, int | slice]]]] = []
    for index, keys, counts in places:
        picks: list[tuple[str, int | slice]] = []
        for key, count in zip(keys, counts, strict=True):
            kind = _FLOAT if count > 0 else count
            begin = begins.get(kind, 0)
            picks.append((key, slice(begin, begin + count) if count > 0 else begin))
            if kind != _REST:
                begins[kind] += count if count > 0 else 1
        plans.append((index, picks))

    def make(values: tuple[Any, ...], others: str) -> Any:
        numbers = list(values) or [None]  # A key that stays JSON picks any number, which is then replaced.
        if not many:
            made = {key: numbers[pick] for key, pick in plans[0][1]}
            if others:
                made.update(decode(others))  # The keys keep their order.
            return made
        if not others:
            return [{key: numbers[pick] for key, pick in picks} for _, picks in plans]
        made = decode(others)
        for index, picks in plans:
            made[index] = {key: numbers[pick] for key, pick in picks} | made[index]
        return made

    return Struct(f"{ORDER}{floats}d{ints}q{bools}?").unpack_from, make


_packers: dict[tuple[Any, ...], tuple[Callable[..., bytes] | None, bytes]] = {}


def pack_requests(many: bool, requests: Sequence[Any], encode: Callable[[Any, int], Iterable[str]]) -> bytes:
    """Encode requests with their arguments as bytes; empty if an argument is no number of :data:`KINDS` or does not fit
    64 bits, or if the message is too long.

    :param many: whether the code yielded a list of requests.
    :param requests: objects of the guest's class ``Request``.
    :param encode: a function that encodes a value as pieces of JSON.
    """
    known: tuple[Any, ...]
    numbers: Collection[Any]
    if many:
        numbers, key = [], []
        for request in requests:
            args = request.args
            if type(args) is not dict:  # The program has changed the request.
                return b""
            key.append((request.name, request.line, *args))
            numbers += args.values()
        known = (tuple(key), *map(type, numbers))
    else:
        (request,) = requests
        args = request.args
        if type(args) is not dict:
            return b""
        numbers = args.values()
        known = (request.name, request.line, *args, *map(type, numbers)) if args else (request.name, request.line)
    packer = _packers.get(known)
    if packer is None:
        packer = _learn(known, many, requests, encode)
    packs, head = packer
    if not numbers:
        return head
    if packs is None:
        return b""
    try:
        return packs(head, *numbers)
    except error:  # An int has more than 64 bits.
        return b""


def _learn(
    known: tuple[Any, ...], many: bool, requests: Sequence[Any], encode: Callable[[Any, int], Iterable[str]]
) -> tuple[Callable[..., bytes] | None, bytes]:
    """Prepare to pack requests with equal names, lines, arguments and types of arguments."""
    if len(_packers) > 64:
        _packers.clear()
    kinds = ["".join([KINDS.get(type(value), "-") for value in request.args.values()]) for request in requests]
    packer: tuple[Callable[..., bytes] | None, bytes] = (None, b"")
    every = "".join(kinds)
    if "-" not in every:
        items = [(r.name, r.line, kind, *r.args) for r, kind in zip(requests, kinds, strict=True)]
        head = MARK + "".join(encode(("ask", many, items), 0)).encode() + MARK
        if len(head) + 16 * len(every) <= LONGEST:
            packer = Struct(f"<{len(head)}s{every}").pack, head
    _packers[known] = packer
    return packer
