"""Puts this folder on the import path: the tests import ``story``, which is also a script."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
