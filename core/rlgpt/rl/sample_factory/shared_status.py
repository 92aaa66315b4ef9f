"""The shared status of a training's processes, which contains heartbeats, numbers of decisions, and violations. The
shared status is one memory-mapped file, which every process of the training can read.

The status file consists of int64 numbers (cells). Each cell has one writer, so no lock is needed. The kernel owns the
memory pages, so counts survive a ``kill -9`` and still exist when the training resumes. Times in the shared status are
``time.monotonic_ns``, which is the same clock in all processes. Primitive steps are not counted in the shared status,
but in :class:`rlgpt.rl.step_counter.StepCounter`.
"""

from __future__ import annotations

import mmap
import struct
import time
from pathlib import Path

from rlgpt.errors import TrainingFolderError
from rlgpt.files import Folder

_MAGIC = 0x726C6770_74000002
_HEADER = 4
CARRIED, RUNNER, LEARNER = 0, 1, 2
FIRST_ENV = 3
DECISIONS, ITERATIONS, BUSY, BEAT, SAVED = range(5)
_COLUMNS = 5


class SharedStatus:
    """The shared status of the training in one folder. The processes of the training share the status file by memory
    mapping.

    The first rows of the status file are the totals of earlier sessions, the runner and the learner. One row for each
    environment follows. The first two columns are the numbers of decisions and of training iterations. The next three
    columns say whether the process is busy (with ``env.step`` or an update), when its last heartbeat was, and whether
    the newest weights are saved. Then one column for each coded action or function follows, with the number of its
    violations, and one more column for each, with the number of its calls. Calls of functions are not counted.

    :param path: the status file that :meth:`open_session` made.
    :raises TrainingFolderError: the status file is missing or damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with Folder(path.parent, TrainingFolderError).open_in_place(path.name) as file:
                self._map = mmap.mmap(file.fileno(), 0)
            magic, rows, actions, _ = struct.unpack_from("<4q", self._map, 0)
        except (OSError, ValueError, struct.error) as fault:
            raise TrainingFolderError(f"The count of steps in {path} cannot be read ({fault}).") from fault
        self.rows, self.actions, self._width = rows, actions, _COLUMNS + 2 * actions
        if magic != _MAGIC or rows < FIRST_ENV or actions < 0 or len(self._map) != 8 * (_HEADER + rows * self._width):
            raise TrainingFolderError(
                f"The count of steps in {path} is damaged, so the number of spent steps is unknown. "
                "Train in a new folder."
            )
        self._cells = memoryview(self._map).cast("q")

    @classmethod
    def open_session(cls, path: Path, envs: int, actions: int) -> SharedStatus:
        """Make the status of a new session. The status of a new session contains the totals of earlier sessions.

        :raises TrainingFolderError: the status file of an earlier session is damaged, or has another number of coded
            actions.
        """
        width = _COLUMNS + 2 * actions
        carried = [0] * width
        files = Folder(path.parent, TrainingFolderError)
        if files.exists(path.name):
            old = cls(path)
            if old.actions != actions:
                old.close()
                raise TrainingFolderError(
                    f"{path.parent} contains a training with {old.actions} coded actions; this training has {actions}. "
                    "Train in a new folder, with warm_start to keep the policy."
                )
            carried = old._carried()
            old.close()
        rows = FIRST_ENV + envs
        cells = [_MAGIC, rows, actions, 0, *carried, *[0] * (width * (rows - 1))]
        files.write(path.name, struct.pack(f"<{len(cells)}q", *cells))
        return cls(path)

    def close(self) -> None:
        self._cells.release()
        self._map.close()

    # -- written by the processes of a training ---------------------------------------------------------------------

    def beat(self, row: int) -> None:
        """Record a heartbeat, which says that the process is alive and continues its work."""
        self._cells[self._at(row, BEAT)] = time.monotonic_ns()

    def begin(self, row: int) -> None:
        """Record a heartbeat at the start of a piece of work, such as an update. The process must record another
        heartbeat before the timeout.
        """
        at = self._at(row, 0)
        self._cells[at + BEAT] = time.monotonic_ns()
        self._cells[at + BUSY] = 1

    def end(self, row: int) -> None:
        at = self._at(row, 0)
        self._cells[at + BEAT] = time.monotonic_ns()
        self._cells[at + BUSY] = 0

    def add(self, row: int, column: int, amount: int = 1) -> None:
        self._cells[self._at(row, column)] += amount

    def put(self, row: int, column: int, value: int) -> None:
        self._cells[self._at(row, column)] = value

    def violation(self, row: int, action: int) -> None:
        self.add(row, _COLUMNS + action)

    def call(self, row: int, action: int) -> None:
        self.add(row, _COLUMNS + self.actions + action)

    # -- read by any process ----------------------------------------------------------------------------------------

    def get(self, row: int, column: int) -> int:
        return int(self._cells[self._at(row, column)])

    def spent(self, column: int) -> int:
        """The sum of a column of the status file over all environments, in this session and the earlier sessions."""
        return self.get(CARRIED, column) + sum(self.get(row, column) for row in range(FIRST_ENV, self.rows))

    def iterations(self) -> int:
        """Number of training iterations of the learner, in this session and the earlier sessions."""
        return self.get(CARRIED, ITERATIONS) + self.get(LEARNER, ITERATIONS)

    def violations(self) -> list[int]:
        """Number of violations of each coded action, in all environments, in this session and the earlier sessions."""
        return [self.spent(_COLUMNS + action) for action in range(self.actions)]

    def calls(self) -> list[int]:
        """Number of calls of each coded action, in all environments, in this session and the earlier sessions."""
        return [self.spent(_COLUMNS + self.actions + action) for action in range(self.actions)]

    def _carried(self) -> list[int]:
        carried = [0] * self._width
        for column in (DECISIONS, *range(_COLUMNS, self._width)):
            carried[column] = self.spent(column)
        carried[ITERATIONS] = self.iterations()
        return carried

    def _at(self, row: int, column: int) -> int:
        at: int = _HEADER + row * self._width + column
        return at


def stall(shared_status: SharedStatus, *, now: int, timeout: float, serial: bool) -> str | None:
    """A message about the part of a training that hangs; None if no part hangs.

    The learner or an environment hangs if it is busy and its last heartbeat is older than ``timeout`` seconds. The
    runner hangs if its last heartbeat is older than ``timeout`` seconds; if one process does all the work, all other
    heartbeats must also be older. The whole training hangs if the learner and all environments have sent no heartbeat
    for ``timeout`` seconds.
    """
    limit = int(timeout * 1e9)
    workers = [LEARNER, *range(FIRST_ENV, shared_status.rows)]
    for row in workers:
        age = now - shared_status.get(row, BEAT)
        if shared_status.get(row, BUSY) and age > limit:
            return f"{_name(row)} has been busy for {age / 1e9:.0f} s"
    newest = max(shared_status.get(row, BEAT) for row in workers)
    alive = max(shared_status.get(RUNNER, BEAT), newest) if serial else shared_status.get(RUNNER, BEAT)
    if not alive:
        return "the runner has not started"
    if now - alive > limit:
        return f"the runner has sent no heartbeat for {(now - alive) / 1e9:.0f} s"
    if now - newest > limit:
        return f"neither the learner nor an environment has done anything for {(now - newest) / 1e9:.0f} s"
    return None


def _name(row: int) -> str:
    return "the learner" if row == LEARNER else f"environment {row - FIRST_ENV}"
