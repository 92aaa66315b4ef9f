"""The possible results of a turn. A turn of the guest ends with the checked requests of a yield, with the end of the
generator, with the maximal number of yields, or with a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from rlgpt.domain import Scalar, Verdict


class Request(NamedTuple):
    """One checked request, which is a call of a primitive that the host must carry out.

    :ivar name: the name of a primitive of the library, or ``observe``.
    :ivar args: for every parameter of the primitive, a value within its range. An argument that the code did not give
        has its default value.
    :ivar clipped: names of the arguments that were outside their range and were clipped into it.
    :ivar line: the number of the source line that the guest reports. The line number is untrusted, so only messages may
        contain it.
    """

    name: str
    args: dict[str, Scalar]
    clipped: tuple[str, ...] = ()
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """The result of a turn in which the generator yielded requests. The caller runs the requests in order, and then
    sends the outcome, or a list of outcomes if ``many`` is True.
    """

    requests: tuple[Request, ...]
    many: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """The result of a turn in which the generator of the coded action returned."""


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The result of a turn in which the generator yielded more often than a call may. The generator is closed. Too many
    yields are not a violation of the coded action.

    :ivar verdict: the verdict on the generator's ``finally`` blocks if they had to be stopped, else None.
    """

    verdict: Verdict | None = None


Turn = Ask | Done | Exhausted | Verdict
