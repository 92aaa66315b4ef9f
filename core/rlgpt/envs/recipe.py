"""The recipe, which describes how to start a worker with an environment in another Python interpreter. A recipe is a
frozen, picklable value.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from rlgpt.domain import Plain, Value

FACTORY = r"^([A-Za-z_][\w.]*|.+\.py):[A-Za-z_]\w*$"


class WorkerTimeouts(Value):
    """Time limits for the orders to a worker process, in seconds of wall-clock time. A worker that exceeds a limit is
    killed.
    """

    start: float = Field(default=120.0, gt=0, description="time to make the environment")
    reset: float = Field(default=120.0, gt=0)
    step: float = Field(default=60.0, gt=0, description="time for a step, and for rendering a frame")
    close: float = Field(default=10.0, ge=0, description="time to end, after which the worker is killed")


class Recipe(Value):
    """All data that is needed to start a worker process.

    :ivar factory: the function that makes the environment, as ``package.module:function`` or
        ``path/to/file.py:function``. The worker imports this function. The factory returns an environment of gymnasium
        or of the old package gym.
    :ivar arguments: keyword arguments of the factory.
    :ivar python: the path of the worker's Python interpreter, version 3.8 or newer, with numpy.
    :ivar paths: folders that are inserted at the start of ``sys.path`` in the worker's interpreter.
    :ivar environment: environment variables for the worker. The worker gets only the variables in ``environment`` and
        in ``passed``, so that no API key reaches a simulator by accident.
    :ivar passed: names of the environment variables that the worker inherits from this process, if they are set.
    :ivar folder: the worker's working directory. If ``folder`` is None, the worker has the working directory of this
        process.
    :ivar restarts: maximal number of crashed workers that are replaced without a finished episode in between.
    :ivar space_bytes: maximal size of one observation, and of one action, in bytes. The worker announces its spaces,
        and this process allocates several times the size of the spaces.
    :ivar on_crash: what happens after a crash of the worker process. With ``raise``, a crash is an error. With
        ``truncate``, a crash truncates the episode, with the last observation, the reward 0 and the error message as
        ``info["crash"]``; after a crash in ``reset``, the reset is tried again.
    """

    factory: str = Field(pattern=FACTORY)
    arguments: Mapping[str, Plain] = Field(default_factory=dict)
    python: str = sys.executable
    paths: tuple[str, ...] = ()
    environment: Mapping[str, str] = Field(default_factory=dict)
    passed: tuple[str, ...] = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "OMP_NUM_THREADS", "DISPLAY", "XAUTHORITY")
    folder: str | None = None
    timeouts: WorkerTimeouts = WorkerTimeouts()
    restarts: int = Field(default=3, ge=0)
    space_bytes: int = Field(default=64 << 20, ge=1)
    on_crash: Literal["raise", "truncate"] = "raise"
