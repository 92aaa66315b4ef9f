"""Imports litellm with its first use, as the import takes 2 to 4 seconds."""

from __future__ import annotations

import importlib
import os
import warnings
from functools import cache
from typing import Any


@cache
def litellm() -> Any:
    """The module, set up so that importing it uses no network and prints nothing.

    It uses the price table of its package (else its import downloads one), sends no telemetry, adds no advertisements
    to error messages, and reads no ``.env`` file of the working directory: keys come from the environment only.
    """
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module: Any = importlib.import_module("litellm")
    module.telemetry = False
    module.suppress_debug_info = True
    return module
