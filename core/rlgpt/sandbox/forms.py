"""Reads requests of the guest whose arguments are floats (:mod:`rlgpt.sandbox.guest.floats`). The *form* of a yield is
all that the guest sends except the floats. A form is checked once, when it is first received. For each turn, the host
checks the number of the floats, their finiteness and their ranges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from operator import le
from struct import Struct
from typing import Any, NamedTuple

from rlgpt.domain import Scalar
from rlgpt.sandbox.checks import Checker, Refused
from rlgpt.sandbox.guest.floats import MARK, ORDER
from rlgpt.sandbox.turns import Ask, Request

KEPT = 256
"""Maximal number of forms that a checker keeps. A form has at most the length of a message."""


class Asked(NamedTuple):
    """A request of a form, without its floats.

    :ivar keys: names of the given arguments of the request; their values are the floats ``begin`` to ``end``.
    :ivar defaults: the defaults of all parameters of the primitive, in the order of the signature. If an argument is
        unknown or takes no float, ``defaults`` is None, and the checker must check the whole request.
    :ivar whole: whether all parameters are given, in the order of the signature.
    """

    name: str
    line: int | None
    keys: tuple[str, ...]
    begin: int
    end: int
    defaults: dict[str, Scalar] | None
    whole: bool


@dataclass(frozen=True, slots=True)
class Form:
    """A checked form.

    :ivar lows: for each float of the form, the lower bound; ``highs`` has the upper bounds. If a float is outside its
        bounds, the checker must check the whole request.
    """

    many: bool
    asked: tuple[Asked, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    read: Callable[[bytes], tuple[float, ...]]

    def ask(self, data: str, checker: Checker) -> Ask:
        """Return the checked requests whose floats are encoded in ``data``.

        :raises Refused: ``data`` is not hexadecimal, has a wrong length, or contains a float that is not finite (kind
            ``reply``). :meth:`Checker.request` lists further causes of a ``Refused`` error.
        """
        try:
            packed = bytes.fromhex(data)
        except ValueError:
            raise Refused("reply", "the guest's message contains floats that cannot be read") from None
        if len(packed) != 8 * len(self.lows) or len(data) != 2 * len(packed):  # `fromhex` skips white space.
            raise Refused("reply", f"the guest's message has {len(data)} characters for {len(self.lows)} floats")
        floats = self.read(packed)
        if not isfinite(sum(floats)) and not all(map(isfinite, floats)):
            raise Refused("reply", "the guest's message contains a number that is not finite")
        inside = all(map(le, self.lows, floats)) and all(map(le, floats, self.highs))
        requests = []
        for name, line, keys, begin, end, defaults, whole in self.asked:
            given: dict[str, Scalar] = dict(zip(keys, floats[begin:end]))  # noqa: B905 - the form has as many floats
            if inside and defaults is not None:
                requests.append(Request(name, given if whole else defaults | given, (), line))
            else:
                requests.append(checker.request(name, given, line))
        return Ask(tuple(requests), self.many)


def read(
    reply: str, checker: Checker, parse: Callable[[str], tuple[bool, list[tuple[str, int | None, list[str]]]]]
) -> Ask:
    """Return the checked requests in a reply that begins with :data:`MARK` and whose length was checked.

    :param parse: a function that reads a form that the checker does not know yet.
    :raises Refused: the form is not valid, or :meth:`Form.ask` raises the error.
    """
    parts = reply.split(MARK)
    if len(parts) != 3 or not reply.isascii():
        raise Refused("reply", "the guest sent something that is not a valid message")
    form = checker.forms.get(parts[1])
    if form is None:
        form = _form(*parse(parts[1]), checker)
        if len(checker.forms) >= KEPT:
            checker.forms.clear()
        checker.forms[parts[1]] = form
    asked: Ask = form.ask(parts[2], checker)
    return asked


def _form(many: bool, items: list[tuple[str, int | None, list[str]]], checker: Checker) -> Form:
    asked: list[Asked] = []
    lows: list[float] = []
    highs: list[float] = []
    for name, line, keys in items:
        begin = len(lows)
        spans: dict[str, tuple[Any, float, float]] = checker.spans.get(name, {})
        known = name in checker.spans and all(key in spans and spans[key][1] <= spans[key][2] for key in keys)
        for key in keys:
            _, low, high = spans[key] if known else (None, 0.0, 0.0)
            lows.append(low)
            highs.append(high)
        defaults = {key: parameter.default for key, (parameter, _, _) in spans.items()} if known else None
        asked.append(Asked(name, line, tuple(keys), begin, len(lows), defaults, keys == list(spans)))
    return Form(many, tuple(asked), tuple(lows), tuple(highs), Struct(f"{ORDER}{len(lows)}d").unpack)
