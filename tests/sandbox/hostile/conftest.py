"""Add this folder, with the corpus of hostile programs, to the import path of these tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
