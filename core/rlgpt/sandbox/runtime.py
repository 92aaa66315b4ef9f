"""The WebAssembly engine and the compiled guest. A process has one WebAssembly engine and one compiled guest. An
*instance* is one running copy of the guest.
"""

from __future__ import annotations

import os
import re
import threading
import time
import weakref
from functools import cached_property, lru_cache
from typing import NoReturn

from wasmtime import Config, Engine, Module, Store, Trap, WasmtimeError

from rlgpt.errors import SandboxError
from rlgpt.sandbox import cache, replies, stack
from rlgpt.sandbox.binding import CAPACITY, Binding, Places, TooLong, places
from rlgpt.sandbox.checks import Refused
from rlgpt.sandbox.guest.floats import Packed
from rlgpt.sandbox.limits import SandboxLimits
from rlgpt.sandbox.pristine import Pristine
from rlgpt.sandbox.snapshot import METHODS

_SETTINGS = f"fuel, epochs, stack {stack.GUEST}, explicit checks, fixed memory"
TICK = 0.25
"""Time between two ticks of the wall clock, in seconds."""

_ACTIVITY = {
    "load-action": "while its top level ran",
    "ask-can-start": "before it answered",
    "call-function": "before it answered",
    "cancel-action": "while it cleaned up",
    "read-memory": "while its memory was read",
}
"""Exported function -> words for a message that say when the guest was stopped. All other exported functions run a
turn.
"""


_NAMES = {name.replace("_", "-"): name for name in METHODS}
"""Function of the guest -> its method."""


