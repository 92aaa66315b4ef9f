"""Numba's cache depends on the text of every file from which a kernel is compiled."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from typing import Any

import voxeldojo
from voxeldojo.world import mobs, noise, rng, sources, tick


def names(module: object) -> set[str]:
    return {path.stem for path in sources.sources(Path(str(module.__file__)))}  # type: ignore[attr-defined]


def test_sources_include_recursively_imported_modules() -> None:
    assert {"rng", "jit", "state"} <= names(rng)
    assert {"mobs", "mob_damage", "drops", "rng", "mob_kinds", "names"} <= names(tick)
    assert "render" not in names(tick)
    assert names(mobs) < names(tick)
    assert "mobs" not in names(noise)


def test_digest_of_the_sources_changes_only_with_the_text_of_an_imported_module(tmp_path: Path) -> None:
    copy = tmp_path / "voxeldojo"
    shutil.copytree(Path(voxeldojo.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))

    def stamps() -> tuple[str, str]:
        spec = importlib.util.spec_from_file_location("copied_sources", copy / "world" / "sources.py")
        assert spec is not None
        assert spec.loader is not None
        module: Any = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.stamp(copy / "world" / "tick.py"), module.stamp(copy / "world" / "noise.py")

    tick_before, noise_before = stamps()
    with (copy / "world" / "mob_damage.py").open("a") as callee:
        callee.write("#")
    tick_after, noise_after = stamps()
    assert tick_after != tick_before
    assert noise_after == noise_before
