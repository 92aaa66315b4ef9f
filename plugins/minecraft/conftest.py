"""Defines the pytest fixture of MineDojo's interpreter, for the tests of the world and of the plugin."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def minedojo() -> Path:
    """MineDojo's interpreter. If the interpreter of MineDojo is missing, the test is skipped; in CI, or if the
    interpreter is required, the test fails.
    """
    from rlgpt_minecraft.interpreter import HINT, minedojo_python

    python = minedojo_python()
    if python is not None:
        return python
    message = f"MineDojo's interpreter was not found: {HINT}"
    if os.environ.get("RLGPT_REQUIRE_MINEDOJO") == "1" or os.environ.get("CI") in ("1", "true"):
        pytest.fail(message)
    pytest.skip(message)
