"""Reads and writes the frames and messages of the protocol of MalmoEnv 0.37.

A frame of the protocol consists of the length of its content (four bytes, big-endian) and the content. The first frame
of a connection is ``<MalmoEnv0.37.0/>``. The protocol is that of the package ``Client/MalmoEnvServer`` of Malmo in
MineDojo 0.1.
"""

from __future__ import annotations

import re
import socket
import struct
from typing import Final, NamedTuple

from voxeldojo.malmo.errors import ProtocolError

HELLO: Final = "<MalmoEnv0.37."
SILENCE_TIMEOUT_S: Final = 600.0
"""A client that is silent for longer is disconnected."""
MAX_FRAME_BYTES: Final = 1 << 20
"""Maximal size of a received frame. The largest is a mission."""
PIECE: Final = 1 << 16
_TOKEN: Final = re.compile(r"[\w-]{1,100}:\d{1,9}:\d{1,9}:\d{1,9}:\w{1,9}(:-?\d{1,19})?", re.ASCII)
_STEP: Final = re.compile(r"<StepClient(\d?)>(.*)</StepClient\d? ?>\s*", re.DOTALL)


class Frames:
    """Reads and writes the frames of one connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def receive(self) -> bytes | None:
        """Return the next frame, or None if the client closed the connection.

        :raises ProtocolError: the connection ends within a frame, the frame is too large, or the client is silent for
            too long.
        """
        try:
            head = self._exactly(4)
            if head is None:
                return None
            (length,) = struct.unpack("!I", head)
            if length > MAX_FRAME_BYTES:
                raise ProtocolError(
                    f"a frame of {length} bytes was announced; {MAX_FRAME_BYTES} is the largest valid length"
                )
            body = self._exactly(length)
        except TimeoutError as error:
            raise ProtocolError(f"the client sent nothing for {self._connection.gettimeout():g} s") from error
        if body is None:
            raise ProtocolError(f"the client disconnected before a frame of {length} bytes")
        return body

    def send(self, *frames: bytes) -> None:
        """Send several frames at once."""
        self._connection.sendall(b"".join(struct.pack("!I", len(frame)) + frame for frame in frames))

    def _exactly(self, count: int) -> bytes | None:
        """Return exactly ``count`` bytes, or None if the connection ends before the first byte."""
        data = bytearray()
        while len(data) < count:
            piece = self._connection.recv(min(count - len(data), PIECE))
            if not piece:
                if data:
                    raise ProtocolError(f"the client disconnected after {len(data)} bytes of {count}")
                return None
            data += piece
        return bytes(data)


class Token(NamedTuple):
    """The token that a client sends after a mission, ``EXPERIMENT:ROLE:RESET:AGENTS:SYNCHRONOUS[:SEED]``."""

    experiment: str
    seed: int | None


def read_token(data: bytes) -> Token:
    """Parse a token.

    :raises ProtocolError: the format of the token is wrong, or the mission has several players.
    """
    text = data[:200].decode(errors="replace")
    if _TOKEN.fullmatch(text) is None:
        raise ProtocolError(f"{text!r} is not a token; a token is EXPERIMENT:ROLE:RESET:AGENTS:SYNCHRONOUS[:SEED]")
    experiment, role, _, agents, _, *seed = text.split(":")
    if (int(role), int(agents)) != (0, 1):
        raise ProtocolError(f"the token {text!r} is of a mission for several players; this world supports one player")
    return Token(experiment, int(seed[0]) if seed else None)


def read_step(data: bytes) -> tuple[str, bool]:
    """Parse the message of a step, ``<StepClient0>...</StepClient0 >``. Return the command lines of the message, and
    whether the client requests the JSON in the reply.

    :raises ProtocolError: the format is wrong.
    """
    found = _STEP.fullmatch(data.decode(errors="replace"))
    if found is None:
        raise ProtocolError(f"{data[:60]!r} is not a step; a step is <StepClient0>commands</StepClient0 >")
    return found.group(2), found.group(1) in ("", "0", "2")
