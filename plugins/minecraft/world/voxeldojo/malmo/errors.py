"""What can be wrong with what a client says."""

from __future__ import annotations

from voxeldojo.errors import VoxelDojoError


class ProtocolError(VoxelDojoError):
    """A client does not keep to the protocol: the server hangs up on it, and goes on."""


class MissionError(ProtocolError):
    """A mission that cannot be read, or that this world cannot play."""
