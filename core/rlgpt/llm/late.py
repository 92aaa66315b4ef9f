"""Imports litellm when it is first used, because the import takes 2 to 4 seconds."""

from __future__ import annotations

import importlib
import os
import warnings
from functools import cache
from typing import Any


@cache
def litellm() -> Any:
    """Import the module litellm, so configured that the import uses no network and prints nothing.

    The configured litellm uses the price table in its package (by default, the import downloads a table), sends no
    telemetry, and adds no advertisements to error messages. API keys come only from environment variables, because the
    configured litellm reads no ``.env`` file.
    """
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module: Any = importlib.import_module("litellm")
    module.telemetry = False
    module.suppress_debug_info = True
    return module
