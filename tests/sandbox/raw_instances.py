"""Instances of the guest without a coded action's runner, and their memory."""

from __future__ import annotations

import ctypes

from rlgpt.sandbox import SandboxLimits
from rlgpt.sandbox.runtime import Instance

LIMITS = SandboxLimits()


def started(source: str, fuel: int = LIMITS.load_fuel) -> Instance:
    """An instance whose action waits for the outcome of the primitive ``grasp``, which is its first request."""
    instance = Instance(LIMITS)
    instance.call("prepare-library", '{"observe":[],"grasp":[]}', 3, fuel=fuel)
    instance.call("load-action", "a", source, "run", "", fuel=fuel)
    assert b"grasp" in instance.call("start-action", "a", "{}", "", fuel=fuel)
    return instance


def memory_of(instance: Instance) -> bytes:
    base, size = instance._binding.memory
    return ctypes.string_at(base, size)
