"""Checks the requests of the guest. A *request* is a call of a primitive, with arguments, that the guest sends to the
host. The library lists the valid primitives.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from typing import Any

from rlgpt.domain import Parameter, Scalar, VerdictKind
from rlgpt.sandbox.library import OBSERVE, Library, Signature
from rlgpt.sandbox.printable import printable
from rlgpt.sandbox.turns import Request


class Refused(Exception):
    """The host does not accept an input from the guest. The code that catches this exception makes a verdict of kind
    ``kind`` from it.

    :ivar message: the reason, as printable text.
    :ivar line: the number of the source line that caused the refusal; None if the line is not known.
    """

    def __init__(self, kind: VerdictKind, message: str, line: int | None = None) -> None:
        self.kind, self.message, self.line = kind, printable(message), line
        super().__init__(self.message)


class Checker:
    """Checks requests against one library.

    :ivar spans: for each argument of each primitive, its parameter, and the range in which a float needs no change.
    :ivar forms: the forms of requests that were checked before (:mod:`rlgpt.sandbox.forms`).
    """

    def __init__(self, library: Library) -> None:
        self.signatures: Mapping[str, Signature] = {OBSERVE: Signature(name=OBSERVE)} | {
            s.name: s for s in library.primitives
        }
        self.spans = {name: {p.name: (p, *_span(p)) for p in s.parameters} for name, s in self.signatures.items()}
        self.forms: dict[bytes, Any] = {}

    def request(self, name: str, args: Mapping[str, Any], line: int | None) -> Request:
        """Return the checked request, in which missing arguments have their defaults and numbers are clipped into their
        ranges.

        :raises Refused: the library has no primitive ``name`` (kind ``primitive``), or an argument is unknown or has a
            wrong type or value (kind ``type``).
        """
        parameters = self.spans.get(name)
        if parameters is None:
            near = difflib.get_close_matches(name[:40], self.signatures, n=1, cutoff=0.5)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise Refused(
                "primitive", f"there is no primitive {name[:40]!r}.{hint} Valid: {_list(self.signatures)}", line
            )
        for key in args:
            if key not in parameters:
                raise Refused("type", f"{name} has no argument {key[:40]!r}; valid: {_list(parameters)}", line)
        values: dict[str, Scalar] = {}
        clipped = []
        for key, (parameter, low, high) in parameters.items():
            if key not in args:
                values[key] = parameter.default
                continue
            given = args[key]
            if type(given) is float and low <= given <= high:  # The usual case is checked without a function call.
                values[key] = given
                continue
            value, outside = fit(parameter, given, name, line)
            values[key] = value
            if outside:
                clipped.append(key)
        return Request(name, values, tuple(clipped), line)


def _span(parameter: Parameter) -> tuple[float, float]:
    """The range of the values of a float argument that need no clipping. The range is empty if the parameter is not of
    type float, or if it has no lower or no upper bound.
    """
    if parameter.kind != "float" or parameter.low is None or parameter.high is None:
        return math.inf, -math.inf
    return parameter.low, parameter.high


def fit(parameter: Parameter, value: Any, primitive: str, line: int | None) -> tuple[Scalar, bool]:
    """Convert ``value`` to the type of ``parameter``, and clip it into the range of the parameter.

    A parameter of type float accepts ints, and a parameter of type int accepts whole floats. No such parameter accepts
    a bool.

    :returns: the converted value, and whether the value was clipped.
    :raises Refused: ``value`` has a wrong type, is not finite, or is not among the choices (kind ``type``).
    """
    kind = parameter.kind
    if kind == "bool":
        if isinstance(value, bool):
            return value, False
    elif kind == "choice":
        if isinstance(value, str) and value in parameter.choices:
            return value, False
    elif isinstance(value, int | float) and not isinstance(value, bool):
        low, high = parameter.low, parameter.high
        assert low is not None
        assert high is not None
        if isinstance(value, float) and not math.isfinite(value):
            raise Refused("type", f"{parameter.name!r} of {primitive} must be finite, got {value!r}", line)
        if kind == "float" or value == int(value):
            inside = min(max(value, low), high)
            outside = inside != value
            if kind == "float":
                return float(inside), outside
            # A bound that is not whole is rounded inwards.
            return (math.ceil(low) if value < low else math.floor(high)) if outside else int(value), outside
    raise Refused("type", f"{parameter.name!r} of {primitive} must be {expects(parameter)}, got {value!r:.60}", line)


def expects(parameter: Parameter) -> str:
    """The valid values of ``parameter`` in words, for messages."""
    if parameter.kind == "choice":
        return f"one of {', '.join(map(repr, parameter.choices))}"
    if parameter.kind == "bool":
        return "True or False"
    return {"float": "a number", "int": "a whole number"}[parameter.kind]


def _list(names: Mapping[str, object]) -> str:
    return ", ".join(names)[:300] or "(none)"
