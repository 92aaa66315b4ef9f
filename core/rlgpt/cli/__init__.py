"""The command line. The import of this package is fast, because the module of a command is imported only when the
command is called.
"""

from rlgpt.cli.main import main

__all__ = ["main"]
