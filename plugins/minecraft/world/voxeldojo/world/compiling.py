"""What makes numba compile faster, switched on while it compiles and off again.

No garbage is collected: a fifth of the time goes into looking through what is needed yet. And how a built-in function
is typed is found out once: numba tries all its rules anew wherever ``a + b`` is written, a sixth of the time.
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
    """Is within ``managers`` from the start of a compilation to its end, with all that are compiled for it."""

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
    """No garbage is collected."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@contextmanager
def remembering() -> Iterator[None]:
    """A call of a built-in function is typed once for the same arguments and compiler's flags.

    With the types numba keeps what implements them; the latest is in force, so that is remembered and put back, too.
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
