"""Rules of success. A rule of success is one line of text, such as ``terminated and not crashed``, which a run's record
can store.

    RULE      = [reported else] CONDITION [and CONDITION ...] [ever | at the end]
    CONDITION = [not] WORD | WORD (>= | <= | > | < | ==) NUMBER
    WORD      = reported | return | terminated | truncated | KEY

The word ``reported`` is the environment's own answer under ``success`` or ``is_success`` in ``info``. The word
``return`` is the undiscounted sum of the episode's rewards so far. The word ``terminated`` means that the environment
ended the episode, and ``truncated`` that a time limit ended it. KEY is a key of ``info``; dots lead into nested
mappings (``achievements.collect_wood``). A key of ``info`` whose name is one of these four words is written
``info.KEY``. If a step does not report KEY, the word KEY is false and every comparison with KEY is false.

With ``ever``, an episode is a success if all conditions hold at any one step. With ``at the end``, it is a success if
all conditions hold at the last step. The default is ``at the end`` if the rule contains ``return``, ``terminated`` or
``truncated``, else ``ever``. A rule ``reported else RULE`` uses RULE only if the environment reports neither
``success`` nor ``is_success``.
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
WORDS = (REPORTED, RETURN, *_ENDS)
"""The words of a rule that are no keys of ``info``."""
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
    """The data of one step of an episode, for which a rule of success is evaluated.

    :ivar total: the undiscounted sum of the episode's rewards so far.
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
    """One condition of a rule. An empty ``relation`` in a condition means that ``word`` must be true."""

    word: str
    negated: bool = False
    relation: str = ""
    value: float = 0.0

    @property
    def key(self) -> str | None:
        """The key of ``info`` that the condition reads; None if the condition does not read ``info``."""
        named = self.word.removeprefix("info.")
        return None if named == self.word and self.word in WORDS else named

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
            return reported_success(now.info)
        return {RETURN: now.total, "terminated": now.terminated, "truncated": now.truncated}[self.word]

    @property
    def words(self) -> str:
        if self.word == RETURN:
            least = {">=": "of at least", ">": "above", "<=": "of at most", "<": "below", "==": "of"}[self.relation]
            return f"a total reward {least} {self.value:g} in the episode"
        if self.key is None:
            sentence = {
                REPORTED: "what the environment reports as success",
                "terminated": "an end of the episode by the environment",
                "truncated": "an episode that lasts until its limit of time",
            }[self.word]
            return f"not {sentence}" if self.negated else sentence
        shown = f"the environment's {self.key}"
        if self.relation:
            return f"{shown} {self.relation} {self.value:g}"
        return f"{shown} is {'not ' if self.negated else ''}true"


@dataclass(frozen=True)
class SuccessRule:
    """A parsed rule of success.

    :ivar text: the rule as text with single spaces, as :func:`parse_rule` accepts it.
    :ivar unless_reported: whether the environment's own report of success, if it makes one, replaces the rule.
    :ivar never: whether no episode can succeed; True for a task that has only a score.
    """

    text: str
    conditions: tuple[Condition, ...]
    when: Literal["ever", "at the end"]
    unless_reported: bool = False
    never: bool = False

    def __call__(self, now: Moment) -> bool:
        if self.never:
            return False
        if self.unless_reported and (reported := reported_success(now.info)) is not None:
            return reported
        return (self.when == "ever" or now.over) and all(c.holds(now) for c in self.conditions)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of ``info`` that the rule of success reads."""
        return tuple(c.key for c in self.conditions if c.key is not None)

    @property
    def needs_an_end(self) -> bool:
        """Whether, by this rule, an episode can succeed only if the environment itself ends the episode."""
        ends = any(c.word == "terminated" and not c.negated for c in self.conditions)
        return ends and not self.unless_reported

    @property
    def words(self) -> str:
        """The rule as a sentence for prompts."""
        if self.unless_reported and self.text == f"{REPORTED} else terminated and return > 0":
            return "what the environment reports as success, or else an episode it ends with a positive total reward"
        sentence = " and ".join(c.words for c in self.conditions)
        if self.when == "at the end" and not {c.word for c in self.conditions} & {RETURN, *_ENDS}:
            sentence += ", at the end of the episode"
        return f"{sentence}, unless the environment itself reports success" if self.unless_reported else sentence


def parse_rule(given: str | float) -> SuccessRule:
    """Parse a rule from text. A number as a rule of success means the return that an episode must reach.

    :raises ConfigError: the text is not a rule of success; the message shows the valid form.
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
        raise ConfigError(f"success {text!r:.200}: {part.strip()!r:.80} is not a condition. {_HOW}")
    negated, word, relation, value = found.groups()
    if word in ("and", "or", "else", "not", "ever"):
        raise ConfigError(f"success {text!r:.200}: {word!r} is not a condition. {_HOW}")
    if word == RETURN and not relation:
        raise ConfigError(f"success {text!r:.200}: the return needs a number: 'return >= 200'. {_HOW}")
    if relation and (negated or word in (REPORTED, *_ENDS)):
        raise ConfigError(
            f"success {text!r:.200}: {part.strip()!r} compares a true-or-false value with a number. {_HOW}"
        )
    return Condition(word, bool(negated), relation or "", float(value or 0.0))


def reported_success(info: Mapping[str, Any]) -> bool | None:
    """The value of ``success`` or ``is_success`` in ``info`` as a bool; None if ``info`` has neither key."""
    for key in _SAID:
        if key in info:
            return bool(info[key])
    return None


def lookup(info: Mapping[str, Any], key: str) -> Any:
    """The value under the key ``key`` in ``info``; None if ``info`` has no such value. Dots in ``key`` lead into nested
    mappings of ``info``.
    """
    if key in info:
        return info[key]
    head, dot, rest = key.partition(".")
    inner = info.get(head)
    return lookup(inner, rest) if dot and isinstance(inner, Mapping) else None


def number_of(value: Any) -> float | None:
    """Convert a number, a bool or an array with one number to a float. For all other values, and for a number that is
    not finite, ``number_of`` returns None.
    """
    if isinstance(value, str | bytes | list | tuple | Mapping):
        return None
    try:
        if isinstance(value, float | int):
            number = float(value)
        else:
            array = np.asarray(value)
            number = float(array.reshape(-1)[0]) if array.size == 1 else math.nan
    except (TypeError, ValueError, OverflowError):  # ``value`` is an object, an array of text or a very large integer.
        return None
    return number if math.isfinite(number) else None


def _truth(value: Any) -> bool:
    try:
        return bool(value)
    except ValueError:  # An array with several numbers has no truth value.
        return bool(np.all(value))
