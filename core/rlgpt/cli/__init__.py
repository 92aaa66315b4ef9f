"""The command line. The package ``rlgpt.cli`` is imported fast, because the module of a command is imported only when
the command is called.
"""

from rlgpt.cli.main import main

__all__ = ["main"]
