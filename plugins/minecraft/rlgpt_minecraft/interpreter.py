"""Where MineDojo's own interpreter is: the package needs older versions than ours and is never imported here."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "RLGPT_MINEDOJO_PYTHON"
HINT = f"`make minedojo` builds it in .minedojo/; {VARIABLE} names another interpreter"
PLACE = Path(".minedojo", "bin", "python")


def minedojo_python() -> Path | None:
    """The interpreter that has MineDojo installed: ``$RLGPT_MINEDOJO_PYTHON``, or what ``make minedojo`` built.

    The latter is looked for in the working directory, in the folders above it and in those above this file.
    None where there is none; whether it can import minedojo is not asked.
    """
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named) if Path(named).is_file() else None
    here = Path.cwd()
    folders = (here, *here.parents, *Path(__file__).resolve().parents)
    return next((folder / PLACE for folder in folders if (folder / PLACE).is_file()), None)
