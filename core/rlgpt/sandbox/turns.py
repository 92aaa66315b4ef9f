"""The results of a turn: the checked requests of a yield, the end of the generator, or a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from rlgpt.domain import Scalar, Verdict


class Request(NamedTuple):
    """One checked request.

    :ivar name: a primitive of the library, or ``observe``.
    :ivar args: a value for every parameter of the primitive, within its range; defaults are filled in.
    :ivar clipped: names of the arguments that were outside their range.
    :ivar line: of the source, as the guest reports it; use it in messages only.
    """

    name: str
    args: dict[str, Scalar]
    clipped: tuple[str, ...] = ()
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """The generator yielded. Run ``requests`` in order, then send the outcome; a list of outcomes where ``many``."""

    requests: tuple[Request, ...]
    many: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """The generator returned."""


Turn = Ask | Done | Verdict
