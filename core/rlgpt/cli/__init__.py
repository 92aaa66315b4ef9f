"""The command line. The import is fast: the module of a command is imported when the command is called."""

from rlgpt.cli.main import main

__all__ = ["main"]