class Clock:
    """Advances the epoch of the WebAssembly engine in a daemon thread, so that a turn can be stopped after a wall-clock
    time.

    A forked child process does not have the thread of its parent, so :meth:`ensure` starts a new thread in the child.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = weakref.ref(engine)
        self._pid = -1
        self._lock = threading.Lock()

    def ensure(self) -> None:
        if self._pid == os.getpid():
            return
        with self._lock:
            if self._pid != os.getpid():
                self._pid = os.getpid()
                threading.Thread(target=_tick, args=(self._engine,), name="rlgpt-sandbox-clock", daemon=True).start()


def _tick(engine: weakref.ref[Engine]) -> None:
    while (alive := engine()) is not None:
        alive.increment_epoch()
        del alive
        time.sleep(TICK)


class Runtime:
    """The WebAssembly engine, the compiled guest and the clock of one process."""

    def __init__(self) -> None:
        config = Config()
        config.consume_fuel = True
        config.epoch_interruption = True
        config.max_wasm_stack = stack.GUEST
        # wasmtime's signal handlers belong to the whole process. With these handlers, wasmtime once mistook a null
        # entry of a table for an access outside of all memories, and aborted the process.
        config.signals_based_traps = False
        config.memory_may_move = False  # The host reads and writes the memory at fixed addresses.
        self.engine = Engine(config)
        self.module: Module = cache.compiled(self.engine, cache.guest(), _SETTINGS)
        self.clock = Clock(self.engine)
        self.stacks = stack.Stacks()

    @cached_property
    def places(self) -> Places:
        """The places in the memory of every instance that the host needs."""
        return places(Store(self.engine), self.module)

    @cached_property
    def pristine(self) -> Pristine:
        """The memory of a new instance, which is that of an instance that never runs."""
        first = Binding(Store(self.engine), self.module, self.places)
        return Pristine(*first.memory, first)


@lru_cache(maxsize=1)
def _runtime(pid: int) -> Runtime:
    return Runtime()


def runtime() -> Runtime:
    """The runtime of this process. A forked child process makes its own runtime.

    :raises SandboxError: the guest program is missing or cannot be loaded.
    """
    try:
        return _runtime(os.getpid())
    except WasmtimeError as error:
        raise SandboxError(f"the sandbox's guest program cannot be loaded: {str(error)[:500]}") from error


class Instance:
    """One running copy of the guest, with limits on fuel, memory and time.

    :ivar fuel_used: fuel of the newest call.
    """

    def __init__(self, limits: SandboxLimits) -> None:
        self._runtime = runtime()
        self.limits, self._ended = limits, True
        self._longest = max(CAPACITY, limits.reply_bytes + limits.shared_bytes)
        self._wall = limits.wall_seconds
        self._ticks = int(limits.wall_seconds / TICK) + 1
        self._store = Store(self._runtime.engine)
        # The garbage collector calls finalizers before any `__del__` of a cycle, and these in no order. So no `__del__`
        # can give an instance away whose store the collector is about to close.
        weakref.finalize(self, self._store.close).atexit = False
        self._store.set_limits(memory_size=limits.memory_bytes)
        self._store.set_fuel(limits.load_fuel)
        self._store.set_epoch_deadline(self._ticks)
        self.fuel_used = 0
        try:
            self._binding = Binding(self._store, self._runtime.module, self._runtime.places)
        except (WasmtimeError, Trap) as error:
            raise SandboxError(f"the guest does not start within {limits}: {str(error)[:300]}") from error

    @property
    def reusable(self) -> bool:
        """Whether every call of the instance has ended without a trap, and its memory has its first size, so that it
        can be restored.
        """
        return self._ended and not self._binding.closed and not self._binding.grown

    def restore(self) -> bool:
        """Restore the state in which the instance began, with the limits that it has.

        :returns: False if this is not possible. The instance must not be used then.
        """
        binding = self._binding
        binding.forget()
        self.fuel_used = 0
        return self.reusable and self._runtime.pristine.restore(*binding.memory)

    def call(self, export: str, *arguments: Packed | str | int, fuel: int, exceeded: str | None = None) -> bytes:
        """Call a function that the guest exports, which may use at most ``fuel`` units of fuel, and return its reply.

        :param exceeded: the message for the case that the call has used up its fuel. If ``exceeded`` is None, the
            message is about the fuel limit of a turn or of loading.
        :raises Refused: the call of the guest was stopped (kind ``fuel``, ``wall``, ``memory``, ``error`` or
            ``reply``). After a ``Refused`` error, the instance must not be used again.
        :raises SandboxError: the stack of the current thread is too small.
        """
        binding = self._binding
        self._runtime.clock.ensure()
        self._runtime.stacks.check()
        binding.limit(fuel, self._ticks)
        ended, self._ended = self._ended, False  # A signal's exception, too, can end a call after a trap.
        try:
            reply = binding.call(_NAMES[export], *arguments, most=self._longest)
        except Refused:
            self.fuel_used = fuel - binding.fuel
            raise
        except TooLong as long:
            self.fuel_used = fuel - binding.fuel
            raise replies.too_long(long.begin, long.size, self.limits) from None
        except (WasmtimeError, Trap, UnicodeError) as error:
            self.fuel_used = fuel - binding.fuel
            activity = _ACTIVITY.get(export, "between two yields")
            limit = {"load-action": "load_fuel", "call-function": "function_fuel"}.get(export, "turn_fuel")
            budget = f"SandboxLimits({limit}=...)"
            advice = "give loops a bound" + ("" if export in _ACTIVITY else ", yield inside them")
            _refuse(
                str(error),
                fuel=exceeded or f"it ran too long {activity} (over {fuel:,} units of fuel: {budget}): {advice}",
                wall=f"it ran too long by the wall clock {activity} (over {self._wall:g} s)",
            )
        self.fuel_used, self._ended = fuel - binding.fuel, ended
        return reply


def _refuse(error: str, *, fuel: str, wall: str) -> NoReturn:
    """Raise :class:`Refused` for a trap (an error that ended the WebAssembly instance).

    :param fuel: the message for the case that the fuel of the call was used up.
    :param wall: the message for the case that the wall-clock time of the call was over.
    """
    match = re.search(r"wasm trap: ([^\n]*)", error)
    trap = match.group(1) if match else error.strip().splitlines()[-1][:200]
    if "fuel" in trap:
        raise Refused("fuel", fuel)
    if "interrupt" in trap:
        raise Refused("wall", wall)
    if "stack" in trap:
        raise Refused("error", "RecursionError: the stack is exhausted")
    raise Refused("error", f"the interpreter stopped: {trap}")
