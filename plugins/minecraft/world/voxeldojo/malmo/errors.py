"""The errors that clients cause."""

from __future__ import annotations

from voxeldojo.errors import VoxelDojoError


class ProtocolError(VoxelDojoError):
    """A client violates the protocol. The server closes its connection and continues."""


class MissionError(ProtocolError):
    """A mission cannot be parsed, or this world cannot play it."""
