"""The fuel that one piece of code has left: in a turn, in a call, in an episode."""

from __future__ import annotations

from typing import Literal, NamedTuple

from rlgpt.sandbox.limits import SandboxLimits

Kind = Literal["load", "answer", "turn", "function"]


class Allowance(NamedTuple):
    """What one crossing into the instance may burn.

    :ivar exceeded: the message where it burns more; None where the crossing's own limit is the tightest.
    """

    fuel: int
    exceeded: str | None = None


class FuelMeter:
    """Counts the fuel of one piece of code from the start of an episode to its end.

    :param pieces: of code in the episode. Up to ``fuel_shares`` of them get every limit in full. More share equally
        what that many get, so that all together burn no more. The limits of one do not depend on what another burns.
    """

    def __init__(self, limits: SandboxLimits, pieces: int) -> None:
        def share(fuel: int) -> int:
            return fuel if pieces <= limits.fuel_shares else max(1, fuel * limits.fuel_shares // pieces)

        self._each = {
            "load": share(limits.load_fuel),
            "answer": share(limits.turn_fuel),
            "turn": limits.turn_fuel,
            "function": share(limits.function_fuel),
        }
        self._call = self._call_left = limits.call_fuel
        self._episode = self._episode_left = share(limits.episode_fuel)

    def begin_call(self) -> None:
        """A call of the action's ``run`` begins."""
        self._call_left = self._call

    def spend(self, fuel: int, kind: Kind) -> None:
        """Add the fuel that a crossing burned."""
        self._episode_left = max(0, self._episode_left - fuel)
        if kind == "turn":
            self._call_left = max(0, self._call_left - fuel)

    def allowance(self, kind: Kind) -> Allowance:
        """What the next crossing of ``kind`` may burn; 0 where the call or the episode has burned all it had."""
        fuel = self._each[kind]
        if kind == "turn" and self._call_left < min(fuel, self._episode_left):
            return Allowance(self._call_left, _exceeded("call, its clean-up included", self._call, "call_fuel"))
        if self._episode_left < fuel:
            return Allowance(self._episode_left, _exceeded("episode", self._episode, "episode_fuel"))
        return Allowance(fuel)


def _exceeded(span: str, fuel: int, limit: str) -> str:
    return (
        f"it ran too long in one {span} (over {fuel:,} units of fuel: SandboxLimits({limit}=...)): give loops a bound, "
        "compute less"
    )
