"""Reads the guest's messages. The guest may be hostile, so a message of the guest can be any bytes."""

from __future__ import annotations

import json
import math
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn

from rlgpt.domain import VerdictKind
from rlgpt.sandbox import forms
from rlgpt.sandbox.checks import Checker, Refused
from rlgpt.sandbox.guest.floats import MARK
from rlgpt.sandbox.guest.packing import PackingError, pack, unpack
from rlgpt.sandbox.limits import SandboxLimits
from rlgpt.sandbox.turns import Ask, Done, Request


class Loaded(NamedTuple):
    """What a source that the guest has loaded defines.

    :ivar takes_memory: whether ``run`` or ``can_start`` has an argument ``memory``.
    """

    can_start: bool
    takes_memory: bool


_GUEST_KINDS: dict[str, VerdictKind] = {
    "error": "error",
    "type": "type",
    "load": "load",
    "primitive": "primitive",
}

DEPTH = 64
"""Maximal depth of nested lists and objects in a message. A regular message has four levels."""


def parse(reply: bytes, limit: int) -> list[Any]:
    """Parse a message of the guest, which must be a JSON list.

    :param limit: maximal number of bytes of the guest's message. The length of the guest's message is checked before
        the message is parsed.
    :raises Refused: the message is too long, not UTF-8, not JSON, nested too deeply, not a list, or contains NaN or an
        infinity (kind ``reply``).
    """
    _check_length(reply, limit)
    try:
        text = reply.decode()
    except UnicodeDecodeError:
        raise Refused("reply", "the guest's message is not text") from None
    if text.count("[") + text.count("{") > DEPTH and _depth(text) > DEPTH:
        raise Refused("reply", "the guest's message is nested too deeply")
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError, MemoryError) as error:
        raise Refused("reply", f"the guest's message cannot be read: {type(error).__name__}") from None
    if end != len(text) or not isinstance(value, list) or not value or not isinstance(value[0], str):
        raise Refused("reply", "the guest sent something that is not a valid message")
    return value


def _check_length(reply: bytes, limit: int) -> None:
    if len(reply) > limit:
        raise _too_long(len(reply), limit)


def _too_long(size: int, limit: int) -> Refused:
    return Refused("reply", f"one yield may send at most {limit} bytes, got {size} characters")


def too_long(begin: bytes, size: int, limits: SandboxLimits) -> Refused:
    """The exception for a message that exceeds every limit.

    :param begin: the first bytes of the message.
    :param size: length of the message in bytes.
    """
    return _memory_too_long(size, limits) if begin.startswith(_MEMORY) else _too_long(size, limits.reply_bytes)


def _depth(reply: str) -> int:
    """The maximal depth of nested brackets in a message of the guest. Python's own limit on the nesting of JSON depends
    on the caller's stack, but verdicts must not depend on the caller.
    """
    deepest = depth = 0
    quoted = escaped = False
    for char in reply:
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = quoted
        elif char == '"':
            quoted = not quoted
        elif not quoted and char in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif not quoted and char in "]}":
            depth -= 1
    return deepest


def turn(reply: bytes, checker: Checker, limits: SandboxLimits) -> Ask | Done:
    """Read and check the guest's message after a turn.

    :raises Refused: the guest's message is not valid, or reports an error. The exception has the kind of the verdict
        that the caller makes from it.
    """
    if reply.startswith(MARK):
        _check_length(reply, limits.reply_bytes)
        return forms.read(reply, checker, lambda head: _head(head, limits))
    match parse(reply, limits.reply_bytes):
        case ["done"]:
            return Done()
        case ["ask", bool(many), list(items)] if items and (many or len(items) == 1):
            _check_count(items, limits)
            return Ask(tuple([_request(item, checker) for item in items]), many)
        case other:
            raise _refusal(other, limits)


def _check_count(items: list[Any], limits: SandboxLimits) -> None:
    if len(items) > limits.requests:
        raise Refused("type", f"one yield may contain at most {limits.requests} requests, got {len(items)}")


def _head(head: bytes, limits: SandboxLimits) -> tuple[bool, list[forms.Described]]:
    """Read the form of packed requests. Returns whether the guest yielded a list of requests, and the requests.

    :raises Refused: the form of the requests is not valid.
    """
    match parse(head, limits.reply_bytes):
        case ["ask", bool(many), list(items)] if items and (many or len(items) == 1):
            _check_count(items, limits)
            return many, [forms.described(item, _line) for item in items]
    raise Refused("reply", "the guest sent something that is not a valid message")


