"""``python -m voxeldojo.malmo``."""

from __future__ import annotations

import argparse
import logging
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from voxeldojo.errors import VoxelDojoError
from voxeldojo.malmo.protocol import SILENCE_TIMEOUT_S

if TYPE_CHECKING:
    from voxeldojo.malmo.server import Server

DEFAULT_GAMES = 16
"""Missions played at the same time if ``--games`` is not given."""

EPILOG = """\
Each environment of a client needs one of the server's games (--games).
From MineDojo's own package, before minedojo.make(...):
  from minedojo.sim.bridge.mc_instance import InstanceManager
  InstanceManager.add_existing_instance(9000)

The log has a line for each mission that begins, and for each command without effect. Missions without a seed get one.
"""


def arguments() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m voxeldojo.malmo",
        description="Serve the embedded world by the Malmo protocol, for MineDojo's client or any other.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--port", type=int, default=9000, help="port; 0: any free port (default: %(default)s)")
    parser.add_argument("--host", default="127.0.0.1", help="address; every client that can reach it may play")
    parser.add_argument(
        "--games",
        type=int,
        default=DEFAULT_GAMES,
        help="number of missions at the same time; further clients must wait (default: %(default)s)",
    )
    parser.add_argument(
        "--silence",
        type=float,
        default=SILENCE_TIMEOUT_S,
        help="seconds until a silent client is disconnected (default: %(default)g)",
    )
    parser.add_argument("--seed", type=int, help="seed of the generator that draws seeds for missions without one")
    return parser


def close_at_signals(server: Server) -> None:
    """Close the server when the process receives a signal that interrupts or terminates it.

    ``close_at_signals`` uses a wakeup file descriptor, to which Python writes as soon as a signal arrives. A Python
    signal handler runs only between two bytecodes of the main thread. With a handler alone, a signal that arrives just
    before ``accept`` blocks would have no effect until the next client connects.
    """
    woken, wakes = socket.socketpair()
    wakes.setblocking(False)
    signal.set_wakeup_fd(wakes.fileno())
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: wakes)  # a reference, so that the socket stays open

    def wait() -> None:
        woken.recv(1)
        server.close()

    threading.Thread(target=wait, name="malmo signals", daemon=True).start()


def main(words: Sequence[str] | None = None) -> int:
    """Serve until interrupted or terminated. Return the exit status."""
    chosen = arguments().parse_args(words)
    from voxeldojo.malmo.server import Server  # imports the world, which --help does not need

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S", stream=sys.stderr)
    try:
        with Server(
            chosen.port, host=chosen.host, games=chosen.games, silence=chosen.silence, seed=chosen.seed
        ) as server:
            close_at_signals(server)
            print(f"listening on {chosen.host}:{server.port}; end with Ctrl-C", flush=True)
            server.serve()
    except VoxelDojoError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
