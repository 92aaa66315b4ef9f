"""The contract without a test run: for a notebook, or for plugins that are made on the spot."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

import pytest

from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.testing.contract.laws import Laws

OF_THE_MODULE = frozenset({"test_the_manager_takes_it", "test_importing_and_listing_tasks_is_light"})
"""Laws about the module an entry point names; :func:`broken_laws` has none to try."""


def laws_of(contract: type[Laws]) -> list[str]:
    """The names of a contract's laws, in alphabetical order."""
    return sorted(name for name, _ in inspect.getmembers(contract, inspect.isfunction) if name.startswith("test_"))


def broken_laws(
    plugin: EnvironmentPlugin, contract: type[Laws] | None = None, laws: Iterable[str] | None = None
) -> dict[str, str]:
    """Law -> what it says, for each law that a task of ``plugin`` breaks (the first such task).

    :param contract: whose laws and settings; default: ``PluginContract``.
    :param laws: names of the laws to try; default: all but those about the module.
    """
    if contract is None:
        from rlgpt.testing.contract import PluginContract

        contract = PluginContract
    names = laws if laws is not None else [n for n in laws_of(contract) if n not in OF_THE_MODULE]
    found: dict[str, str] = {}
    for name in names:
        for task in plugin.tasks().values():
            law = getattr(contract(), name)
            wanted = inspect.signature(law).parameters.keys()
            try:
                law(**{k: v for k, v in (("plugin", plugin), ("task", task)) if k in wanted})
            except pytest.skip.Exception:
                continue
            except Exception as fault:  # a law may meet anything in a broken plugin
                found.setdefault(name, f"{type(fault).__name__}: {fault}")
    return found
