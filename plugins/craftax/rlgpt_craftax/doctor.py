"""The checks of ``rlgpt doctor``."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from rlgpt.plugin.types import Check

CRAFTAX = "1.6.1"


def checks() -> tuple[Check, ...]:
    """Check that the installed version of Craftax is the version with which the published results were measured."""
    try:
        found = version("craftax")
    except PackageNotFoundError:
        found = "missing"
    advice = f"pip install craftax=={CRAFTAX}: other versions have other rules, and results cannot be compared"
    return (Check("craftax", found == CRAFTAX, found, "" if found == CRAFTAX else advice),)
