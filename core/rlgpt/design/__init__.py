"""``design()``: both loops on an environment nobody prepared."""

from rlgpt.anywhere.designing import design
from rlgpt.anywhere.prepare import Same, prepare

__all__ = ["Same", "design", "prepare"]
