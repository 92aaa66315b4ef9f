"""The possible results of a turn: the checked requests of a yield, the end of the generator, the end of its yields, or
a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from rlgpt.domain import Scalar, Verdict


class Request(NamedTuple):
    """One checked request: a call of a primitive that the host must carry out.

    :ivar name: a primitive of the library, or ``observe``.
    :ivar args: a value for every parameter of the primitive, within its range; defaults are filled in.
    :ivar clipped: names of the arguments that were outside their range and are clipped.
    :ivar line: line of the source as the guest reports it. This number is not trusted: use it only in messages.
    """

    name: str
    args: dict[str, Scalar]
    clipped: tuple[str, ...] = ()
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """The generator yielded requests. Run them in order, then send the outcome, or a list of outcomes if ``many``
    is True.
    """

    requests: tuple[Request, ...]
    many: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """The generator returned."""


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The generator reached the maximal number of yields and yielded again. The generator is closed. Reaching the
    maximal number is not a fault.

    :ivar verdict: the verdict on the clean-up if the clean-up had to be stopped, else None.
    """

    verdict: Verdict | None = None


Turn = Ask | Done | Exhausted | Verdict
