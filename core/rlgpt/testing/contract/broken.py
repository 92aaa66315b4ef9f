"""Checks the plugin contract without pytest, for a notebook or for a plugin that is built at run time."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

import pytest

from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.testing.contract.causes import CAUSES, known_cause
from rlgpt.testing.contract.laws import Laws

OF_THE_MODULE = frozenset({"test_the_manager_accepts_it", "test_importing_and_listing_tasks_is_light"})
"""The laws about the module of an entry point. :func:`broken_laws` skips these laws, because it gets no module."""


def laws_of(contract: type[Laws]) -> list[str]:
    """The names of the laws of ``contract``, in the order in which the laws are tested."""
    laws = {name: law for name, law in inspect.getmembers(contract, inspect.isfunction) if name.startswith("test_")}
    first = [name for name in CAUSES if name in laws]
    return [*first, *sorted(laws.keys() - set(first))]


def broken_laws(
    plugin: EnvironmentPlugin, contract: type[Laws] | None = None, laws: Iterable[str] | None = None
) -> dict[str, str]:
    """A dict from the name of a law to a message, for each law that a task of ``plugin`` breaks. The message is about
    the first task that breaks the law.

    :param contract: the class that defines the laws of the contract and their settings. Default: ``PluginContract``.
    :param laws: names of the laws that are tested. Default: all laws except those about the module.
    """
    if contract is None:
        from rlgpt.testing.contract import PluginContract

        contract = PluginContract
    contract = type(contract.__name__, (contract,), {})
    names = laws if laws is not None else [n for n in laws_of(contract) if n not in OF_THE_MODULE]
    broken: dict[str, str] = {}
    for name in names:
        for task in plugin.tasks().values():
            law = getattr(contract(), name)
            if known_cause(contract(), law, task):
                continue
            wanted = inspect.signature(law).parameters.keys()
            try:
                law(**{k: v for k, v in (("plugin", plugin), ("task", task)) if k in wanted})
            except pytest.skip.Exception:
                continue
            except Exception as fault:  # A broken plugin can raise any exception.
                broken.setdefault(name, f"{type(fault).__name__}: {fault}")
    return broken
