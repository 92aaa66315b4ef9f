"""The possible results of a turn. A turn ends with the checked requests of a yield, with the end of the generator, with
the maximal number of yields, or with a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from rlgpt.domain import Scalar, Verdict


class Request(NamedTuple):
    """One checked request: a call of a primitive that the host must carry out.

    :ivar name: the name of a primitive of the library, or ``observe``.
    :ivar args: a value within its range for every parameter of the primitive. Missing arguments have their defaults.
    :ivar clipped: names of the arguments that were outside their range and were clipped.
    :ivar line: the line of the source that the guest reports. This number is untrusted, so only messages may contain
        it.
    """

    name: str
    args: dict[str, Scalar]
    clipped: tuple[str, ...] = ()
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """The result of a turn in which the generator yielded requests. The caller runs the requests in order. Then the
    caller sends the outcome, or a list of outcomes if ``many`` is True.
    """

    requests: tuple[Request, ...]
    many: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """The result of a turn in which the generator returned."""


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The result of a turn in which the generator yielded more often than the maximal number of yields. The generator
    is closed. Too many yields are not a fault of the code.

    :ivar verdict: the verdict on the generator's clean-up if the clean-up had to be stopped, else None.
    """

    verdict: Verdict | None = None


Turn = Ask | Done | Exhausted | Verdict
