"""The command line. The module of a command is imported only when the command is called, so ``rlgpt`` starts fast."""

from rlgpt.cli.main import main

__all__ = ["main"]
