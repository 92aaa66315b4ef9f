"""Environments in another Python interpreter. Such an environment runs in a worker process, exchanges data through
shared memory, and is restarted after a crash.
"""

from rlgpt.envs.env import WorkerEnv
from rlgpt.envs.recipe import Recipe, WorkerTimeouts
from rlgpt.envs.text import TextArray

__all__ = ["Recipe", "TextArray", "WorkerEnv", "WorkerTimeouts"]
