"""Requests of primitives. A call of a primitive returns a request, which code must yield. If code uses a request in
another way, an error tells the code to yield it.
"""

from collections.abc import Callable
from math import isfinite
from sys import _getframe as getframe
from typing import Any, Never

SHARED = "<shared>"
"""The file name in tracebacks of the code that the actions of a bundle share. No action's own source has this name."""

loaded_shared = False
"""Whether there is such code. Only then is the file of each call looked up, which takes longer than its line."""


class RequestError(TypeError):
    """A primitive was called with invalid arguments, or its request was used without ``yield``."""


class Request:
    """The result of a call of a primitive. Code must yield the request to get the outcome."""

    __slots__ = ("args", "line", "name")

    def __init__(self, name: str, args: dict[str, Any], line: int | None) -> None:
        self.name, self.args, self.line = name, args, line

    def misused(self, *_: object) -> Never:
        raise RequestError(f"{self.name}(...) is a request; its outcome comes from `outcome = yield {self.name}(...)`")

    __getitem__ = __iter__ = __len__ = __bool__ = __contains__ = __float__ = __lt__ = __gt__ = misused

    def __getattr__(self, attribute: str) -> Never:
        self.misused()

    def __repr__(self) -> str:
        return f"<request {self.name}>"


def primitive(name: str, parameters: tuple[str, ...]) -> Callable[..., Request]:
    """Make the function ``name`` of the library, which binds its arguments by name and returns a :class:`Request`."""
    known = ", ".join(parameters) or "(none)"
    valid = frozenset(parameters)

    def bind(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if len(args) > len(parameters):
            raise RequestError(f"{name} takes at most {len(parameters)} arguments ({known}), got {len(args)}")
        for key, value in zip(parameters, args, strict=False):
            if key in kwargs:
                raise RequestError(f"{name} got {key!r} twice")
            kwargs[key] = value

    def check(key: str, value: Any) -> None:
        if key not in valid:
            raise RequestError(f"{name} has no argument {key!r}; valid: {known}")
        if isinstance(value, Request):
            value.misused()
        if not isinstance(value, (int, float, str)):
            raise RequestError(f"{key!r} of {name} must be a number, bool or str, got {type(value).__name__}")
        if isinstance(value, float) and not isfinite(value):
            raise RequestError(f"{key!r} of {name} must be finite, got {value!r}")

    def call(*args: Any, **kwargs: Any) -> Request:
        if args:
            bind(args, kwargs)
        for key, value in kwargs.items():
            # Most arguments are finite floats. This test finds them without a call: x * 0.0 is 0.0 only if x is finite.
            if type(value) is not float or value * 0.0 != 0.0 or key not in valid:
                check(key, value)
        frame = getframe(1)
        line = None if loaded_shared and frame.f_code.co_filename == SHARED else frame.f_lineno
        return Request(name, kwargs, line)

    call.__name__ = call.__qualname__ = name
    return call
