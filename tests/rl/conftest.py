"""Add this folder, with the modules that several tests share, to the import path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
