"""Finds out which primitives, arguments and keys of the view the code of a skill uses, and whether a task has them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from rlgpt.domain import CodedAction, CodedFeatures, CodedFunction, Name, Task, Value
from rlgpt.sandbox import Library, faults

_WORD = re.compile(r"[a-z]+|[0-9]+")
_LITTLE = (
    "a an and are as at be by can do for from has have in into is it its no not of off on or out so that the their "
    "then there this to up with within without"
)
_COMMON = frozenset(_LITTLE.split())
"""Words that are ignored when goals are compared."""


class NeededArgument(Value):
    """An argument of a primitive that the code of a skill uses.

    :ivar choices: the values of the argument that occur in the code, if the kind of the argument is ``choice``.
    """

    name: Name
    kind: str = Field(max_length=10)
    unit: str = Field(default="", max_length=40)
    choices: tuple[str, ...] = Field(default=(), max_length=1_000)


class NeededPrimitive(Value):
    name: Name
    arguments: tuple[NeededArgument, ...] = Field(default=(), max_length=64)


class NeededKey(Value):
    """A key of the view that the code of a skill reads."""

    name: str = Field(max_length=100)
    unit: str = Field(default="", max_length=100)
    size: int = Field(default=0, ge=0)


class Needs(Value):
    """The primitives and keys of the view that the code of a skill uses.

    :ivar plugin: the name of the plugin. In another plugin, primitives and keys of the same names may have other units
        or coordinate frames.
    :ivar space: the action space in words.
    :ivar primitives: the primitives that the code calls.
    :ivar view: the keys of the view that the code of the skill reads.
    """

    plugin: str = Field(max_length=40)
    space: str = Field(max_length=400)
    primitives: tuple[NeededPrimitive, ...] = Field(default=(), max_length=200)
    view: tuple[NeededKey, ...] = Field(default=(), max_length=500)


@dataclass(frozen=True)
class Wanted:
    """The data about a run by which skills are chosen for the run.

    :ivar library: the primitives of the task and the keys of the task's view.
    :ivar space: the action space in words.
    :ivar taken: names that no coded action may have.
    :ivar settings: the settings of the task whose values differ from the plugin's defaults.
    """

    task: Task
    library: Library
    space: str
    taken: frozenset[str] = frozenset()
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def words(self) -> frozenset[str]:
        return task_words(self.task.goal, self.task.id)


def needs_of(
    plugin: str, space: str, library: Library, actions: Sequence[CodedAction], functions: Sequence[CodedFunction] = ()
) -> Needs:
    """The primitives and keys of ``library`` that the coded actions ``actions`` and the functions ``functions`` use. If
    a source cannot be parsed, the result contains the whole library of primitives and keys.
    """
    used = _Used.by((*actions, *functions))
    return Needs(
        plugin=plugin,
        space=space,
        primitives=tuple(
            NeededPrimitive(
                name=p.name,
                arguments=tuple(
                    NeededArgument(
                        name=a.name,
                        kind=a.kind,
                        unit=a.unit,
                        choices=used.choices(p.name, number, a.name, a.choices),
                    )
                    for number, a in enumerate(p.parameters)
                ),
            )
            for p in library.primitives
            if used.calls(p.name)
        ),
        view=tuple(NeededKey(name=k.name, unit=k.unit, size=k.size) for k in library.view if used.reads(k.name)),
    )


def part_of(needs: Needs, codes: Iterable[CodedAction | CodedFunction]) -> Needs:
    """The part of the needs of a skill that ``codes`` use, which are some of its coded actions and functions."""
    used = _Used.by(codes)
    return needs.model_copy(
        update={
            "primitives": tuple(
                p.model_copy(
                    update={
                        "arguments": tuple(
                            a.model_copy(update={"choices": used.choices(p.name, number, a.name, a.choices)})
                            for number, a in enumerate(p.arguments)
                        )
                    }
                )
                for p in needs.primitives
                if used.calls(p.name)
            ),
            "view": tuple(k for k in needs.view if used.reads(k.name)),
        }
    )


@dataclass
class _Used:
    """The names and texts that occur in code. If a source cannot be parsed, everything may occur in it.

    :ivar names: the names that the code loads.
    :ivar texts: all string constants.
    :ivar given: for each called name, the arguments of each call.
    :ivar loose: names that are loaded without a call, so their arguments are unknown.
    """

    whole: bool = False
    names: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    given: dict[str, list[ast.Call]] = field(default_factory=dict)
    loose: set[str] = field(default_factory=set)

    @classmethod
    def by(cls, codes: Iterable[CodedAction | CodedFunction]) -> _Used:
        used = cls()
        for code in codes:
            try:
                shared = code.shared if isinstance(code, CodedAction) else ""
                trees = [ast.parse(code.source), ast.parse(shared)]
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                used.whole = True
                continue
            called: set[int] = set()
            for node in (node for tree in trees for node in ast.walk(tree)):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    used.given.setdefault(node.func.id, []).append(node)
                    called.add(id(node.func))
                elif isinstance(node, ast.Name):
                    used.names.add(node.id)
                    if id(node) not in called:  # ast.walk visits a call before the name that it calls.
                        used.loose.add(node.id)
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    used.texts.add(node.value)
        return used

    def calls(self, primitive: str) -> bool:
        return self.whole or primitive in self.names

    def reads(self, key: str) -> bool:
        return self.whole or key in self.texts

    def choices(self, primitive: str, number: int, argument: str, choices: Sequence[str]) -> tuple[str, ...]:
        """The choices among ``choices`` that the code may give to an argument of a primitive. If an argument is not a
        constant in each call, these are all choices that occur as a text anywhere in the code.

        :param number: the position of the argument among those of the primitive, from 0.
        """
        if self.whole:
            return tuple(choices)
        found: set[str] = set()
        known = primitive not in self.loose
        for call in self.given.get(primitive, ()) if known else ():
            values = [k.value for k in call.keywords if k.arg == argument] + call.args[number : number + 1]
            spread = any(k.arg is None for k in call.keywords) or any(isinstance(a, ast.Starred) for a in call.args)
            if spread or not all(isinstance(value, ast.Constant) for value in values):
                known = False
                break
            found.update(value.value for value in values if isinstance(value, ast.Constant))  # type: ignore[misc]
        return tuple(c for c in choices if c in (found if known else self.texts))


def misfit(
    needs: Needs, wanted: Wanted, actions: Sequence[CodedAction], functions: Sequence[CodedFunction] = ()
) -> str:
    """The reason why a skill's code cannot work in the task of a run; empty if no reason is found. No episode is played
    to find a reason.

    :param needs: the primitives and keys of the view that the code uses.
    :param wanted: the data about the run.
    :param actions: the coded actions of the skill.
    :param functions: the coded functions of the skill.
    """
    if needs.plugin != wanted.task.plugin:
        return f"the skill belongs to the plugin {needs.plugin}"
    if not _same_space(needs.space, wanted.space):
        return f"the action space of the skill is {needs.space}"
    offered = {p.name: {a.name: a for a in p.parameters} for p in wanted.library.primitives}
    for primitive in needs.primitives:
        if primitive.name not in offered:
            return f"the task has no primitive {primitive.name}"
        for argument in primitive.arguments:
            here = offered[primitive.name].get(argument.name)
            if here is None or (here.kind, here.unit) != (argument.kind, argument.unit):
                return f"the argument {argument.name} of {primitive.name} has another kind or unit in this task"
            if missing := sorted(set(argument.choices) - set(here.choices)):
                return f"{primitive.name} does not accept {missing[0]} in this task"
    view = {k.name: k for k in wanted.library.view}
    for key in needs.view:
        there = view.get(key.name)
        if there is None or (there.unit, there.size) != (key.unit, key.size):
            return f"the view of this task has no key {key.name} with the same unit and size"
    library = wanted.library.with_features(functions)
    for code in (*functions, *actions):
        if code.name in wanted.taken:
            return f"the name {code.name} is already used in this task"
        own = wanted.library if isinstance(code, CodedFeatures) else library
        if found := faults(code, own):
            return f"{code.name}: {found[0].message}"
    return ""


def _same_space(one: str, other: str) -> bool:
    """Whether code for one action space can work in the other. Discrete action spaces may have other numbers of
    choices, because the choices that code uses are arguments of primitives.
    """
    kind = one.partition("(")[0]
    return one == other or (kind == other.partition("(")[0] and kind in ("Discrete", "MultiDiscrete"))


def task_words(goal: str, id: str) -> frozenset[str]:
    """The words of a task: the words of its goal, and of its id without the plugin's part."""
    return words_of(goal, id.partition("/")[2])


def words_of(*texts: str) -> frozenset[str]:
    """The words of ``texts``, by which goals are compared. Common words such as ``the`` are left out, and so is the
    plural ``s`` of a word.
    """
    found = (word for text in texts for word in _WORD.findall(text.lower()))
    return frozenset(_stem(word) for word in found if word not in _COMMON and len(word) > 1)


def similarity(one: Iterable[str], other: Iterable[str]) -> float:
    """The cosine similarity of two sets of words (Ochiai 1957), from 0 to 1."""
    a, b = frozenset(one), frozenset(other)
    return len(a & b) / (len(a) * len(b)) ** 0.5 if a and b else 0.0


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
