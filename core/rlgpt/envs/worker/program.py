"""The program of the worker process answers orders of the main process until the connection closes."""

from __future__ import annotations

import faulthandler
import json
import mmap
import os
import signal
import socket
import struct
import threading
import time
import traceback

from .player import Message, Player, make
from .spaces import Unusable

FRAME_LIMIT = 64 << 20
"""Maximal size of one frame, in bytes."""
CLOSING = 30.0
"""Time for the ``close`` of an environment after its parent has ended, in seconds."""


def pack(message: Message) -> bytes:
    """Convert a message to a frame.

    :raises Unusable: the message is larger than ``FRAME_LIMIT`` bytes.
    """
    text = json.dumps(message, separators=(",", ":")).encode()
    if len(text) > FRAME_LIMIT:
        raise Unusable(f"the message has {len(text)} bytes; at most {FRAME_LIMIT} can be sent")
    return struct.pack("!I", len(text)) + text


def receive(connection: socket.socket) -> Message | None:
    """Receive the next order. The received order is None if the connection is closed."""
    data = b""
    while len(data) < 4 or len(data) < 4 + struct.unpack_from("!I", data)[0]:
        part = connection.recv(1 << 16)
        if not part:
            return None
        data += part
    return json.loads(data[4:])  # type: ignore[no-any-return]


def end_with(parent: int, ending: threading.Event) -> None:
    """Wait until the parent process has ended, and then end this process group, even if a step is in progress.

    A thread runs this function. The main thread notices a closed connection only between steps, and never notices it if
    other children of the parent process keep the connection open.
    """
    while os.getppid() == parent:
        time.sleep(1.0)
    if ending.wait(1.0):
        time.sleep(CLOSING)
    os.killpg(0, signal.SIGKILL)


def follow(order: Message, player: Player, memory: int) -> Message:
    """Carry out one order."""
    do = order["do"]
    if do == "step":
        return player.step(order["inline"])
    if do == "reset":
        return player.reset(order["seed"], order["options"])
    if do == "render":
        return player.render()
    shared = mmap.mmap(memory, player.size)
    player.sees.attach(shared)
    player.acts.attach(shared)
    return {}


def serve(connection: socket.socket, memory: int, ending: threading.Event) -> None:
    """Answer orders of the main process until the connection closes."""
    player: Player | None = None
    while True:
        order = receive(connection)
        if order is None:
            break
        try:
            if player is None:
                player = make(order)
                frame = pack(player.description())
            else:
                frame = pack(follow(order, player, memory))
        except BaseException as fault:
            frame = pack(failure(fault))
        try:
            connection.sendall(frame)
        except ConnectionError:
            break
    ending.set()
    if player is not None and hasattr(player.env, "close"):
        player.env.close()


def failure(fault: BaseException) -> Message:
    """The answer to an order that failed, which contains the error."""
    trace = "".join(traceback.format_exception(type(fault), fault, fault.__traceback__, limit=-6))
    return {"error": {"kind": type(fault).__name__, "text": str(fault)[:4000], "trace": trace[-8000:]}}


def main(arguments: list[str]) -> None:
    """Answer orders that arrive on file descriptors which the worker inherits from its parent process.

    :param arguments: the descriptor of the connection, the descriptor of the shared memory, and the parent's process
        ID.
    """
    control, memory, parent = (int(text) for text in arguments)
    for handle in (control, memory):
        os.set_inheritable(handle, False)
    faulthandler.enable()
    ending = threading.Event()
    threading.Thread(target=end_with, args=(parent, ending), daemon=True).start()
    serve(socket.socket(fileno=control), memory, ending)
