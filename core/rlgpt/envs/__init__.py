"""Environments that run in another Python interpreter: in a worker process, with shared memory, and with
a restart after a crash.
"""

from rlgpt.envs.env import WorkerEnv
from rlgpt.envs.recipe import Recipe, WorkerTimeouts
from rlgpt.envs.text import TextArray

__all__ = ["Recipe", "TextArray", "WorkerEnv", "WorkerTimeouts"]
