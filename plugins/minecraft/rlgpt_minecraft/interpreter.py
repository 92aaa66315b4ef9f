"""The path of MineDojo's own interpreter. The package needs older versions than ours, so this process never imports
it."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "RLGPT_MINEDOJO_PYTHON"
HINT = f"`make minedojo` builds it in .minedojo/; {VARIABLE} names another interpreter"
PLACE = Path(".minedojo", "bin", "python")


def minedojo_python() -> Path | None:
    """Return the interpreter with MineDojo: ``$RLGPT_MINEDOJO_PYTHON``, or the one that ``make minedojo`` built.

    The function searches for the latter in the working directory and its parents, then in the parents of this file. It
    returns None if there is none. It does not check that the interpreter can import minedojo.
    """
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named) if Path(named).is_file() else None
    here = Path.cwd()
    folders = (here, *here.parents, *Path(__file__).resolve().parents)
    return next((folder / PLACE for folder in folders if (folder / PLACE).is_file()), None)
