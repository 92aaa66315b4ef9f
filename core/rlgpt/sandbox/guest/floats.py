"""Encodes floats as bytes in the texts that host and guest exchange. Most values in a view are floats, and JSON would
spend most of its time on these floats.

The host packs views and outcomes (:func:`pack`); the guest unpacks them to equal values (:func:`unpack`), with new
dicts and lists at each call. Floats keep all their bits. Ints, bools, text and nested values are encoded as JSON.

A text of the host has three parts, each after :data:`MARK`. The first part is the *form*, which lists as JSON which
keys of which dicts hold floats. The second part is the value without these keys, as JSON. The third part of the text is
the floats, with 8 bytes each (little-endian), and with one character for each byte.

Requests whose arguments are all floats are encoded in the same way (:func:`pack_requests`). The form of requests is the
JSON of ``["ask", many, [[name, line, argument, ...], ...]]``, and the floats follow in hexadecimal digits. A yield in
the code has the same form each time, so the host checks this form only once (:mod:`rlgpt.sandbox.forms`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from math import isfinite
from struct import Struct
from struct import pack as to_bytes
from typing import Any, NamedTuple

MARK = "\x1f"
"""Begins a text with floats, and separates its parts. JSON contains this character only in escaped form."""

LEAST = 4
"""Minimal number of floats of a dict, in lists or alone, that is worth the form."""

_FLOAT, _REST = -1, -2
"""Stand in a form for a number of floats: a float that is not in a list; a value that stays JSON."""

_FLOATS = {float}

LONGEST = 2048
"""Maximal length of a text of requests. JSON of short numbers can be shorter, and the host limits the length."""

Place = tuple[int | None, tuple[str, ...], tuple[int, ...]]
"""A dict with floats: its index in the list, or None if it is the value itself; its keys; what each key holds."""


class Packed(NamedTuple):
    """A text with floats.

    :ivar size: number of bytes of the floats.
    :ivar others: number of characters of the text that do not encode floats.
    """

    text: str
    size: int
    others: int


def pack(value: Any, encode: Callable[[Any], str]) -> Packed | None:
    """Encode ``value`` as a text with its floats as bytes; None if ``value`` has too few floats, or a float that is not
    finite.

    :param value: a dict, or a list of dicts.
    :param encode: a function that encodes a value as JSON.
    """
    floats: list[float] = []
    places: list[Place] = []
    if type(value) is dict:
        rest: Any = _take(None, value, floats, places)
    elif type(value) is list:
        rest = [_take(i, item, floats, places) if type(item) is dict else item for i, item in enumerate(value)]
    if not floats or not isfinite(sum(floats)) or (form := _form(tuple(places))) is None:
        return None
    others = encode(rest) if rest else "{}"
    data = to_bytes(f"<{len(floats)}d", *floats).decode("latin-1")
    return Packed(f"{MARK}{form}{MARK}{others}{MARK}{data}", 8 * len(floats), len(form) + len(others))


def _take(index: int | None, given: dict[str, Any], floats: list[float], places: list[Place]) -> dict[str, Any]:
    """Append the floats of the dict ``given`` to ``floats``, and the place of this dict to ``places``. Returns the
    other items of the dict.
    """
    rest, counts, before = {}, [], len(floats)
    for key, value in given.items():
        kind = type(value)
        if kind is list and value and type(value[0]) is float and set(map(type, value)) == _FLOATS:
            floats += value
            counts.append(len(value))
        elif kind is float:
            floats.append(value)
            counts.append(_FLOAT)
        else:
            rest[key] = value
            counts.append(_REST)
    if len(floats) - before < LEAST:
        del floats[before:]
        return given
    places.append((index, tuple(given), tuple(counts)))
    return rest


@lru_cache(maxsize=1024)
def _form(places: tuple[Place, ...]) -> str | None:
    """The form of a text as JSON; None if a key of a dict is not text, because JSON would change such a key."""
    keys = chain.from_iterable(keys for _, keys, _ in places)
    return json.dumps(places, separators=(",", ":")) if all(isinstance(key, str) for key in keys) else None


def unpack(text: str, decode: Callable[[str], Any]) -> Any:
    """Return the value that :func:`pack` encoded as ``text``.

    :param decode: a function that decodes JSON.
    """
    _, form, others, data = text.split(MARK, 3)
    floats_of, places = _plan(form)
    floats = list(floats_of(data.encode("latin-1")))
    value = decode(others)
    for index, keys, picks in places:
        rest = value if index is None else value[index]
        made = dict(zip(keys, map(floats.__getitem__, picks), strict=False))
        if rest:
            made.update(rest)  # The keys keep their order.
        if index is None:
            value = made
        else:
            value[index] = made
    return value


@lru_cache(maxsize=64)
def _plan(form: str) -> tuple[Callable[[bytes], tuple[float, ...]], list[tuple[int | None, list[str], list[Any]]]]:
    """Prepare :func:`unpack` for a form. Returns a function that reads the floats, and the positions of each dict's
    values among the floats.
    """
    begin, places = 0, []
    for index, keys, counts in json.loads(form):
        picks: list[slice | int] = []
        for count in counts:
            picks.append(slice(begin, begin + count) if count > 0 else begin if count == _FLOAT else 0)
            begin += count if count > 0 else count == _FLOAT
        places.append((index, keys, picks))
    return Struct(f"<{begin}d").unpack, places


_heads: dict[tuple[Any, ...], str] = {}


def pack_requests(many: bool, requests: Sequence[Any], encode: Callable[[Any, int], Iterable[str]]) -> str:
    """Encode requests as a text with floats as bytes; empty if an argument is not a float, or if the text is too long.

    :param many: whether the code yielded a list of requests.
    :param requests: objects of the guest's class ``Request``.
    :param encode: a function that encodes a value as pieces of JSON.
    """
    floats: list[float] = []
    key: list[Any] = [many]
    for request in requests:
        args = request.args
        if not request.plain or type(args) is not dict:
            return ""
        key += request.name, request.line, *args
        floats += args.values()
    if not set(map(type, floats)) <= _FLOATS:  # The program has changed the arguments of a request.
        return ""
    known = tuple(key)
    head = _heads.get(known)
    if head is None:
        if len(_heads) > 64:
            _heads.clear()
        items = [(request.name, request.line, *request.args) for request in requests]
        head = _heads[known] = f"{MARK}{''.join(encode(('ask', many, items), 0))}{MARK}"
    text = head + to_bytes(f"<{len(floats)}d", *floats).hex()
    return text if len(text) <= LONGEST else ""