def loaded(reply: bytes, limits: SandboxLimits) -> Loaded:
    """Read the guest's message after the guest has loaded a source.

    :raises Refused: the guest could not load the source, or the guest's message is not valid.
    """
    match parse(reply, limits.reply_bytes):
        case ["loaded", bool(can_start), bool(takes_memory)]:
            return Loaded(can_start, takes_memory)
        case other:
            raise _refusal(other, limits)


_MEMORY = b'["memory",'
_OVERHEAD = len(_MEMORY) + 1


def _memory_too_long(size: int, limits: SandboxLimits) -> Refused:
    return Refused("memory", f"`memory` takes {size - _OVERHEAD} bytes as JSON; at most {limits.shared_bytes} are kept")


def memory(reply: bytes, limits: SandboxLimits) -> str:
    """Read the guest's message with the shared memory after a call. The shared memory is returned as JSON text.

    :raises Refused: the shared memory is too large or not valid.
    """
    if reply.startswith(_MEMORY) and len(reply) - _OVERHEAD > limits.shared_bytes:
        raise _memory_too_long(len(reply), limits)
    match parse(reply, limits.shared_bytes + max(_OVERHEAD, limits.reply_bytes)):
        case ["memory", packed]:
            try:
                value = unpack(packed)
                text = json.dumps(pack(value), separators=(",", ":"))
            except PackingError:
                value, text = None, ""
            if not isinstance(value, dict) or len(text) > limits.shared_bytes:
                raise Refused("reply", "the guest's message is not a memory")
            return text
        case other:
            raise _refusal(other, limits)


def answer(reply: bytes, limits: SandboxLimits) -> bool:
    """Read the guest's message with the answer of ``can_start``.

    :raises Refused: ``can_start`` failed, or the guest's message is not valid.
    """
    return answers(reply, limits, 1)[0]


def answers(reply: bytes, limits: SandboxLimits, count: int) -> tuple[bool, ...]:
    """Read the guest's message with the answers of ``can_start`` of ``count`` actions.

    :raises Refused: a ``can_start`` failed, or the guest's message is not valid.
    """
    most = limits.reply_bytes + (count - 1) * len(",false")
    flags = _flags(reply, most)
    if len(flags) != count:
        raise _refusal(parse(reply, most), limits)
    return flags


@lru_cache(maxsize=256)
def _flags(reply: bytes, most: int) -> tuple[bool, ...]:
    """The answers in a message; empty if it is another message. There are few different messages with answers."""
    match parse(reply, most):
        case ["answer", *flags] if all(isinstance(flag, bool) for flag in flags):
            return tuple(flags)
    return ()


def value(reply: bytes, limits: SandboxLimits) -> bool | float | dict[str, float]:
    """Read the guest's message with the return value of a feature, reward term or predicate. The caller must check the
    returned value.

    :raises Refused: the coded function failed, or the guest's message is not valid.
    """
    match parse(reply, limits.reply_bytes):
        case ["value", bool() | int() | float() as number]:
            return number if isinstance(number, bool) else _float(number)
        case ["value", dict(numbers)]:
            return {name: _float(number) for name, number in numbers.items()}
        case other:
            raise _refusal(other, limits)


def _float(number: Any) -> float:
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise Refused("reply", "the guest's message contains something that is not a number")
    try:
        return float(number)
    except OverflowError:
        raise Refused("reply", "the guest's message contains a number that is too large for a float") from None


def _refusal(message: list[Any], limits: SandboxLimits) -> Refused:
    """The exception for an error that the guest reports. Every field of the guest's message is checked."""
    match message:
        case ["error", "memory", str(text), line]:
            most = f"; an instance has {limits.memory_bytes / 2**20:g} MiB, the interpreter's own included"
            return Refused("memory", text[: 500 - len(most)] + most, _line(line))
        case ["error", str(kind), str(text), line] if kind in _GUEST_KINDS:
            return Refused(_GUEST_KINDS[kind], text[:500], _line(line))
        case _:
            return Refused("reply", "the guest sent something that is not a valid message")


def _request(item: Any, checker: Checker) -> Request:
    if isinstance(item, list) and len(item) == 3:
        name, args, line = item
        if isinstance(name, str) and isinstance(args, dict):
            return checker.request(name, args, _line(line))
    raise Refused("reply", "the guest's message contains something that is not a request")


def _line(line: Any) -> int | None:
    return line if type(line) is int and 0 < line < 1_000_000 else None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number is too large for a float")
    return value


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)
