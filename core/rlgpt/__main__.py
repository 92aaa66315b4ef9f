"""``python -m rlgpt``."""

import sys

from rlgpt.cli import main

sys.exit(main())
