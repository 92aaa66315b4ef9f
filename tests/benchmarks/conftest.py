"""Imports the modules of ``benchmarks/``. This folder is not a package: its scripts import each other by name."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def benchmark_module(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """``benchmark_module(name)`` imports the module ``name`` of ``benchmarks/``."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return import_module
