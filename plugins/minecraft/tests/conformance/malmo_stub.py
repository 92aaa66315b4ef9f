"""Just enough of a Malmo server for one environment to play on our game, in a thread of the test."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import xml.etree.ElementTree as ET
from typing import Any

from rlgpt_minecraft.command import Command
from rlgpt_minecraft.mission import Box, Mission, Stack
from rlgpt_minecraft.names import BIOMES
from rlgpt_minecraft.sim import Sim

_BIOME = {number: name for name, number in BIOMES.items()}
_KEYS = ("forward", "back", "left", "right", "jump", "sneak", "sprint", "use", "attack", "drop")


class MalmoStub:
    """``stub.sim`` is the game that is played, ``stub.seeds`` the seeds of the lands that were asked for so far."""

    def __init__(self) -> None:
        self.seeds: list[str] = []
        self.sim: Sim
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._clients: list[socket.socket] = []
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Hang up, as a game that crashes does."""
        for connection in (self._socket, *self._clients):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _accept(self) -> None:
        while True:
            try:
                self._clients.append(self._socket.accept()[0])
            except OSError:
                return
            threading.Thread(target=self._play, args=(self._clients[-1],), daemon=True).start()

    def _play(self, connection: socket.socket) -> None:
        try:
            while (said := _receive(connection)) is not None and not said.startswith(b"<Disconnect"):
                if said.startswith(b"<Quit"):
                    _send(connection, struct.pack("!I", 1))
                elif said.startswith(b"<MissionInit"):
                    _receive(connection)
                    self._begin(ET.fromstring(said))
                    _send(connection, struct.pack("!I", 1))
                elif said.startswith(b"<Peek"):
                    _send(connection, self._picture(), self._facts(), struct.pack("!b", 0))
                elif said.startswith(b"<StepClient"):
                    self.sim.step(_command(said.decode()))
                    _send(connection, self._picture(), struct.pack("!dbb", 0.0, 0, 1), self._facts())
        except OSError:
            return

    def _begin(self, mission: ET.Element) -> None:
        known: dict[str, Any] = {"inventory": [], "rays": []}
        size = {}
        for element in mission.iter():
            tag, has = element.tag.rpartition("}")[2], element.attrib
            if tag in ("Width", "Height"):
                size[tag] = int(str(element.text))
            elif tag == "InventoryObject":
                stack = Stack(slot=int(has["slot"]), name=has["type"], quantity=int(has["quantity"]))
                known["inventory"].append(stack)
            elif tag == "Grid":
                ends = zip(("min", "max"), element, strict=True)
                known["voxels"] = Box(**{axis + end: int(part.attrib[axis]) for end, part in ends for axis in "xyz"})
            elif tag == "RayOffset":
                known["rays"].append(tuple(float(has[key]) for key in ("pitch", "yaw", "distance")))
            elif tag == "StartTime":
                known["time"] = int(str(element.text))
            elif tag == "Weather":
                known["weather"] = str(element.text).strip()
            elif tag in ("BiomeGenerator", "DefaultWorldGenerator"):
                self.seeds.append(has["seed"])
                known["biome"] = _BIOME[int(has["biome"])] if "biome" in has else None
        self.sim = Sim(Mission(image_size=(size["Height"], size["Width"]), **known))
        self.sim.reset(int(self.seeds[-1] or 0))

    def _picture(self) -> bytes:
        return self.sim.rgb()[::-1].tobytes()

    def _facts(self) -> bytes:
        return json.dumps(self.sim.info()).encode()


def _command(said: str) -> Command:
    lines = said[said.index(">") + 1 : said.rindex("</")].split("\n")
    told = dict(line.strip().split(" ", 1) for line in lines)
    pitch, yaw = (float(part) for part in told["camera"].split())
    made = [told[key] for key in ("craft", "craftNearby", "smelt", "smeltNearby") if told.get(key, "none") != "none"]
    wishes = {key: told[key] for key in ("equip", "place") if told.get(key, "none") != "none"}
    keys = {key: told[key] == "1" for key in _KEYS}
    return Command(**keys, pitch=pitch, yaw=yaw, craft=made[0] if made else None, chat=told.get("chat"), **wishes)


def _send(connection: socket.socket, *frames: bytes) -> None:
    connection.sendall(b"".join(struct.pack("!I", len(frame)) + frame for frame in frames))


def _receive(connection: socket.socket) -> bytes | None:
    head = _exactly(connection, 4)
    return None if head is None else _exactly(connection, struct.unpack("!I", head)[0])


def _exactly(connection: socket.socket, count: int) -> bytes | None:
    data = b""
    while len(data) < count:
        if not (part := connection.recv(count - len(data))):
            return None
        data += part
    return data
