"""The story's folder is on the path, so that its tests and its script are one."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
