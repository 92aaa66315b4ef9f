"""Starts a worker process, sends orders to the worker, reads the worker's answers, and ends the worker. Every wait has
a time limit.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import time
import weakref
from pathlib import Path
from typing import Any

from rlgpt.envs import memory, worker
from rlgpt.envs.recipe import Recipe
from rlgpt.envs.worker.player import Message
from rlgpt.envs.worker.program import FRAME_LIMIT, pack
from rlgpt.errors import WorkerError

TAIL_BYTES = 16 << 10
"""Number of bytes of a worker's newest output that are kept."""
TAIL_LINES = 15
"""Number of lines of a worker's newest output that an error message quotes."""
STATUS_SECONDS = 1.0
"""Seconds between two checks whether the worker is alive. The connection to a dead worker may stay open, because a
child process of the worker may have the connection too.
"""
_UNPRINTABLE = re.compile(r"[^\t\n\x20-\x7e\xa0-\uffff]")


class Worker:
    """One process that runs one environment.

    :raises WorkerError: the worker process could not be started, crashed, hung, or sent an invalid answer. Every method
        of Worker that sends an order may raise a WorkerError. After a failure, this process kills the worker, and the
        error message quotes the newest output of the worker.
    """

    def __init__(self, recipe: Recipe) -> None:
        self.recipe, self._tail, self._doing = recipe, b"", "start"
        if shutil.which(recipe.python) is None:
            raise WorkerError(f"{self.name}: there is no interpreter {recipe.python!r}. Set its path: python=PATH.")
        here, there = socket.socketpair()
        self.memory = memory.anonymous()
        reading, writing = os.pipe()
        try:
            handles = (there.fileno(), self.memory)
            self._process = subprocess.Popen(
                [recipe.python, "-c", worker.BOOT, str(Path(worker.__file__)), *map(str, handles), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=writing,
                stderr=writing,
                pass_fds=handles,
                env=_variables(recipe),
                cwd=recipe.folder,
                start_new_session=True,
            )
        except OSError as error:
            for handle in (self.memory, reading):
                os.close(handle)
            here.close()
            raise WorkerError(
                f"{self.name}: cannot start {recipe.python!r} in {recipe.folder or '.'}: {error}."
            ) from error
        finally:
            os.close(writing)
            there.close()
        os.set_blocking(reading, False)
        self._connection, self._output = here, reading
        self._end = weakref.finalize(
            self, _end, self._process, here, reading, self.memory, os.getpid(), recipe.timeouts.close
        )
        self._poll = select.poll()
        self._poll.register(here, select.POLLIN)
        self._poll.register(reading, select.POLLIN)

    @property
    def name(self) -> str:
        """A name of the worker for messages. The name of a worker contains the factory, and the process ID of a started
        worker.
        """
        process = getattr(self, "_process", None)
        return f"environment {self.recipe.factory!r}" + (f" (worker {process.pid})" if process else "")

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether this process has neither closed nor killed the worker process."""
        return self._end.alive

    def share(self, size: int) -> mmap.mmap:
        """Set the size of the memory that is shared with the worker, in bytes, and return the mapped memory."""
        return memory.mapped(self.memory, size)

    def ask(self, order: Message, seconds: float) -> Message:
        """Send an order to the worker and return the answer, which must arrive within ``seconds`` of wall-clock
        time.
        """
        self._doing = str(order["do"])
        try:
            self._connection.settimeout(seconds)
            self._connection.sendall(pack(order))
            answer = self._answer(time.monotonic() + seconds)
        except TimeoutError:
            raise self._failed(f"did not answer within {seconds:g} s and was killed") from None
        except (ConnectionError, EOFError):
            raise self._failed(self._how_it_ended()) from None
        except (ValueError, RecursionError) as error:
            raise self._failed(f"sent an invalid answer: {error}") from error
        except BaseException:
            self.kill()
            raise
        if "error" in answer:
            raise self._failed(_raised(answer["error"]))
        return answer

    def close(self) -> None:
        """Wait until the worker process ends, for at most the time that the recipe allows. After the wait, kill the
        worker and every process that the worker started. A second call has no effect.
        """
        self._end()

    def kill(self) -> None:
        """End the worker at once."""
        _kill(self._process)
        self._end()

    def unusable(self, error: Exception) -> WorkerError:
        """End the worker, and return the error for an answer that does not fit the order."""
        return self._failed(f"sent an invalid answer: {error}")

    def _answer(self, end: float) -> Message:
        data = bytearray()
        while len(data) < 4 or len(data) < 4 + _length(data):
            self._wait(end)
            part = self._connection.recv(1 << 16, socket.MSG_DONTWAIT)
            if not part:
                raise EOFError
            data += part
        answer = json.loads(bytes(memoryview(data)[4:]))
        if not isinstance(answer, dict):
            raise ValueError(f"the answer is a {type(answer).__name__}, not an object")
        return answer

    def _wait(self, end: float) -> None:
        """Wait until the connection has data.

        :raises TimeoutError: the worker did not answer in time.
        :raises EOFError: the worker has ended.
        """
        while True:
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError
            ready = dict(self._poll.poll(1000 * min(left, STATUS_SECONDS)))
            if self._output in ready:
                self._hear()
            if self._connection.fileno() in ready:
                return
            if not ready and self._process.poll() is not None:
                raise EOFError

    def _hear(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self._output, 1 << 16):
                self._tail = (self._tail + data)[-TAIL_BYTES:]
                if len(data) < 1 << 16:
                    return
            self._poll.unregister(self._output)

    def _how_it_ended(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(self.recipe.timeouts.close)
        code = self._process.poll()
        if code is None:
            return "closed its connection"
        if code < 0:
            return f"was killed by signal {-code} ({signal.Signals(-code).name})"
        return f"ended with exit status {code}"

    def _failed(self, what: str) -> WorkerError:
        """End the worker, and return the error with the worker's newest output."""
        with contextlib.suppress(KeyError, OSError):
            self._poll.modify(self._output, select.POLLIN)
            self._hear()
        self.kill()
        text = _UNPRINTABLE.sub("?", self._tail.decode(errors="replace"))
        lines = [line for line in text.splitlines() if line.strip()][-TAIL_LINES:]
        output = "".join(f"\n  | {line[:300]}" for line in lines)
        message = f"{self.name}, asked to {self._doing}, {what}"
        return WorkerError(f"{message}\nIts last output:{output}" if output else message)


def _variables(recipe: Recipe) -> dict[str, str]:
    return {**{n: os.environ[n] for n in recipe.passed if n in os.environ}, **recipe.environment}


def _length(data: bytearray) -> int:
    length: int = struct.unpack_from("!I", data)[0]
    if length > FRAME_LIMIT:
        raise ValueError(f"the answer has {length} bytes; at most {FRAME_LIMIT} are read")
    return length


def _raised(error: Any) -> str:
    report = error if isinstance(error, dict) else {}
    trace = _UNPRINTABLE.sub("?", str(report.get("trace", "")))[-8000:].rstrip()
    lines = "".join(f"\n  : {line}" for line in trace.splitlines())
    return f"raised {report.get('kind', 'an error')}: {report.get('text', '')}{lines}"


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill every process of the worker's process group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _end(
    process: subprocess.Popen[bytes],
    connection: socket.socket,
    output: int,
    shared: int,
    owner: int,
    seconds: float,
) -> None:
    """Close the connection, so that the worker ends, and kill the worker's processes that remain. In a forked child of
    this process, the function only closes the child's copies of the handles.
    """
    connection.close()
    if os.getpid() == owner:
        end = time.monotonic() + seconds
        poll = select.poll()
        poll.register(output, select.POLLIN)
        while process.poll() is None and (left := end - time.monotonic()) > 0:
            if poll.poll(min(50.0, 1000 * left)) and not _drained(output):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(left)
        _kill(process)
        process.wait()
    os.close(output)
    os.close(shared)


def _drained(output: int) -> bool:
    """Read a part of the worker's output, because a worker waits while nobody reads its output. The function returns
    whether the worker's output may contain more.
    """
    try:
        return bool(os.read(output, 1 << 16))
    except BlockingIOError:
        return True
