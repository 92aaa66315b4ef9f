"""JSON from a stranger: its depth, its numbers and its keys are checked before a model reads it."""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from rlgpt.errors import RlgptError

M = TypeVar("M")

MAX_DEPTH = 100
"""Brackets in one another. A run's deepest file has about 12."""
MAX_CONTAINERS = 2_000_000
"""Lists and objects in one file: each takes far more memory than the characters that make it."""
_MAX_INT = 1 << 63
_MAX_DIGITS = 400
"""Characters of one number: more than any float needs."""
_TOKENS = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)


class _Refused(ValueError):
    """Valid JSON that is not read."""


def parse_json(text: str) -> Any:
    """The value of ``text``.

    :raises ValueError: it is not JSON, is nested too deeply, has a number out of range or a key twice. The message says
        which.
    """
    _check_depth(text)
    return json.loads(text, parse_int=_integer, parse_float=_float, object_pairs_hook=_object)


def read_json(text: str, kind: type[M] | TypeAdapter[M], where: object, error: type[RlgptError], advice: str = "") -> M:
    """The value that ``text`` holds.

    :param kind: its type: a pydantic model, or an adapter of any type that pydantic can validate.
    :param where: what the message begins with: the file, perhaps the line.
    :param advice: what to do, a sentence.
    :raises RlgptError: of class ``error``; it is not read, or not of that type.
    """
    name = "value" if isinstance(kind, TypeAdapter) else kind.__name__
    try:
        parse_json(text)
        if isinstance(kind, TypeAdapter):
            return kind.validate_json(text)
        assert issubclass(kind, BaseModel)
        return kind.model_validate_json(text)
    except ValueError as fault:
        raise error(f"{where} does not hold a valid {name}: {_reason(fault)[:400]}. {advice}".rstrip()) from fault


def _reason(fault: ValueError) -> str:
    if not isinstance(fault, ValidationError):
        return str(fault)
    first = fault.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"])) or "the whole"
    return f"{place[:200]}: {first['msg']}"


def _check_depth(text: str) -> None:
    depth = containers = 0
    for token in _TOKENS.finditer(text):
        first = text[token.start()]
        if first in "[{":
            depth, containers = depth + 1, containers + 1
            if depth > MAX_DEPTH:
                raise _Refused(f"brackets are nested more than {MAX_DEPTH} deep")
            if containers > MAX_CONTAINERS:
                raise _Refused(f"there are more than {MAX_CONTAINERS:,} lists and objects")
        elif first in "]}":
            depth -= 1


def _integer(text: str) -> int:
    if len(text) > 20 or not -_MAX_INT <= int(text) < _MAX_INT:
        raise _Refused(f"an integer of {len(text.lstrip('-'))} digits does not fit into 64 bits")
    return int(text)


def _float(text: str) -> float:
    if len(text) > _MAX_DIGITS:
        raise _Refused(f"a number of {len(text)} characters is too long")
    return float(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            raise _Refused(f"the key {key[:60]!r} stands twice")
        values[key] = value
    return values
