"""Observers of runs: the terminal's progress display, and several observers at once."""

from rlgpt.observers.progress import PlainProgressReporter, RichProgressReporter
from rlgpt.observers.several import Several

__all__ = ["PlainProgressReporter", "RichProgressReporter", "Several"]
