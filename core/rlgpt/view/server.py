"""Serves the live page on the loopback address 127.0.0.1, which only programs of this machine can reach."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Sequence
from pathlib import Path

import uvicorn

from rlgpt.errors import ConfigError
from rlgpt.view.app import application
from rlgpt.view.library import Library

ADDRESS = "127.0.0.1"
PORT = 8765


class Site:
    """The page and its socket. The constructor opens the socket of the page, so the page's link works as soon as it is
    printed.

    :param port: the number of the port. With 0, any free port. With ``port=None``, the page uses :data:`PORT` if this
        port is free, else any free port.
    :raises RunError: a folder does not exist.
    :raises ConfigError: another program uses the port.
    """

    def __init__(self, folders: Sequence[Path], port: int | None = None) -> None:
        self._library = Library(folders)
        self._socket = _bound(port)
        self.port = int(self._socket.getsockname()[1])
        self.token = secrets.token_urlsafe(32)
        hosts = frozenset(f"{name}:{self.port}" for name in (ADDRESS, "localhost"))
        app = application(self._library, hosts, self.token, lambda: self._server.should_exit)
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=5, lifespan="off"
        )
        self._server = uvicorn.Server(config)

    @property
    def link(self) -> str:
        """The address of the page. The token is in the part after ``#``. Browsers do not send the part of an address
        after ``#``, so no log contains the token.
        """
        return f"http://{ADDRESS}:{self.port}/#token={self.token}"

    def serve(self) -> None:
        """Answer requests until :meth:`close` is called or the process is interrupted."""
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._library.processes.close()

    def close(self) -> None:
        self._server.should_exit = True


def _bound(port: int | None) -> socket.socket:
    for number in (PORT, 0) if port is None else (port,):
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((ADDRESS, number))
            listening.listen()
        except (OSError, OverflowError) as fault:
            listening.close()
            if port is not None:
                why = str(fault).rstrip(".")
                raise ConfigError(f"--port {port} cannot be used: {why}. Leave it out to take a free one.") from fault
        else:
            return listening
    raise ConfigError("no port of 127.0.0.1 is free.")
