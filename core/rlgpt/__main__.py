"""Runs the command line as ``python -m rlgpt``."""

import sys

from rlgpt.cli import main

sys.exit(main())
