"""The recipe of an environment in another interpreter: a frozen, picklable value."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from rlgpt.domain import Plain, Value

FACTORY = r"^([A-Za-z_][\w.]*|.+\.py):[A-Za-z_]\w*$"


class WorkerTimeouts(Value):
    """Seconds of wall time after which a worker counts as hung and is killed, by order."""

    start: float = Field(default=120.0, gt=0, description="to make the environment")
    reset: float = Field(default=120.0, gt=0)
    step: float = Field(default=60.0, gt=0, description="for a render too")
    close: float = Field(default=10.0, ge=0, description="to end, before it is killed")


class Recipe(Value):
    """Everything that is needed to start a worker.

    :ivar factory: ``package.module:function`` or ``path/to/file.py:function``, imported by the other interpreter; its
        environment is one of gymnasium or of old gym.
    :ivar arguments: keyword arguments of the factory.
    :ivar python: the interpreter: Python 3.8 or newer, with numpy.
    :ivar paths: inserted at the start of its ``sys.path``.
    :ivar environment: environment variables of the worker. It gets these and those named in ``passed``, nothing else,
        so that no key of a language model reaches a simulator by accident.
    :ivar passed: names of the variables that the worker inherits from this process, where they are set.
    :ivar folder: its working directory; default: that of this process.
    :ivar restarts: how often in a row, without a finished episode in between, a crashed worker is replaced.
    :ivar space_bytes: bytes of one observation, and of one action, at most. The worker announces its spaces, and this
        process allocates several times that much.
    :ivar on_crash: ``raise``: a crash is an error. ``truncate``: a crash truncates the episode, with the last
        observation, reward 0 and the error message as ``info["crash"]``; a crash in ``reset`` is tried again.
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
