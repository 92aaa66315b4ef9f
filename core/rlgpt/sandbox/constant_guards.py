"""Computes the answers of each ``can_start`` that depends only on the view. One WebAssembly instance computes the
answers of ``can_start`` for all lanes and episodes.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rlgpt.domain import CodedAction
from rlgpt.sandbox import replies
from rlgpt.sandbox.checks import Refused
from rlgpt.sandbox.encode import ViewParts
from rlgpt.sandbox.guest.floats import Packed
from rlgpt.sandbox.library import Library
from rlgpt.sandbox.limits import SandboxLimits
from rlgpt.sandbox.reads import reads_of

if TYPE_CHECKING:
    from rlgpt.sandbox.runtime import Instance

FUEL = 2_000_000
"""Maximal fuel of one answer. If a ``can_start`` needs more fuel, it is called in the instance of its own action."""

KEPT = 8_000_000
"""Size of all views together whose answers are stored, in bytes of numbers and characters of text. Above this size, the
stored answers are deleted."""

MOST = 50
"""Maximal number of actions whose ``can_start`` is called in the shared instance."""


class ConstantGuards:
    """Calls the ``can_start`` of the actions whose answers depend only on the view
    (:class:`~rlgpt.sandbox.reads.Reads`). ``can_start`` gives equal answers for equal views, so its answers are stored.
    Several threads may use one ``ConstantGuards`` object.

    All these actions share one instance. The shared instance runs only definitions and functions without effects, so no
    action can change the answers of another action. An action fails in this instance if its source cannot be loaded, or
    if its ``can_start`` raises an exception or needs too much fuel. After such a failure, ``can_start`` is called in
    the action's own instance, which also gives the verdict.

    :param on_turn: a function that the host calls before each call into the instance.
    """

    def __init__(
        self,
        limits: SandboxLimits,
        library: Library,
        actions: Sequence[CodedAction],
        on_turn: Callable[[], None] | None = None,
    ) -> None:
        guarded = [a for a in actions if "can_start" in a.source and _fits(a, limits)]
        reads = {a.name: reads_of(a.source, a.shared) for a in guarded}
        chosen = [a for a in guarded if reads[a.name].constant][:MOST]
        self._sources = [(a.name, a.source, "run", a.shared) for a in chosen]
        self._keys = {a.name: reads[a.name].keys for a in chosen}
        self._sound = set(self._keys)  # An action that fails is removed.
        self._limits, self._functions, self._on_turn = limits, json.dumps(library.functions), on_turn
        self._instance: Instance | None = None
        self._known: dict[tuple[str, Packed | str], bool] = {}
        self._size = 0
        self._lock = threading.Lock()

    def answers(self, actions: Iterable[str], parts: ViewParts) -> dict[str, bool]:
        """For each of ``actions`` whose ``can_start`` depends only on the view, the answer of ``can_start``.

        :raises PluginError: the view contains a value that is not plain.
        """
        found: dict[str, bool] = {}
        new: dict[str, Packed | str] = {}
        for name in actions:
            if name in self._sound:
                try:
                    part = parts.of(self._keys[name], name, self._limits.view_bytes)
                except Refused:
                    continue
                known = self._known.get((name, part))
                if known is None:
                    new[name] = part
                else:
                    found[name] = known
        return {**found, **self._ask(new, parts)} if new else found

    def _ask(self, new: Mapping[str, Packed | str], parts: ViewParts) -> dict[str, bool]:
        with self._lock:
            asked = {name: part for name, part in new.items() if name in self._sound}
            if not asked:
                return {}
            answers = self._together(asked, parts)
            if answers is None:
                alone = [self._together((name,), parts) or {} for name in asked]
                answers = {name: answer for each in alone for name, answer in each.items()}
                self._sound -= asked.keys() - answers.keys()
            if self._size > KEPT:
                self._known, self._size = {}, 0
            for name, answer in answers.items():
                part = asked[name]
                self._known[name, part] = answer
                self._size += part.size if isinstance(part, Packed) else len(part)
            return answers

    def _together(self, asked: Collection[str], parts: ViewParts) -> dict[str, bool] | None:
        """The answers of ``can_start`` of several actions, computed in one call of the guest; None if an action
        fails.
        """
        each = dict.fromkeys(self._keys[name] for name in asked)
        union = tuple(dict.fromkeys(key for keys in each for key in keys or ()))
        limits, count = self._limits, len(asked)
        try:
            part = parts.of(None if None in each else union, "can_start", limits.view_bytes * count)
            if self._on_turn is not None:
                self._on_turn()
            if self._instance is None:
                self._instance = self._open()
            fuel = min(FUEL, limits.turn_fuel) * count
            reply = self._instance.call("ask-can-start", " ".join(asked) + "\n", part, fuel=fuel)
            return dict(zip(asked, replies.answers(reply, limits, count), strict=True))
        except Refused:
            self._instance = None
            return None

    def _open(self) -> Instance:
        from rlgpt.sandbox.runtime import Instance

        instance, fuel = Instance(self._limits), self._limits.load_fuel
        instance.call("prepare-library", self._functions, 0, fuel=fuel)
        for source in self._sources:
            instance.call("load-action", *source, fuel=fuel)  # An action that cannot be loaded fails when it is asked.
        return instance


def _fits(action: CodedAction, limits: SandboxLimits) -> bool:
    return all(len(text.encode("utf-8", "replace")) <= limits.source_bytes for text in (action.source, action.shared))
