"""Numba's cache hears of every file that a kernel is made of."""

from __future__ import annotations

from pathlib import Path

import pytest
from voxeldojo.world import mobs, noise, rng, sources, tick


def names(module: object) -> set[str]:
    return {path.stem for path in sources.sources(Path(str(module.__file__)))}  # type: ignore[attr-defined]


def test_a_file_is_made_of_what_it_imports_and_they_in_turn() -> None:
    assert {"rng", "jit", "state"} <= names(rng)
    assert {"mobs", "wounds", "drops", "rng", "kinds", "names"} <= names(tick)
    assert "render" not in names(tick)
    assert names(mobs) < names(tick)
    assert "mobs" not in names(noise)


def test_another_text_of_a_callee_is_another_stamp(monkeypatch: pytest.MonkeyPatch) -> None:
    caller, callee = Path(str(tick.__file__)), Path(str(mobs.__file__)).with_name("wounds.py")
    stamp, read = sources.stamp.__wrapped__, sources._bytes
    before, apart = stamp(caller), stamp(Path(str(noise.__file__)))
    monkeypatch.setattr(sources, "_bytes", lambda path: read(path) + (b"#" if path == callee else b""))
    assert stamp(caller) != before
    assert stamp(Path(str(noise.__file__))) == apart
