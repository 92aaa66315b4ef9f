"""litellm, imported when it is first needed: its import costs 2 to 4 seconds."""

from __future__ import annotations

import importlib
import os
import warnings
from functools import cache
from typing import Any


@cache
def litellm() -> Any:
    """The module, quiet and keeping to itself.

    Its price table is the one it brought along (else its import reaches out), telemetry and its adverts in error
    messages are off, and it does not read a ``.env`` of the working directory: keys come from the environment alone.
    """
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module: Any = importlib.import_module("litellm")
    module.telemetry = False
    module.suppress_debug_info = True
    return module
