"""Fixtures: a minimal client that sends MineDojo's messages, and a server."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from voxeldojo.malmo.server import Server

from ..recording_server import RecordingServer

NAMESPACE = "http://ProjectMalmo.microsoft.com"
HEIGHT, WIDTH = 6, 8
NOTHING = "camera 0.0 0.0\nforward 0\nattack 0\ncraft none\nequip none"


def mission(
    *,
    conditions: str = "<AllowSpawning>false</AllowSpawning>",
    world: str = '<BiomeGenerator forceReset="true" seed="7" biome="1"/>',
    start: str = "",
    handlers: str = "",
    video: str = f'<VideoProducer want_depth="false"><Width>{WIDTH} </Width><Height>{HEIGHT}</Height></VideoProducer>',
    agents: int = 1,
) -> bytes:
    """Return a mission in MineDojo's format with variable parts."""
    agent = f"<Name>A</Name><AgentStart>{start}</AgentStart><AgentHandlers>{video}{handlers}</AgentHandlers>"
    return (
        f'<MissionInit xmlns="{NAMESPACE}" SchemaVersion="" PlatformVersion="0.37.0"><Mission>'
        f"<About><Summary>s</Summary></About><ServerSection>"
        f"<ServerInitialConditions>{conditions}</ServerInitialConditions>"
        f"<ServerHandlers>{world}</ServerHandlers></ServerSection>"
        f"{f'<AgentSection>{agent}</AgentSection>' * agents}</Mission><ExperimentUID>e</ExperimentUID></MissionInit>"
    ).encode()


class Client:
    """One connection to the server."""

    def __init__(self, server: Server, hello: bytes = b"<MalmoEnv0.37.0/>") -> None:
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=600.0)
        self.say(hello)

    def say(self, *frames: bytes) -> None:
        for frame in frames:
            self.socket.sendall(struct.pack("!I", len(frame)) + frame)

    def hear(self) -> bytes:
        """Return the next frame.

        :raises EOFError: the server closed the connection.
        """
        (length,) = struct.unpack("!I", self._exactly(4))
        return self._exactly(length)

    def begin(self, request: bytes | None = None, token: bytes = b"e:0:0:1:true") -> int:
        """Begin a mission. Return the server's reply: 1, or 0 if it is busy."""
        self.say(mission() if request is None else request, token)
        reply: int = struct.unpack("!I", self.hear())[0]
        return reply

    def peek(self) -> tuple[np.ndarray[Any, Any], dict[str, Any], bool]:
        self.say(b"<Peek/>")
        picture, facts, done = self.hear(), json.loads(self.hear()), self.hear()
        return np.frombuffer(picture, np.uint8).reshape(HEIGHT, WIDTH, 3), facts, done == b"\1"

    def step(self, text: str = NOTHING) -> tuple[bytes, bool, dict[str, Any]]:
        self.say(f"<StepClient0>{text}</StepClient0 >".encode())
        picture, reply, facts = self.hear(), self.hear(), json.loads(self.hear())
        reward, done, sent = struct.unpack("!dbb", reply)
        assert (reward, sent) == (0.0, 1)
        self.say(b"<StepServer></StepServer>")
        return picture, bool(done), facts

    def hung_up(self) -> bool:
        """Return whether the server closed the connection."""
        try:
            self.hear()
        except (EOFError, ConnectionError):
            return True
        return False

    def close(self) -> None:
        self.socket.close()

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data


Connect = Callable[..., Client]


@pytest.fixture
def make_server() -> Iterator[Callable[..., RecordingServer]]:
    created: list[RecordingServer] = []

    def make(**options: Any) -> RecordingServer:
        created.append(RecordingServer(**options))
        return created[-1]

    yield make
    for server in created:
        server.close()


@pytest.fixture
def server(make_server: Callable[..., RecordingServer]) -> RecordingServer:
    return make_server()


@pytest.fixture
def connect(server: RecordingServer) -> Iterator[Connect]:
    created: list[Client] = []

    def connected(to: Server | None = None, **options: Any) -> Client:
        created.append(Client(to or server, **options))
        return created[-1]

    yield connected
    for client in created:
        client.close()
