"""Texts in which floats cross as bytes. Most of a view is floats, and JSON spends most of its time on them.

The host packs views and outcomes (:func:`pack`); the guest makes equal values of them (:func:`unpack`), with new dicts
and lists at each call. Floats keep all their bits. Ints, bools, text and nested values stay JSON.

A text of the host has three parts, each after :data:`MARK`: the *form* (which keys of which dicts hold floats, as
JSON), the value without these keys (as JSON), and the floats (8 bytes each, little-endian; each byte is the character
of this number).

Requests whose arguments are all floats cross in the same way (:func:`pack_requests`): the form is the JSON of
``["ask", many, [[name, line, argument, ...], ...]]``, and the floats follow in hexadecimal digits. A yield of a program
has the same form each time, so the host checks the form once (:mod:`rlgpt.sandbox.forms`).
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
    :ivar others: number of characters of all that is not float.
    """

    text: str
    size: int
    others: int


def pack(value: Any, encode: Callable[[Any], str]) -> Packed | None:
    """``value`` as a text with floats; None if it has too few of them, or if one of them is not finite.

    :param value: a dict, or a list of dicts.
    :param encode: makes JSON of what stays JSON.
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
    """Append the floats of a dict to ``floats``, and its place to ``places``. Returns what is left of the dict."""
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
    """The form as JSON; None if a key is no text, which JSON would change."""
    keys = chain.from_iterable(keys for _, keys, _ in places)
    return json.dumps(places, separators=(",", ":")) if all(isinstance(key, str) for key in keys) else None


def unpack(text: str, decode: Callable[[str], Any]) -> Any:
    """The value of a text of :func:`pack`.

    :param decode: reads JSON.
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
    """What :func:`unpack` needs for a form: what reads the floats, and the place of each dict's values among them."""
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
    """Requests as a text with floats; empty if an argument is no float, or the text is too long.

    :param many: whether the program yielded a list.
    :param requests: of the class ``Request`` of the guest.
    :param encode: makes pieces of JSON.
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
