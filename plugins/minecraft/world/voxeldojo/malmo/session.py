"""Exchanges messages with one client of the Malmo server."""

from __future__ import annotations

import logging
import struct

from voxeldojo.malmo.errors import ProtocolError
from voxeldojo.malmo.game import Game
from voxeldojo.malmo.lobby import Lobby
from voxeldojo.malmo.mission import read
from voxeldojo.malmo.protocol import HELLO, Frames, read_step, read_token

logger = logging.getLogger(__name__)

REFUSED, DONE = struct.pack("!I", 0), struct.pack("!I", 1)


class Session:
    """The connection of one client. A session occupies a place of the lobby from its first mission until the client
    quits or disconnects.

    :param name: the name of the client in the log.
    """

    def __init__(self, frames: Frames, lobby: Lobby, name: str) -> None:
        self._frames, self._lobby, self._name = frames, lobby, name
        self._seated = False
        self._game: Game | None = None

    def run(self) -> None:
        """Reply to messages until the client disconnects.

        :raises ProtocolError: a message of the client is invalid; the caller must close the connection.
        :raises OSError: the connection broke.
        """
        hello = self._frames.receive()
        if hello is None:  # the client only checked whether the server listens
            return
        if not hello.startswith(HELLO.encode()):
            raise ProtocolError(f"the client began with {hello[:40]!r}, not with {HELLO}0/>")
        try:
            while (message := self._frames.receive()) is not None and not message.startswith(b"<Disconnect"):
                self._answer(message)
        finally:
            self._leave()

    def _answer(self, message: bytes) -> None:
        if message.startswith(b"<StepClient"):
            self._step(message)
        elif message.startswith(b"<StepServer"):
            return  # the step message of the player has already advanced the world
        elif message.startswith(b"<Peek"):
            game = self._playing()
            self._frames.send(game.picture(), game.facts(), struct.pack("!b", game.done))
        elif message.startswith(b"<MissionInit"):
            self._begin(message)
        elif message.startswith(b"<Quit"):
            self._leave()
            self._frames.send(DONE)
        elif message.startswith(b"<Echo"):
            self._frames.send(b"<Echo>" + message + b"</Echo>")
        elif message.startswith((b"<Exit", b"<Close")):  # a client cannot stop the server
            self._frames.send(REFUSED)
        else:
            raise ProtocolError(f"{message[:60]!r} is not a valid message")

    def _begin(self, mission: bytes) -> None:
        token = self._frames.receive()
        if token is None:
            raise ProtocolError("the client disconnected between a mission and its token")
        chance, request = read_token(token).seed, read(mission)
        if not self._seated and not self._lobby.take():
            logger.warning("%s: must wait, because every place is taken; --games sets their number", self._name)
            self._frames.send(REFUSED)
            return
        self._seated = True
        self._game = self._lobby.game(request, chance)
        logger.info("%s: %s", self._name, self._game)
        self._frames.send(DONE)

    def _step(self, message: bytes) -> None:
        game = self._playing()
        commands, informed = read_step(message)
        game.step(commands)
        reply = [game.picture(), struct.pack("!dbb", 0.0, game.done, 1)]
        self._frames.send(*reply, *([game.facts()] if informed else []))

    def _playing(self) -> Game:
        if self._game is None:
            raise ProtocolError("the client sent a step before it began a mission")
        return self._game

    def _leave(self) -> None:
        if self._game is not None:
            logger.debug("%s: %s ended after %d ticks", self._name, self._game.name, self._game.steps)
        if self._seated:
            self._lobby.give_back()
        self._game, self._seated = None, False
