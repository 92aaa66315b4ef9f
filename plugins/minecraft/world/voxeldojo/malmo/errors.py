"""The errors that clients cause."""

from __future__ import annotations

from voxeldojo.errors import VoxelDojoError


class ProtocolError(VoxelDojoError):
    """A client violates the protocol. After a violation of the protocol, the server closes the client's connection and
    continues.
    """


class MissionError(ProtocolError):
    """A mission cannot be parsed, or voxeldojo cannot play the mission."""
