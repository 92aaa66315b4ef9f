"""An environment in another interpreter: a worker process, shared memory, a fresh start after a crash."""

from rlgpt.envs.env import WorkerEnv
from rlgpt.envs.recipe import Recipe, WorkerTimeouts
from rlgpt.envs.text import TextArray

__all__ = ["Recipe", "TextArray", "WorkerEnv", "WorkerTimeouts"]
