"""Rules of success as one line of text, such as ``terminated and not crashed``: data that a record can hold.

    RULE      = [reported else] CONDITION [and CONDITION ...] [ever | at the end]
    CONDITION = [not] WORD | WORD (>= | <= | > | < | ==) NUMBER
    WORD      = reported | return | terminated | truncated | KEY

``reported`` is what the environment itself says, under ``success`` or ``is_success`` in ``info``; ``return`` the
undiscounted reward of the episode so far; ``terminated`` an end by the environment, ``truncated`` one by a limit of
time. KEY is a key of ``info``; dots lead into mappings (``achievements.collect_wood``), and ``info.KEY`` is a key named
like one of these words. A KEY that a step does not report is false, and meets no comparison.

``ever``: a step on which all conditions hold makes the episode a success. ``at the end``: the conditions are judged on
its last step. Default: ``at the end`` where the rule names the return or an end, else ``ever``.
``reported else RULE`` judges by RULE where the environment reports nothing.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rlgpt.errors import ConfigError

REPORTED = "reported"
RETURN = "return"
_ENDS = ("terminated", "truncated")
_SAID = ("success", "is_success")
_FORM = re.compile(r"(not )?([A-Za-z_][\w./-]*)(?: ?(>=|<=|==|>|<) ?(-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?))?")
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True)
class Moment:
    """What a rule judges: one step of an episode.

    :ivar total: the undiscounted return so far.
    """

    info: Mapping[str, Any]
    total: float
    terminated: bool
    truncated: bool

    @property
    def over(self) -> bool:
        return self.terminated or self.truncated


@dataclass(frozen=True)
class Condition:
    """One condition; ``relation`` is empty where ``word`` is to be true."""

    word: str
    negated: bool = False
    relation: str = ""
    value: float = 0.0

    @property
    def key(self) -> str | None:
        """The key of info that it reads; None where it reads something else."""
        named = self.word.removeprefix("info.")
        return None if named == self.word and self.word in (REPORTED, RETURN, *_ENDS) else named

    def holds(self, now: Moment) -> bool:
        found = self._found(now)
        if not self.relation:
            return _truth(found) is not self.negated
        number = number_of(found)
        return number is not None and _COMPARE[self.relation](number, self.value)

    def _found(self, now: Moment) -> Any:
        if self.key is not None:
            return lookup(now.info, self.key)
        if self.word == REPORTED:
            return said(now.info)
        return {RETURN: now.total, "terminated": now.terminated, "truncated": now.truncated}[self.word]

    @property
    def words(self) -> str:
        if self.word == RETURN:
            least = {">=": "of at least", ">": "above", "<=": "of at most", "<": "below", "==": "of"}[self.relation]
            return f"a total reward {least} {self.value:g} in the episode"
        if self.key is None:
            told = {
                REPORTED: "what the environment reports as success",
                "terminated": "an end of the episode by the environment",
                "truncated": "an episode that lasts until its limit of time",
            }[self.word]
            return f"not {told}" if self.negated else told
        shown = f"the environment's {self.key}"
        if self.relation:
            return f"{shown} {self.relation} {self.value:g}"
        return f"{shown} is {'not ' if self.negated else ''}true"


@dataclass(frozen=True)
class SuccessRule:
    """A parsed rule.

    :ivar text: as :func:`parse_rule` takes it, in its shortest form.
    :ivar unless_reported: whether a success that the environment reports replaces the rule.
    :ivar never: no episode succeeds; for a task that has a score alone.
    """

    text: str
    conditions: tuple[Condition, ...]
    when: Literal["ever", "at the end"]
    unless_reported: bool = False
    never: bool = False

    def __call__(self, now: Moment) -> bool:
        if self.never:
            return False
        if self.unless_reported and (reported := said(now.info)) is not None:
            return reported
        return (self.when == "ever" or now.over) and all(c.holds(now) for c in self.conditions)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of info that it reads."""
        return tuple(c.key for c in self.conditions if c.key is not None)

    @property
    def needs_an_end(self) -> bool:
        """Whether only an episode that the environment ends can succeed."""
        ends = any(c.word == "terminated" and not c.negated for c in self.conditions)
        return ends and not self.unless_reported

    @property
    def words(self) -> str:
        """The rule in words, for prompts."""
        if self.unless_reported and self.text == f"{REPORTED} else terminated and return > 0":
            return "what the environment reports as success, or else an episode it ends with a positive total reward"
        told = " and ".join(c.words for c in self.conditions)
        if self.when == "at the end" and not {c.word for c in self.conditions} & {RETURN, *_ENDS}:
            told += ", at the end of the episode"
        return f"{told}, unless the environment itself reports success" if self.unless_reported else told


