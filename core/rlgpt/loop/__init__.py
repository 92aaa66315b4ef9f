"""The inner and the outer loop of RL-GPT. The loops use agents, trainers and environments only through their
interfaces.
"""

from rlgpt.loop.context import LoopContext
from rlgpt.loop.observer import Observer
from rlgpt.loop.run import Result, run
from rlgpt.loop.settings import LoopSettings, Seeds

__all__ = ["LoopContext", "LoopSettings", "Observer", "Result", "Seeds", "run"]
