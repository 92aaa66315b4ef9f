"""The path of MineDojo's own interpreter. MineDojo needs older versions of packages than this plugin, so the process of
the plugin never imports MineDojo.
"""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "RLGPT_MINEDOJO_PYTHON"
HINT = f"`make minedojo` builds it in .minedojo/; {VARIABLE} names another interpreter"
PLACE = Path(".minedojo", "bin", "python")


def minedojo_python() -> Path | None:
    """Return the path of MineDojo's interpreter, which is ``$RLGPT_MINEDOJO_PYTHON`` or the interpreter that ``make
    minedojo`` built.

    The function searches for the interpreter of ``make minedojo`` in the working directory and its parents, then in the
    parents of this file. If MineDojo's interpreter is not found, the function returns None. The function does not check
    that the interpreter can import minedojo.
    """
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named) if Path(named).is_file() else None
    here = Path.cwd()
    folders = (here, *here.parents, *Path(__file__).resolve().parents)
    return next((folder / PLACE for folder in folders if (folder / PLACE).is_file()), None)
