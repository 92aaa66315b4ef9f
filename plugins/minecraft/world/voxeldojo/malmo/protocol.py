"""The frames of MalmoEnv 0.37, and what its messages are.

Each frame is four bytes of length, the highest first, and so many bytes. The first says ``<MalmoEnv0.37.0/>``.
Source: Malmo as MineDojo 0.1 ships it, ``Client/MalmoEnvServer``.
"""

from __future__ import annotations

import re
import socket
import struct
from typing import Final, NamedTuple

from voxeldojo.malmo.errors import ProtocolError

HELLO: Final = "<MalmoEnv0.37."
MAX_FRAME_BYTES: Final = 1 << 20
"""Bytes of the largest frame that is read: a mission."""
PIECE: Final = 1 << 16
_TOKEN: Final = re.compile(r"[\w-]{1,100}:\d{1,9}:\d{1,9}:\d{1,9}:\w{1,9}(:-?\d{1,19})?", re.ASCII)
_STEP: Final = re.compile(r"<StepClient(\d?)>(.*)</StepClient\d? ?>\s*", re.DOTALL)


class Frames:
    """What is said on a connection, frame by frame."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def receive(self) -> bytes | None:
        """The next frame; None where the other side hung up between frames.

        :raises ProtocolError: it hung up within a frame, announces one that is too large, or is silent for too long.
        """
        try:
            head = self._exactly(4)
            if head is None:
                return None
            (length,) = struct.unpack("!I", head)
            if length > MAX_FRAME_BYTES:
                raise ProtocolError(
                    f"a frame of {length} bytes was announced; {MAX_FRAME_BYTES} is the largest that is read"
                )
            body = self._exactly(length)
        except TimeoutError as error:
            raise ProtocolError(f"nothing was said for {self._connection.gettimeout():g} s") from error
        if body is None:
            raise ProtocolError(f"it hung up before a frame of {length} bytes")
        return body

    def send(self, *frames: bytes) -> None:
        """Say several frames at once."""
        self._connection.sendall(b"".join(struct.pack("!I", len(frame)) + frame for frame in frames))

    def _exactly(self, count: int) -> bytes | None:
        """So many bytes; None where the other side hung up before the first."""
        data = bytearray()
        while len(data) < count:
            piece = self._connection.recv(min(count - len(data), PIECE))
            if not piece:
                if data:
                    raise ProtocolError(f"it hung up after {len(data)} bytes of {count}")
                return None
            data += piece
        return bytes(data)


class Token(NamedTuple):
    """What comes after a mission: ``EXPERIMENT:ROLE:RESET:AGENTS:SYNCHRONOUS[:SEED]``."""

    experiment: str
    seed: int | None


def read_token(data: bytes) -> Token:
    """A token.

    :raises ProtocolError: it is none, or of a mission for several players.
    """
    text = data[:200].decode(errors="replace")
    if _TOKEN.fullmatch(text) is None:
        raise ProtocolError(f"{text!r} is no token; one is EXPERIMENT:ROLE:RESET:AGENTS:SYNCHRONOUS[:SEED]")
    experiment, role, _, agents, _, *seed = text.split(":")
    if (int(role), int(agents)) != (0, 1):
        raise ProtocolError(f"the token {text!r} is of a mission for several players; here there is one")
    return Token(experiment, int(seed[0]) if seed else None)


def read_step(data: bytes) -> tuple[str, bool]:
    """The commands of ``<StepClient0>...</StepClient0 >``, a line each, and whether the reply has Malmo's JSON.

    :raises ProtocolError: it is no such message.
    """
    found = _STEP.fullmatch(data.decode(errors="replace"))
    if found is None:
        raise ProtocolError(f"{data[:60]!r} is no step; one is <StepClient0>commands</StepClient0 >")
    return found.group(2), found.group(1) in ("", "0", "2")
