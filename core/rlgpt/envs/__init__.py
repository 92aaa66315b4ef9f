"""Runs environments in another Python interpreter. The package ``rlgpt.envs`` runs an environment in a worker process,
exchanges data with the worker through shared memory, and restarts the worker after a crash.
"""

from rlgpt.envs.env import WorkerEnv
from rlgpt.envs.recipe import Recipe, WorkerTimeouts
from rlgpt.envs.text import TextArray

__all__ = ["Recipe", "TextArray", "WorkerEnv", "WorkerTimeouts"]
