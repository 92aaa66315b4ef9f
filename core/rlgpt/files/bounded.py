"""Reads untrusted JSON. Nesting, numbers and keys of the JSON text are checked before a pydantic model reads the
values.
"""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from rlgpt.errors import RlgptError

M = TypeVar("M")

MAX_DEPTH = 100
"""Maximal depth of nested brackets. The deepest file of a run has about 12 levels."""
MAX_CONTAINERS = 2_000_000
"""Maximal number of lists and objects in one file. A list or object takes far more memory than its characters."""
_MAX_INT = 1 << 63
_MAX_DIGITS = 400
"""Maximal length of a number in characters. No float needs more characters."""
_TOKENS = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)


class _Refused(ValueError):
    """The JSON text exceeds a limit, or contains a key of an object twice."""


def parse_json(text: str) -> Any:
    """Parse ``text``.

    :raises ValueError: the text is not JSON, is nested too deeply, contains a number out of range, or contains a key of
        an object twice. The error message states the fault.
    """
    _check_depth(text)
    return json.loads(text, parse_int=_integer, parse_float=_float, object_pairs_hook=_object)


def read_json(
    text: str,
    kind: type[M] | TypeAdapter[M],
    where: object,
    error: type[RlgptError],
    advice: str = "",
    *,
    version: int | None = None,
) -> M:
    """Parse and validate ``text``.

    :param kind: the type of the value in the text: a pydantic model, or an adapter of any type that pydantic can
        validate.
    :param where: the beginning of an error message, which names the file, and the line if the file has several lines.
    :param advice: one sentence in the error message that tells the user what to do.
    :param version: the value that ``schema_version`` must have in the JSON text. If ``version`` is None, any schema
        version is valid.
    :raises RlgptError: (an error of the class ``error``) the text exceeds a limit, has another schema version, or does
        not fit the type ``kind``.
    """
    name = "value" if isinstance(kind, TypeAdapter) else kind.__name__
    try:
        raw = parse_json(text)
        given = raw.get("schema_version") if isinstance(raw, dict) else None
        if version is not None and given != version:
            raise error(f"{where} has schema version {given!r:.40}; this version of rlgpt reads {version}.")
        if isinstance(kind, TypeAdapter):
            return kind.validate_json(text)
        assert issubclass(kind, BaseModel)
        return kind.model_validate_json(text)
    except ValueError as fault:
        raise error(f"{where} does not contain a valid {name}: {_reason(fault)[:400]}. {advice}".rstrip()) from fault


def _reason(fault: ValueError) -> str:
    if not isinstance(fault, ValidationError):
        return str(fault)
    first = fault.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"])) or "the whole"
    return f"{place[:200]}: {first['msg']}"


def _check_depth(text: str) -> None:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return  # The count of brackets shows for most texts that the limit holds, in a hundredth of the time.
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
    if len(text) > 20 or not -_MAX_INT <= (value := int(text)) < _MAX_INT:
        raise _Refused(f"an integer of {len(text.lstrip('-'))} digits does not fit into 64 bits")
    return value


def _float(text: str) -> float:
    if len(text) > _MAX_DIGITS:
        raise _Refused(f"a number of {len(text)} characters is too long")
    return float(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            raise _Refused(f"the key {key[:60]!r} occurs twice")
        values[key] = value
    return values
