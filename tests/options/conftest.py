"""Add this folder, with the actions of ``grid_actions.py``, to the import path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
