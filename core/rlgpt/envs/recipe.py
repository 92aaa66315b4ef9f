"""How to make an environment in another interpreter: a frozen, picklable value."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from rlgpt.domain import Plain, Value

FACTORY = r"^([A-Za-z_][\w.]*|.+\.py):[A-Za-z_]\w*$"


class WorkerTimeouts(Value):
    """Seconds of wall time after which a worker counts as hung and is killed."""

    start: float = Field(default=120.0, gt=0, description="until the environment is made")
    reset: float = Field(default=120.0, gt=0)
    step: float = Field(default=60.0, gt=0, description="a render too")
    close: float = Field(default=10.0, ge=0, description="to end by itself, before it is killed")


class Recipe(Value):
    """Everything that a worker is made from.

    :ivar factory: ``package.module:function`` or ``path/to/file.py:function``, imported by the other interpreter; its
        environment is one of gymnasium or of old gym.
    :ivar arguments: keyword arguments of the factory.
    :ivar python: the interpreter: Python 3.8 or newer, with numpy.
    :ivar paths: put before its ``sys.path``.
    :ivar environment: environment variables of the worker. It gets these and those named in ``passed``, nothing else:
        no key of a language model reaches a simulator by accident.
    :ivar passed: names of variables that it takes over from this process, where they are set.
    :ivar folder: where it runs; default: where this process does.
    :ivar restarts: how often in a row, without a finished episode in between, a worker that crashed is replaced.
    :ivar space_bytes: bytes of one observation, and of one action, at most. The worker announces its spaces, and this
        process allocates several times that much.
    :ivar on_crash: ``raise``: a crash is an error; ``truncate``: it ends the episode as truncated, with the last
        observation, no reward and the crash in words as ``info["crash"]``, and a crash in ``reset`` is tried again.
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
