"""Adds this folder to the import path, because the tests import ``journey``, which is also a script."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
