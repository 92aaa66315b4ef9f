"""The corpus and its stage are on the path, so that every test here meets the same programs and the same host."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
