"""Tests of the cache of compiled kernels."""

from __future__ import annotations

import importlib.util
import pickle
from pathlib import Path
from typing import Any

from voxeldojo.world.jit import is_cached

KERNEL = """from voxeldojo.world.jit import jit


@jit
def double(number: int) -> int:
    return 2 * number
"""


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("kernel_module", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.double


def test_a_cache_index_of_another_version_is_ignored_without_unpickling(tmp_path: Path) -> None:
    path = tmp_path / "kernel_module.py"
    path.write_text(KERNEL)
    assert load(path)(2) == 4
    assert is_cached(load(path))
    (index,) = (tmp_path / "__pycache__").glob("*.nbi")
    index.write_bytes(pickle.dumps("another version") + b"cno_such_module\nClass\n.")
    kernel = load(path)
    assert not is_cached(kernel)
    assert kernel(2) == 4
