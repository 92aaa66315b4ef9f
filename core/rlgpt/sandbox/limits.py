"""The limits of fuel, memory, time and sizes for coded actions."""

from __future__ import annotations

from pydantic import Field

from rlgpt.domain import Value


class SandboxLimits(Value):
    """The limits for the coded actions of one episode. A unit of fuel is about one WebAssembly instruction, so limits
    on fuel have the same effect on every machine.
    """

    source_bytes: int = Field(default=16_384, ge=1, description="UTF-8 length of a source")
    memory_bytes: int = Field(
        default=64 * 2**20,
        ge=32 * 2**20,
        description="memory of one action's instance in bytes, including the interpreter",
    )
    instances: int = Field(
        default=16, ge=1, description="number of instances in an episode; each keeps the globals of its action"
    )
    load_fuel: int = Field(default=1_000_000_000, ge=1, description="fuel to run the top level of a source")
    turn_fuel: int = Field(
        default=1_000_000_000,
        ge=1_000_000,
        description="fuel between two yields; a simple turn uses 150,000, a step of a simple loop 1,500 to 2,000",
    )
    function_fuel: int = Field(
        default=30_000_000,
        ge=1_000_000,
        description="fuel of a feature, reward term or predicate at one primitive step; a simple one uses 200,000",
    )
    call_fuel: int = Field(
        default=4_000_000_000,
        ge=1_000_000,
        description="fuel of one call: all its turns and its clean-up; each primitive step adds step_fuel to it",
    )
    episode_fuel: int = Field(
        default=20_000_000_000,
        ge=1_000_000,
        description="fuel of one action in one episode; each primitive step adds step_fuel to it",
    )
    step_fuel: int = Field(
        default=50_000_000, ge=0, description="fuel that each primitive step adds to call_fuel and episode_fuel"
    )
    fuel_shares: int = Field(
        default=8, ge=1, description="number of actions with full fuel; more actions share the same total equally"
    )
    yields: int = Field(
        default=50,
        ge=1,
        description="yields with a primitive in one call; the action's max_steps if that is more",
    )
    looks: int = Field(
        default=500, ge=1, description="views that one call may observe; two for each of its yields if that is more"
    )
    requests: int = Field(default=16, ge=1, description="requests in one yield")
    reply_bytes: int = Field(default=4096, ge=64, description="UTF-8 length of the guest's message at a yield")
    shared_bytes: int = Field(
        default=8192, ge=64, description="JSON length of the memory that the actions of an episode share"
    )
    view_bytes: int = Field(
        default=8192,
        ge=64,
        description="JSON length of a view, or of one outcome; or bytes of its floats, and JSON length of all else",
    )
    wall_seconds: float = Field(
        default=5.0, gt=0, description="time limit of one turn, for the case that fuel does not stop it first"
    )


DEFAULT = SandboxLimits()
