"""Replaces the names of things in the code of a skill, so that the code fits another task of the same plugin.

A *thing* of a task is a stem of keys of the view (``cow`` in ``cow_seen``) or a value of a choice, such that all words
of its name occur among the words of the task (its goal and its id). For example, a skill that gets beef from a cow fits
the task of getting mutton from a sheep after ``sheep`` has replaced ``cow`` and ``mutton`` has replaced ``beef``.

Only string constants change. A skill is data made by others, so sizes are limited, nothing is searched by trial, and
code that cannot be changed with certainty is not changed at all.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rlgpt.domain import Bundle, CodedFeatures, CodedFunction
from rlgpt.sandbox import SandboxLimits
from rlgpt.skills.library import Skill
from rlgpt.skills.needs import Needs, Wanted, misfit, task_words, words_of

_THINGS = 8
"""Maximal number of things whose names are replaced."""
_CHOICES = 5_000
"""Maximal number of choices in the needs of a skill that is examined."""
_CLAUSE = 200
"""Maximal number of characters of the clause about the replaced names. A longer text would be cut in prompts."""
_NAME = re.compile(r"[A-Za-z0-9_]*")
_OPENING = re.compile(rb"[A-Za-z]{0,2}(?:\"\"\"|'''|\"|')")
"""The beginning of a string in a source: its prefix and its opening quotes."""

Names = Mapping[str, str]
"""A dict from the name of a thing in the skill to the name that replaces it."""


@dataclass
class _Thing:
    """What the code of a skill needs of a thing.

    :ivar keys: a dict from the suffix of each needed key to the key's unit and size.
    :ivar slots: the choice arguments that have the thing as a value, each as a primitive and an argument.
    """

    keys: dict[str, tuple[str, int]] = field(default_factory=dict)
    slots: set[tuple[str, str]] = field(default_factory=set)


def renamed(skill: Skill, features: Sequence[CodedFunction], wanted: Wanted) -> Skill | None:
    """A copy of ``skill`` that fits the run because the names of things are replaced; None if there is no such copy, or
    if more than one thing of the run's task could replace a thing.

    The bundle of the copy contains the coded actions of the skill and ``features``. The needs of the copy are those of
    the changed code.

    :param features: the features of the skill that its coded actions read.
    """
    record = skill.record
    own, here = task_words(record.goal, record.task), wanted.words
    if sum(len(a.choices) for p in record.needs.primitives for a in p.arguments) > _CHOICES:
        return None
    things = _things(record.needs, own, here)
    names: dict[str, str] = {}
    texts: dict[str, str] = {}
    if len(things) > _THINGS:
        return None
    for name, thing in things.items():
        found = [c for c in _candidates(thing, wanted) if _is_thing(c, here) and not _is_thing(c, own)]
        if len(found) != 1:
            return None
        names[name] = found[0]
        for old, new in _texts(name, found[0], thing):
            texts[old] = new
    if len(set(texts.values())) < len(texts) or len(texts) < sum(2 + len(t.keys) for t in things.values()):
        return None  # Two names would become one, or one name belongs to two things.
    outputs = {o.name for f in features if isinstance(f, CodedFeatures) for o in f.outputs}
    if not outputs.isdisjoint((*texts, *texts.values())):
        return None  # An output of a feature is a key of the view, too, and keeps its name.
    used: set[str] = set()

    def changed(source: str) -> str:
        result, found = with_names(source, names, texts)
        used.update(found)
        return result

    try:
        actions = tuple(
            a.model_copy(update={"source": changed(a.source), "shared": changed(a.shared)})
            for a in skill.bundle.actions
        )
        functions = tuple(f.model_copy(update={"source": changed(f.source)}) for f in features)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    clause = " and ".join(f"{new} in place of {old}" for old, new in names.items() if old in used)
    needs = _needs(record.needs, names, texts)
    if not clause or len(clause) > _CLAUSE or misfit(needs, wanted, actions, functions):
        return None
    return replace(
        skill,
        record=record.model_copy(update={"needs": needs}),
        bundle=Bundle(actions=actions, functions=functions),
        changed=clause,
    )


def _things(needs: Needs, own: frozenset[str], here: frozenset[str]) -> dict[str, _Thing]:
    """The needed things of the skill's task that are not things of the run's task. The stem of a key is the longest
    stem that is a thing.
    """
    found: dict[str, _Thing] = {}
    for key in needs.view:
        cuts = [i for i, letter in enumerate(key.name) if letter == "_" and key.name[i + 1 :]]
        stem = next((key.name[:i] for i in reversed(cuts) if _is_thing(key.name[:i], own)), "")
        if stem and not _is_thing(stem, here):
            found.setdefault(stem, _Thing()).keys[key.name[len(stem) + 1 :]] = (key.unit, key.size)
    for primitive in needs.primitives:
        for argument in primitive.arguments:
            for choice in argument.choices:
                if _is_thing(choice, own) and not _is_thing(choice, here):
                    found.setdefault(choice, _Thing()).slots.add((primitive.name, argument.name))
    return found


def _is_thing(name: str, words: frozenset[str]) -> bool:
    own = words_of(name)
    return bool(own) and _NAME.fullmatch(name) is not None and own <= words


def _candidates(thing: _Thing, wanted: Wanted) -> list[str]:
    """The stems of keys and values of choices in the run's task that have all that the code needs of ``thing``."""
    view = {k.name: (k.unit, k.size) for k in wanted.library.view}
    choices = {(p.name, a.name): a.choices for p in wanted.library.primitives for a in p.parameters}
    slots = [frozenset(choices.get(slot, ())) for slot in sorted(thing.slots)]
    stems: Iterable[str] = slots[0] if slots else ()
    if thing.keys:
        end = f"_{next(iter(thing.keys))}"
        stems = [k.removesuffix(end) for k in view if k.endswith(end)]
    return sorted(
        stem
        for stem in stems
        if all(view.get(f"{stem}_{suffix}") == kind for suffix, kind in thing.keys.items())
        and all(stem in slot for slot in slots)
    )


