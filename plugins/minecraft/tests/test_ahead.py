"""A second process compiles the tick where it is worth it, and whatever becomes of that, the tick is compiled."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rlgpt_minecraft import ahead
from rlgpt_minecraft.mission import Mission
from rlgpt_minecraft.sim import Sim
from rlgpt_minecraft.world.state import ACTION, empty
from rlgpt_minecraft.world.tick import KERNEL

WAIT = (sys.executable, "-c", "import sys; sys.stdin.read()")
FAIL = (sys.executable, "-c", "raise SystemExit(3)")


class Kernel:
    """What is asked of a dispatcher of numba."""

    def __init__(self, index: dict[Any, Any] | None = None, signatures: tuple[Any, ...] = ()) -> None:
        self._cache = SimpleNamespace(_cache_file=SimpleNamespace(_load_index=lambda: index or {}))
        self.signatures, self.asked = signatures, list[Any]()

    def compile(self, signature: Any) -> str:
        self.asked.append(signature)
        return "machine code"


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)


@pytest.mark.parametrize("command", [WAIT, FAIL], ids=["succeeds", "fails"])
def test_the_first_call_waits_for_the_process(command: tuple[str, ...]) -> None:
    kernel = Kernel()
    process = ahead.begin(kernel, command)
    assert process is not None
    assert ahead.begin(kernel, command) is None
    for asked in ("first", "second"):
        assert kernel.compile(asked) == "machine code"
        assert process.returncode == (3 if command is FAIL else 0)
    assert kernel.asked == ["first", "second"]
    assert "compile" not in vars(kernel)


def test_no_process_where_nothing_is_to_be_gained(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ahead.begin(Kernel(index={"types": "file"}), FAIL) is None
    assert ahead.begin(Kernel(signatures=("compiled",)), FAIL) is None
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    assert ahead.begin(Kernel(), FAIL) is None


def test_it_compiles_for_the_types_that_the_game_has() -> None:
    sim = Sim(Mission(seed=0))
    sim.reset(0)
    sim.step()
    world, action = (KERNEL.typeof_pyval(value) for value in (empty(0), np.zeros(1, ACTION)))
    assert KERNEL.typeof_pyval(sim.world) == world
    assert KERNEL.signatures == [(world, action)]
    ahead.main()
    assert KERNEL.signatures == [(world, action)]
