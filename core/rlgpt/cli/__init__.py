"""The command line. Imports nothing heavy: every command's module is imported when it is called."""

from rlgpt.cli.main import main

__all__ = ["main"]
