"""Environments in another Python interpreter. They run in a worker process, use shared memory, and are restarted after
a crash.
"""

from rlgpt.envs.env import WorkerEnv
from rlgpt.envs.recipe import Recipe, WorkerTimeouts
from rlgpt.envs.text import TextArray

__all__ = ["Recipe", "TextArray", "WorkerEnv", "WorkerTimeouts"]
