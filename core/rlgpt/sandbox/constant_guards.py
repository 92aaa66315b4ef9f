"""Computes the answers of each ``can_start`` that depends only on the view. One WebAssembly instance computes the
answers of ``can_start`` for all lanes and episodes.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rlgpt.domain import CodedAction
from rlgpt.sandbox import replies
from rlgpt.sandbox.checks import Refused
from rlgpt.sandbox.encode import ViewTexts
from rlgpt.sandbox.library import Library
from rlgpt.sandbox.limits import SandboxLimits
from rlgpt.sandbox.reads import reads_of

if TYPE_CHECKING:
    from rlgpt.sandbox.runtime import Instance

FUEL = 2_000_000
"""Maximal fuel of one answer. If a ``can_start`` needs more fuel, it is called in the instance of its own action."""

KEPT = 8_000_000
"""Number of characters of all views together whose answers are stored. Above this number, the stored answers are
deleted."""

MOST = 50
"""Maximal number of actions in one call. The answers of the actions are the bits of one number."""

PROGRAM = """
GUARDS = []
for name, shared, source in SOURCES:
    space = dict(globals())
    try:
        for text in (shared, source):
            exec(compile(text, name, "exec", dont_inherit=True), space)
    except Exception:
        space.clear()
    GUARDS.append(space.get("can_start"))

def reward(view, memory):
    answers = 0
    for bit, number in enumerate(view["ask"]):
        answers |= bool(GUARDS[number](view["view"])) << bit
    return answers
"""
"""The program of the instance. It loads each source in a separate namespace. Its answer to a view is a number with one
bit for each action.
"""


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
        sources = [(a.name, a.shared, a.source) for a in chosen]
        self._program = f"SOURCES = {sources!r}\n{PROGRAM}"
        self._numbers = {a.name: number for number, a in enumerate(chosen)}
        self._keys = {a.name: reads[a.name].keys for a in chosen}
        self._limits, self._functions, self._on_turn = limits, json.dumps(library.functions), on_turn
        self._instance: Instance | None = None
        self._known: dict[tuple[str, str], bool] = {}
        self._size = 0
        self._lock = threading.Lock()

    def answers(self, actions: Iterable[str], texts: ViewTexts) -> dict[str, bool]:
        """For each of ``actions`` whose ``can_start`` depends only on the view, the answer of ``can_start``.

        :raises PluginError: the view contains a value that is not plain.
        """
        found: dict[str, bool] = {}
        new: dict[str, str] = {}
        for name in actions:
            if name in self._numbers:
                try:
                    text = texts.of(self._keys[name], name, self._limits.view_bytes)
                except Refused:
                    continue
                known = self._known.get((name, text))
                if known is None:
                    new[name] = text
                else:
                    found[name] = known
        return {**found, **self._ask(new, texts)} if new else found

    def _ask(self, new: Mapping[str, str], texts: ViewTexts) -> dict[str, bool]:
        with self._lock:
            asked = {name: text for name, text in new.items() if name in self._numbers}
            if not asked:
                return {}
            answers = self._together(asked, texts)
            if answers is None:
                alone = [(name, self._together({name: text}, texts)) for name, text in asked.items()]
                answers = {name: answer[name] for name, answer in alone if answer is not None}
                for name in asked.keys() - answers.keys():
                    del self._numbers[name]
            if self._size > KEPT:
                self._known, self._size = {}, 0
            for name, answer in answers.items():
                self._known[name, asked[name]] = answer
                self._size += len(asked[name])
            return answers

    def _together(self, asked: Mapping[str, str], texts: ViewTexts) -> dict[str, bool] | None:
        """The answers of ``can_start`` of several actions, computed in one call of the guest; None if an action
        fails.
        """
        keys = [self._keys[name] for name in asked]
        union = None if None in keys else tuple(dict.fromkeys(key for own in keys for key in own or ()))
        numbers = [self._numbers[name] for name in asked]
        try:
            view = texts.of(union, "can_start", self._limits.view_bytes * len(asked))
            bits = self._answer(f'{{"ask":{numbers},"view":{view}}}', len(asked))
        except Refused:
            self._instance = None
            return None
        return {name: bool(bits >> bit & 1) for bit, name in enumerate(asked)}

    def _answer(self, view: str, count: int) -> int:
        """:raises Refused: the instance cannot answer."""
        if self._on_turn is not None:
            self._on_turn()
        if self._instance is None:
            self._instance = self._open()
        fuel = min(FUEL, self._limits.turn_fuel) * count
        bits = replies.value(self._instance.call("call-function", "guards", view, fuel=fuel), self._limits)
        if not isinstance(bits, float) or not 0 <= bits < 1 << count or bits != int(bits):
            raise Refused("reply", "the guest's message is no set of answers")
        return int(bits)

    def _open(self) -> Instance:
        from rlgpt.sandbox.runtime import Instance

        instance, fuel = Instance(self._limits), self._limits.load_fuel
        instance.call("prepare-library", self._functions, 0, fuel=fuel)
        loaded = instance.call("load-action", "guards", self._program, "reward", "", fuel=fuel)
        replies.loaded(loaded, self._limits)
        return instance


def _fits(action: CodedAction, limits: SandboxLimits) -> bool:
    return all(len(text.encode("utf-8", "replace")) <= limits.source_bytes for text in (action.source, action.shared))
