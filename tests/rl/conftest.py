"""What several tests share lies beside them, on the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