def _texts(name: str, new: str, thing: _Thing) -> Iterator[tuple[str, str]]:
    """The string constants that name a thing, each with its replacement."""
    yield name, new
    yield f"{name}_", f"{new}_"  # The code may join the stem and a suffix.
    yield from ((f"{name}_{suffix}", f"{new}_{suffix}") for suffix in thing.keys)


def _needs(needs: Needs, names: Names, texts: Names) -> Needs:
    primitives = tuple(
        p.model_copy(
            update={
                "arguments": tuple(
                    a.model_copy(update={"choices": tuple(names.get(c, c) for c in a.choices)}) for a in p.arguments
                )
            }
        )
        for p in needs.primitives
    )
    view = tuple(k.model_copy(update={"name": texts.get(k.name, k.name)}) for k in needs.view)
    return needs.model_copy(update={"primitives": primitives, "view": view})


def with_names(source: str, names: Names, texts: Names) -> tuple[str, frozenset[str]]:
    """``source`` with string constants replaced, and the names of the things that occurred. All characters outside the
    constants stay.

    :param texts: a dict from each constant to its replacement. Each constant begins with a name in ``names``, and its
        replacement with the new name.
    :raises ValueError: the source is too large, a constant equals the replacement of another constant, or a constant
        cannot be replaced where it stands, for example because it contains escapes.
    :raises SyntaxError: the source cannot be parsed.
    """
    data = source.encode()
    if len(data) > SandboxLimits().source_bytes:
        raise ValueError("the source is too large")
    tree = _parse(source)
    lines = [0, *(m.end() for m in re.finditer(rb"\r\n|\r|\n", data))]
    new = frozenset(texts.values()) - texts.keys()
    edits: dict[int, str] = {}
    for string, constant in _strings(tree):
        text = str(constant.value)
        if text in new:
            raise ValueError("two constants would become one")
        if name := _name(text, names, texts, part=string is not constant):
            start = lines[string.lineno - 1] + string.col_offset
            opening = _OPENING.match(data, start)
            if opening is None or not data.startswith(name.encode(), opening.end()):
                raise ValueError("a constant does not stand in the source as it is")
            edits[opening.end()] = name
            constant.value = names[name] + text[len(name) :]
    for start in sorted(edits, reverse=True):
        name = edits[start]
        data = data[:start] + names[name].encode() + data[start + len(name) :]
    result = data.decode()
    if ast.dump(_parse(result)) != ast.dump(tree):
        raise ValueError("more than the constants would change")
    return result, frozenset(edits.values())


def _name(text: str, names: Names, texts: Names, *, part: bool) -> str:
    """The thing that the constant ``text`` names; empty if the constant stays.

    :param part: whether the constant is the beginning of an f-string that makes a name.
    """
    starts = [n for n in names if text.startswith(n)]
    if part:
        return max((n for n in starts if text.startswith(f"{n}_")), key=len, default="")
    return next((n for n in starts if texts.get(text) == names[n] + text[len(n) :]), "")


def _strings(tree: ast.AST) -> Iterator[tuple[ast.Constant | ast.JoinedStr, ast.Constant]]:
    """The string constants of ``tree``, each with the string of the source in which it stands. Of an f-string that
    makes a name, this is the literal part at the beginning. Other parts of f-strings are left out.
    """
    parts: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FormattedValue) and isinstance(node.format_spec, ast.JoinedStr):
            parts |= {id(node.format_spec), *map(id, node.format_spec.values)}
        elif isinstance(node, ast.JoinedStr):
            literals = [v for v in node.values if isinstance(v, ast.Constant)]
            parts |= set(map(id, literals))
            makes_name = all(_NAME.fullmatch(str(v.value)) for v in literals)
            if id(node) not in parts and makes_name and literals and node.values[0] is literals[0]:
                yield node, literals[0]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node, node


def _parse(source: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Warnings about the source, for example of unknown escapes, are not errors.
        return ast.parse(source)
