"""Reads packed requests of the guest (:mod:`rlgpt.sandbox.guest.floats`). The *form* of a yield is all that the guest
sends except the numbers. A form is checked once, when it is first received. For each turn, the host checks the length
of the numbers, their finiteness and their ranges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite
from operator import le
from struct import Struct
from typing import Any, NamedTuple

from rlgpt.domain import Parameter, Scalar
from rlgpt.sandbox.checks import Checker, Refused
from rlgpt.sandbox.guest.floats import KINDS, MARK
from rlgpt.sandbox.turns import Ask, Request

KEPT = 256
"""Maximal number of forms that a checker keeps. A form has at most the length of a message."""

_KINDS = frozenset(KINDS.values())


class Described(NamedTuple):
    """A request as a form describes it, before any check against the library.

    :ivar kinds: a character of :data:`~rlgpt.sandbox.guest.floats.KINDS` for each argument.
    :ivar keys: the names of the arguments.
    """

    name: str
    line: int | None
    kinds: str
    keys: tuple[str, ...]


class Asked(NamedTuple):
    """A request of a form, without its numbers.

    :ivar keys: names of the given arguments of the request; their values are the numbers ``begin`` to ``end``.
    :ivar defaults: the defaults of all parameters of the primitive, in the order of the signature. If an argument is
        unknown or its number must be converted, ``defaults`` is None, and the checker must check the whole request.
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

    :ivar lows: for each number of the form, the lower bound; ``highs`` has the upper bounds. If a number is outside its
        bounds, the checker must check the whole request.
    :ivar size: length of the numbers in bytes.
    :ivar read: reads the numbers at an offset of a message.
    """

    many: bool
    asked: tuple[Asked, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    size: int
    read: Callable[[bytes, int], tuple[Any, ...]]

    def ask(self, reply: bytes, begin: int, checker: Checker) -> Ask:
        """Return the checked requests whose numbers are the bytes of ``reply`` from ``begin`` to its end.

        :raises Refused: the numbers have a wrong length, or contain a float that is not finite (kind ``reply``).
            :meth:`Checker.request` lists further causes of a ``Refused`` error.
        """
        if len(reply) - begin != self.size:
            got = len(reply) - begin
            raise Refused("reply", f"the guest's message has {got} bytes for {len(self.lows)} numbers")
        numbers = self.read(reply, begin)
        if not isfinite(sum(numbers)) and not all(map(isfinite, numbers)):
            raise Refused("reply", "the guest's message contains a number that is not finite")
        inside = all(map(le, self.lows, numbers)) and all(map(le, numbers, self.highs))
        requests = []
        for name, line, keys, first, end, defaults, whole in self.asked:
            given: dict[str, Scalar] = dict(zip(keys, numbers[first:end]))  # noqa: B905 - the form has as many numbers
            if inside and defaults is not None:
                requests.append(Request(name, given if whole else defaults | given, (), line))
            else:
                requests.append(checker.request(name, given, line))
        return Ask(tuple(requests), self.many)


def read(reply: bytes, checker: Checker, parse: Callable[[bytes], tuple[bool, list[Described]]]) -> Ask:
    """Return the checked requests in a reply that begins with :data:`MARK` and whose length was checked.

    :param parse: a function that reads a form that the checker does not know yet.
    :raises Refused: the form is not valid, or :meth:`Form.ask` raises the error.
    """
    end = reply.find(MARK, 1)
    if end < 0:
        raise Refused("reply", "the guest sent something that is not a valid message")
    head = reply[1:end]
    form: Form | None = checker.forms.get(head)
    if form is None:
        form = _form(*parse(head), checker)
        if len(checker.forms) >= KEPT:
            checker.forms.clear()
        checker.forms[head] = form
    return form.ask(reply, end + 1, checker)


def described(item: Any, line: Callable[[Any], int | None]) -> Described:
    """Read a request of a form.

    :param line: a function that checks a line number.
    :raises Refused: ``item`` does not describe a request (kind ``reply``).
    """
    match item:
        case [str(name), number, str(kinds), *keys] if len(kinds) == len(keys) and _KINDS.issuperset(kinds):
            if all(isinstance(key, str) for key in keys):
                return Described(name, line(number), kinds, tuple(keys))
    raise Refused("reply", "the guest's message contains something that is not a request")


def _form(many: bool, items: list[Described], checker: Checker) -> Form:
    asked: list[Asked] = []
    lows: list[float] = []
    highs: list[float] = []
    for name, line, kinds, keys in items:
        begin = len(lows)
        spans: dict[str, tuple[Parameter, float, float]] = checker.spans.get(name, {})
        bounds = [_bounds(kind, spans[key][0]) if key in spans else None for kind, key in zip(kinds, keys, strict=True)]
        known = name in checker.spans and None not in bounds
        for low, high in (bound or (-inf, inf) for bound in bounds):
            lows.append(low)
            highs.append(high)
        defaults = {key: parameter.default for key, (parameter, _, _) in spans.items()} if known else None
        asked.append(Asked(name, line, keys, begin, len(lows), defaults, list(keys) == list(spans)))
    numbers = Struct("<" + "".join(item.kinds for item in items))
    return Form(many, tuple(asked), tuple(lows), tuple(highs), numbers.size, numbers.unpack_from)


def _bounds(kind: str, parameter: Parameter) -> tuple[float, float] | None:
    """The range in which a number of ``kind`` is a value of ``parameter`` without any change; None if there is no such
    range.
    """
    if (kind, parameter.kind) == (KINDS[bool], "bool"):
        return False, True
    if (kind, parameter.kind) not in ((KINDS[float], "float"), (KINDS[int], "int")):
        return None
    return None if parameter.low is None or parameter.high is None else (parameter.low, parameter.high)
