"""What a guest hands back: the checked requests of a yield, the end of its generator, or a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from rlgpt.domain import Scalar, Verdict


class Request(NamedTuple):
    """One checked request.

    :ivar name: a primitive of the library, or ``observe``.
    :ivar args: every parameter of the primitive, defaults filled in, each within its range.
    :ivar clipped: names of the arguments that were outside their range.
    :ivar line: of the source, where the request was made; as the guest says, so for messages alone.
    """

    name: str
    args: dict[str, Scalar]
    clipped: tuple[str, ...] = ()
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """The generator yielded: run ``requests`` in order, then send one outcome, or a list of them where ``many``."""

    requests: tuple[Request, ...]
    many: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """The generator returned."""


Turn = Ask | Done | Verdict
