"""Keeps instances of the guest that are no longer used, and uses them again with their memory restored
(:mod:`rlgpt.sandbox.pristine`).

A new instance costs the kernel a copy of every page that its code writes. A restored instance keeps its copies, and
only their content is written anew. An instance is its memory and one stack pointer (:mod:`rlgpt.sandbox.link` refuses
all else that could change), and the stack pointer is back in its place when a call has ended without a trap. So a
restored instance equals a new one bit for bit.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlgpt.sandbox.limits import SandboxLimits
    from rlgpt.sandbox.runtime import Instance

MOST = 8
"""Maximal number of unused instances that are kept. Each takes about 2 MB."""


class Instances:
    """Makes the instances of one sandbox, from unused ones if there are any. Several threads may use one object."""

    def __init__(self) -> None:
        self._idle: list[tuple[int, Instance]] = []

    def __reduce__(self) -> tuple[type[Instances], tuple[()]]:
        return Instances, ()

    def take(self, limits: SandboxLimits) -> Instance:
        """An instance in the state in which every instance begins.

        :raises SandboxError: the guest does not start within the limits.
        """
        from rlgpt.sandbox import runtime

        while self._idle:
            pid, instance = self._idle.pop()
            if pid == os.getpid() and instance.limits == limits and instance.restore():
                return instance
        return runtime.Instance(limits)

    def give(self, instance: Instance | None) -> None:
        """Keep an instance that its owner does not use any more, unless it was stopped."""
        if getattr(instance, "reusable", False) and len(self._idle) < MOST:
            assert instance is not None
            self._idle.append((os.getpid(), instance))
