"""What a coded action may use up before it is stopped."""

from __future__ import annotations

from pydantic import Field

from rlgpt.domain import Value


class SandboxLimits(Value):
    """Limits of one guest. Fuel is deterministic: about one unit for each WebAssembly instruction that runs."""

    source_bytes: int = Field(default=16_384, ge=1, description="UTF-8 length of a source")
    memory_bytes: int = Field(
        default=64 * 2**20, ge=32 * 2**20, description="memory of one instance, the interpreter's included"
    )
    load_fuel: int = Field(default=1_000_000_000, ge=1, description="fuel to run the top level of a source")
    turn_fuel: int = Field(
        default=1_000_000_000,
        ge=1_000_000,
        description="fuel between two yields; a plain one takes 150,000, a step of a simple loop 1,500 to 2,000",
    )
    yields: int = Field(default=50, ge=1, description="yields of one call")
    requests: int = Field(default=16, ge=1, description="requests in one yield")
    reply_bytes: int = Field(default=4096, ge=64, description="UTF-8 length of what the guest hands over at a yield")
    view_bytes: int = Field(default=8192, ge=64, description="JSON length of a view, or of one outcome")
    wall_seconds: float = Field(default=5.0, gt=0, description="backstop on one turn; fuel should always come first")


DEFAULT = SandboxLimits()
