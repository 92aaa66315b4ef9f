"""Listens for clients. Each client of the server has a separate thread, and a fault of one client does not affect other
clients.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from collections.abc import Callable
from types import TracebackType

from voxeldojo.errors import ConfigError
from voxeldojo.malmo.errors import ProtocolError
from voxeldojo.malmo.game import Game
from voxeldojo.malmo.lobby import PLACE_TIMEOUT_S, Lobby
from voxeldojo.malmo.protocol import SILENCE_TIMEOUT_S, Frames
from voxeldojo.malmo.session import Session

logger = logging.getLogger(__name__)

MAX_CLIENTS = 64
"""Maximal number of connections. The server closes further connections."""


class Server:
    """A server that runs missions for clients. The constructor opens the port, and the end of a ``with`` block closes
    the server.

    :ivar port: the port on which the server listens.
    :param port: the port to listen on; 0 chooses any free port.
    :param host: the address to listen on. Use a loopback address such as 127.0.0.1, because the server does not
        authenticate clients.
    :param games: the maximal number of concurrent missions. A client that requests a mission while all games are in use
        gets a busy reply and repeats its request.
    :param silence: the number of seconds until a client that sends nothing is disconnected.
    :param seed: the seed of the generator that draws seeds for missions without a seed.
    :param begun: a function that is called with each new game.
    :param place_timeout: the number of seconds that a mission waits for a free game before the client gets the busy
        reply.
    :raises ConfigError: an argument is out of its range, the address is in use, or the address does not belong to this
        machine.
    """

    def __init__(
        self,
        port: int = 0,
        *,
        host: str = "127.0.0.1",
        games: int = 1,
        silence: float = SILENCE_TIMEOUT_S,
        seed: int | None = None,
        begun: Callable[[Game], None] | None = None,
        place_timeout: float = PLACE_TIMEOUT_S,
    ) -> None:
        if games < 1 or silence <= 0 or not 0 <= port < 65_536:
            raise ConfigError(f"games={games}, silence={silence}, port={port}; valid: 1 or more, above 0, 0 to 65535.")
        try:
            self._socket = socket.create_server((host, port))
        except OSError as error:
            raise ConfigError(
                f"cannot listen at {host}:{port} ({error}). Name another --port, or 0 for any."
            ) from error
        self.port: int = self._socket.getsockname()[1]
        self._silence, self._lobby = silence, Lobby(games, seed, begun, place_timeout)
        self._lock, self._closed = threading.Lock(), False
        self._clients: dict[socket.socket, threading.Thread] = {}

    def serve(self) -> None:
        """Answer clients until ``close`` is called."""
        while not self._closed:
            try:
                connection, address = self._socket.accept()
            except OSError:
                if self._closed:
                    return
                raise
            self._welcome(connection, f"{address[0]}:{address[1]}")

    def start(self) -> Server:
        """Serve in a new thread."""
        threading.Thread(target=self.serve, name="malmo", daemon=True).start()
        return self

    def close(self) -> None:
        """Close all connections."""
        with self._lock:
            self._closed = True
            clients = dict(self._clients)
        for connection in (self._socket, *clients):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for thread in clients.values():
            thread.join()

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _welcome(self, connection: socket.socket, name: str) -> None:
        thread = threading.Thread(target=self._talk, args=(connection, name), name=f"malmo {name}", daemon=True)
        with self._lock:
            if self._closed or len(self._clients) >= MAX_CLIENTS:
                connection.close()
                return
            self._clients[connection] = thread
            thread.start()

    def _talk(self, connection: socket.socket, name: str) -> None:
        try:
            connection.settimeout(self._silence)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            Session(Frames(connection), self._lobby, name).run()
        except ProtocolError as error:
            logger.warning("%s: disconnected: %s", name, error)
        except OSError as error:
            logger.info("%s: left (%s)", name, error)
        except Exception:  # an internal error in one game must not end the others
            logger.exception("%s: disconnected after an error of the server", name)
        finally:
            with self._lock:
                self._clients.pop(connection)
            connection.close()
