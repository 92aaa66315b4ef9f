"""Add examples/design, and this folder with the scripted language model of ``words.py``, to the import path."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "examples" / "design")]
