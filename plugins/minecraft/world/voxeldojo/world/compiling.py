"""Changes settings of numba so that numba compiles faster. The changed settings of numba are active only during a
compilation.

During a compilation, Python's garbage collector is switched off, because it would take a fifth of the compilation time.
During a compilation, the result types of calls of built-in functions are cached. Without the cache of result types,
numba tries all its rules for every ``a + b``, which takes a sixth of the compilation time.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from numba.core import event, types
from numba.core.targetconfig import ConfigStack


class Outermost(event.Listener):
    """Enters the context managers ``managers`` at the start of an outermost compilation and leaves them at its end."""

    def __init__(self, *managers: Callable[[], AbstractContextManager[None]]) -> None:
        self._managers, self._depth, self._stack = managers, 0, ExitStack()

    def on_start(self, event: event.Event) -> None:
        if self._depth == 0:
            for manager in self._managers:
                self._stack.enter_context(manager())
        self._depth += 1

    def on_end(self, event: event.Event) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._stack.close()


@contextmanager
def no_collecting() -> Iterator[None]:
    """Disable Python's garbage collector during the ``with`` block."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@contextmanager
def remembering() -> Iterator[None]:
    """Cache the result types of calls of built-in functions, by arguments and compiler flags.

    Numba stores the implementation of the latest call beside the result types, so the cache restores the implementation
    as well.
    """
    kind: Any = types.Function
    ask: Any = types.BaseFunction.get_call_type
    known: dict[Any, tuple[Any, Any]] = {}

    def get_call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
        flags = ConfigStack.top_or_none()
        call = (function, context, tuple(args), tuple(kws.items()), flags and flags.summary())
        if call not in known:
            signature = ask(function, context, args, kws)
            known[call] = signature, function._impl_keys[signature.args]
        signature, implementation = known[call]
        function._impl_keys[signature.args] = implementation
        return signature

    kind.get_call_type = get_call_type
    try:
        yield
    finally:
        del kind.get_call_type
