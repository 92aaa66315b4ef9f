"""Puts examples/design and the scripted language model of ``words.py`` on the import path."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "examples" / "design")]
