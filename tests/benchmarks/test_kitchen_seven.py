"""benchmarks/kitchen_seven.py: recorded code completes all seven elements of the kitchen."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest


def test_recorded_code_completes_all_seven_elements(
    benchmark_module: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["kitchen_seven.py", "--tasks", "kitchen/sequence_all", "--episodes", "2"])
    benchmark_module("kitchen_seven").main()
    (line,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (line["name"], line["value"]) == ("kitchen_seven/sequence_all", 1.0)
    assert line["median_steps"] < 400
