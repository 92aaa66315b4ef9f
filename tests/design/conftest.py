"""The worlds of examples/design, and the words of a language model that stands in, are on the path."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "examples" / "design")]
