"""Runs the code of one coded action or function, in its own WebAssembly instance, for one episode."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from rlgpt.domain import Verdict, VerdictKind
from rlgpt.errors import SandboxError
from rlgpt.sandbox import replies
from rlgpt.sandbox.checks import Checker, Refused
from rlgpt.sandbox.fuel import FuelMeter, Kind
from rlgpt.sandbox.guest.floats import Packed
from rlgpt.sandbox.instances import Instances
from rlgpt.sandbox.limits import SandboxLimits
from rlgpt.sandbox.reads import ViewReads, view_reads_of

if TYPE_CHECKING:
    from rlgpt.sandbox.runtime import Instance

T = TypeVar("T")

MakeRoom = Callable[[], Callable[[], None] | None]
"""A weak reference to a function that is called before an instance is made. The reference returns None if the owner of
the function no longer exists.
"""

_FATAL: frozenset[VerdictKind] = frozenset({"memory", "reply"})
"""Kinds of verdict after which the instance may be broken. The next call then makes a new instance, as after a trap. (A
*trap* is an error that ends a WebAssembly instance.)
"""

_NO_KEY = re.compile(r"KeyError: no key '([^']{1,100})'")
"""The message of the guest about a missing key of a dict. The message does not say which dict lacks the key, so the
host adds the keys of the view to the message.
"""


@dataclass(frozen=True)
class GuestSetup:
    """The settings that all actions and functions of one guest share.

    :ivar functions: the names of the library's functions and of their arguments, as JSON.
    :ivar view: the keys of the view.
    :ivar pieces: number of coded actions or functions in the episode.
    :ivar seed: seed of the guest. The seed of each coded action or function is derived from ``seed``.
    :ivar on_turn: a function that the host calls before each call into an instance.
    :ivar instances: makes the instances.
    """

    limits: SandboxLimits
    checker: Checker
    functions: str
    view: tuple[str, ...]
    pieces: int
    seed: int
    on_turn: Callable[[], None] | None
    instances: Instances


class CodeRunner:
    """Runs one source in a separate WebAssembly instance, so that no other code can cause verdicts on this source.

    A trap (too much fuel, memory or time) or an invalid message of the guest ends the instance. The next call of the
    code makes a new instance, in which the globals of the source have their initial values again. The fuel of the
    episode is counted over all of these instances.

    :param entry: name of the function that the source must define.
    :param make_room: a weak reference to a function that deletes an instance if the maximal number of instances exists.
    :param shared: source that the guest loads before ``source``, into the same namespace.
    :ivar fuel_used: fuel of the newest turn.
    :ivar calls: number of calls so far that may have changed the globals of the source.
    """

    def __init__(
        self, name: str, source: str, entry: str, setup: GuestSetup, make_room: MakeRoom, shared: str = ""
    ) -> None:
        self.name, self.source, self.fuel_used, self._entry, self._shared = name, source, 0, entry, shared
        self._make_room, self._setup, self._limits = make_room, setup, setup.limits
        self._meter = FuelMeter(setup.limits, setup.pieces)
        self._instance: Instance | None = None
        self._instances = self.calls = 0
        self._loaded: replies.Loaded | None = None
        self._unloadable: Verdict | None = None

    @cached_property
    def _view_reads(self) -> ViewReads | None:
        return view_reads_of(self.source, self._shared, self._entry)

    def part(self, view: Mapping[str, Any]) -> dict[str, Any]:
        """The part of ``view`` that the code can read. The code cannot see that it does not get the other keys."""
        part = view if self._view_reads is None else self._view_reads.part(view)
        return part if isinstance(part, dict) else dict(part)

    @property
    def live(self) -> bool:
        """Whether the instance of this source exists at present. An instance takes much memory."""
        return self._instance is not None

    @property
    def exhausted(self) -> bool:
        """Whether the source has used up its fuel of the episode."""
        return self._meter.exhausted

    def add_step(self) -> None:
        """Add the fuel of one primitive step. Call ``add_step`` after each primitive step of the environment."""
        self._meter.add_step()

    def load(self) -> bool | Verdict:
        """Run the top level of the source, once in each instance.

        :returns: whether the source defines ``can_start``, or the verdict on the source if it cannot be loaded.
        """
        if self._unloadable is not None:
            return self._unloadable
        for what, text in (("source", self.source), ("shared code", self._shared)):
            size = len(text.encode("utf-8", "replace"))
            if size > self._limits.source_bytes:
                self.fuel_used = 0
                most = self._limits.source_bytes
                return self.verdict(Refused("load", f"the {what} has {size} bytes; at most {most} are allowed"))
        if self._loaded is None:
            code = (self.name, self.source, self._entry, self._shared)
            state = self._call("load-action", *code, kind="load", read=replies.loaded)
            if isinstance(state, Verdict):
                if state.kind == "error":
                    state = state.model_copy(update={"kind": "load"})
                if state.kind != "wall":  # A slow machine may be the cause, so the load is tried again.
                    self._unloadable = state
                return state
            self._loaded = state
        return self._loaded.can_start

    def drop(self) -> None:
        """Give up the instance of this source. The globals of the source are lost together with the instance."""
        self._setup.instances.give(self._instance)
        self._instance, self._loaded = None, None
        self.calls += 1

    def __del__(self) -> None:
        self._setup.instances.give(self._instance)

    def verdict(self, refused: Refused) -> Verdict:
        """Make a verdict on the code of this runner from the error ``refused``."""
        message = refused.message
        missing = _NO_KEY.fullmatch(message)
        if missing and missing[1] not in self._setup.view:
            message += f"; of the view there are: {', '.join(self._setup.view) or '(none)'}"
        message = message if len(message) <= 500 else f"{message[:497]}..."
        return Verdict(kind=refused.kind, action=self.name, message=message, line=refused.line, fuel=self.fuel_used)

    def _call(
        self, export: str, *arguments: Packed | str, kind: Kind, read: Callable[[bytes, SandboxLimits], T]
    ) -> T | Verdict:
        """Call a function that the guest exports, and read the guest's reply. Any fault of the guest becomes a verdict
        on the code.
        """
        try:
            reply = self._cross(export, *arguments, kind=kind)
            return read(reply, self._limits)
        except Refused as refused:
            if refused.kind in _FATAL:
                self.drop()
            return self.verdict(refused)

    def _cross(self, export: str, *arguments: Packed | str, kind: Kind) -> bytes:
        """:raises Refused: the fuel of the code is used up, or the instance trapped. After an error of this kind, the
        WebAssembly instance is deleted.
        """
        self.fuel_used = 0
        self.calls += export != "ask-can-start"
        instance = self._ready()
        allowed = self._meter.allowance(kind)
        if not allowed.fuel:
            self.drop()
            raise Refused("fuel", allowed.exceeded or "")
        if self._setup.on_turn is not None:
            self._setup.on_turn()
        try:
            return instance.call(export, *arguments, fuel=allowed.fuel, exceeded=allowed.exceeded)
        except Refused:
            self.drop()
            raise
        finally:
            self.fuel_used = instance.fuel_used
            self._meter.spend(instance.fuel_used, kind)

    def _ready(self) -> Instance:
        """The instance. If there is no instance, or if the last instance trapped, ``_ready`` makes a new instance."""
        if self._instance is None:
            if (make_room := self._make_room()) is not None:
                make_room()
            instance = self._setup.instances.take(self._limits)
            mixed = hashlib.sha256(f"{self._setup.seed}/{self.name}/{self._instances}".encode()).digest()
            seed = int.from_bytes(mixed[:8], "big")
            try:
                instance.call("prepare-library", self._setup.functions, seed, fuel=self._limits.load_fuel)
            except Refused as refused:
                raise SandboxError(f"the guest cannot be prepared within {self._limits}: {refused.message}") from None
            self._meter.spend(instance.fuel_used, "load")
            self._instance, self._loaded = instance, None
            self._instances += 1
        return self._instance
