"""What can be wrong with what a client says."""

from __future__ import annotations

from rlgpt.errors import RlgptError


class ProtocolError(RlgptError):
    """A client does not keep to the protocol: the server hangs up on it, and goes on."""


class MissionError(ProtocolError):
    """A mission that cannot be read, or that this world cannot play."""