def parse_rule(given: str | float) -> SuccessRule:
    """The rule that a text states; a number is the return that an episode must reach.

    :raises ConfigError: it is no rule; the message gives the form.
    """
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        raise ConfigError(f"success is {given!r:.80}, a {type(given).__name__}. {_HOW}")
    text = f"{RETURN} >= {given:.15g}" if isinstance(given, int | float) else " ".join(given.split())
    body, unless = text, False
    if body.startswith(f"{REPORTED} else "):
        body, unless = body.removeprefix(f"{REPORTED} else "), True
    when: Literal["ever", "at the end"] | None = None
    if body.endswith(" at the end"):
        body, when = body.removesuffix(" at the end"), "at the end"
    elif body.endswith(" ever"):
        body, when = body.removesuffix(" ever"), "ever"
    conditions = tuple(_condition(part, text) for part in body.split(" and "))
    usual: Literal["ever", "at the end"] = "at the end" if {c.word for c in conditions} & {RETURN, *_ENDS} else "ever"
    return SuccessRule(text, conditions, when or usual, unless)


_HOW = (
    "Write conditions joined by 'and': reported, terminated, truncated, a key of info, 'not KEY', 'KEY >= NUMBER', "
    "'return >= NUMBER'; then 'ever' or 'at the end' if the default is not meant. For example 'is_success at the end', "
    "'terminated and not crashed', 'return >= 200'."
)


def _condition(part: str, text: str) -> Condition:
    found = _FORM.fullmatch(part.strip())
    if found is None:
        raise ConfigError(f"success={text!r:.200}: {part.strip()!r:.80} is no condition. {_HOW}")
    negated, word, relation, value = found.groups()
    if word in ("and", "or", "else", "not", "ever"):
        raise ConfigError(f"success={text!r:.200}: {word!r} stands where a condition is expected. {_HOW}")
    if word == RETURN and not relation:
        raise ConfigError(f"success={text!r:.200}: the return needs a number: 'return >= 200'. {_HOW}")
    if relation and (negated or word in (REPORTED, *_ENDS)):
        raise ConfigError(f"success={text!r:.200}: {part.strip()!r} compares what is true or false. {_HOW}")
    return Condition(word, bool(negated), relation or "", float(value or 0.0))


def said(info: Mapping[str, Any]) -> bool | None:
    """What the environment itself reports under ``success`` or ``is_success``; None where it reports nothing."""
    for key in _SAID:
        if key in info:
            return bool(info[key])
    return None


def lookup(info: Mapping[str, Any], key: str) -> Any:
    """The value of ``info`` under ``key``, whose dots lead into mappings; None where there is none."""
    if key in info:
        return info[key]
    head, dot, rest = key.partition(".")
    inner = info.get(head)
    return lookup(inner, rest) if dot and isinstance(inner, Mapping) else None


def number_of(value: Any) -> float | None:
    """A number, truth value or array of one number as a float; None where it is something else, or not finite."""
    if isinstance(value, str | bytes | list | tuple | Mapping):
        return None
    try:
        array = np.asarray(value)
        number = float(array.reshape(-1)[0]) if array.size == 1 else math.nan
    except (TypeError, ValueError, OverflowError):  # an object, an array of text, a huge integer
        return None
    return number if math.isfinite(number) else None


def _truth(value: Any) -> bool:
    try:
        return bool(value)
    except ValueError:  # an array
        return bool(np.all(value))
