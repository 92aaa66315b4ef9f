"""Counts the fuel that one coded action or function has left in a turn, in a call and in an episode. *Fuel* is the
WebAssembly runtime's count of executed instructions. A *turn* is what the code computes between two yields.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from rlgpt.sandbox.limits import SandboxLimits

Kind = Literal["load", "answer", "turn", "function"]


class Allowance(NamedTuple):
    """The fuel that one call into the WebAssembly instance may use.

    :ivar exceeded: the message for the case that the call needs more fuel than allowed. ``exceeded`` is None if the
        limit of a single turn decides; the caller then makes the message.
    """

    fuel: int
    exceeded: str | None = None


class FuelMeter:
    """Counts the fuel of one coded action or function during an episode.

    :param pieces: number of coded actions or functions in the episode. If ``pieces`` is at most the limit
        ``fuel_shares``, each action or function gets the full limits of fuel. If ``pieces`` is larger, all actions or
        functions together get the fuel of ``fuel_shares`` actions, in equal shares. The limits of a turn and of a call
        are not divided. The fuel that one action uses does not reduce the limits of another action.
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
        self._each_call = self._call = self._call_left = limits.call_fuel
        self._episode = self._episode_left = share(limits.episode_fuel)
        self._step = share(limits.step_fuel)

    @property
    def exhausted(self) -> bool:
        """Whether the code has used up its fuel of the episode. Code without fuel does not run again in this
        episode."""
        return not self._episode_left

    def add_step(self) -> None:
        """Add the fuel of one primitive step to the fuel of the current call and to the fuel of the episode. If the
        fuel of the call or of the episode is used up, ``add_step`` does not change it.
        """
        if self._episode_left:
            self._episode += self._step
            self._episode_left += self._step
        if self._call_left:
            self._call += self._step
            self._call_left += self._step

    def begin_call(self) -> None:
        """Begin a call of the action's function ``run``."""
        self._call = self._call_left = self._each_call

    def spend(self, fuel: int, kind: Kind) -> None:
        """Subtract the fuel that a call into the WebAssembly instance has used."""
        self._episode_left = max(0, self._episode_left - fuel)
        if kind == "turn":
            self._call_left = max(0, self._call_left - fuel)

    def allowance(self, kind: Kind) -> Allowance:
        """The fuel that the next call into the WebAssembly instance may use. The allowance is 0 if the fuel of the
        action's call or of the episode is used up.
        """
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
