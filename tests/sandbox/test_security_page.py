"""docs/security.md is held to what it describes."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from rlgpt.sandbox import Budgets
from rlgpt.sandbox.replies import DEPTH

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text()


def test_the_pin_is_the_one_that_is_installed() -> None:
    wanted = tomllib.loads((ROOT / "core" / "pyproject.toml").read_text())["project"]["dependencies"]
    (pin,) = [line for line in wanted if line.startswith("wasmtime")]
    assert f"`{pin}`" in PAGE


def test_the_programs_are_counted() -> None:
    kinds = list((ROOT / "tests" / "sandbox" / "hostile" / "programs").glob("*.toml"))
    programs = sum(len(tomllib.loads(kind.read_text())) for kind in kinds)
    assert f"{programs} programs of {len(kinds)} kinds" in PAGE
    assert f"the tests try {programs} programs" in PAGE


def test_the_budgets_are_those_of_the_code() -> None:
    budgets = Budgets()
    for told in (
        f"| source | {budgets.source_bytes:,} bytes |",
        f"| {budgets.memory_bytes >> 20} MiB |",
        f"| {budgets.yields}; {budgets.requests} |",
        f"| {budgets.reply_bytes:,} bytes, {DEPTH} |",
        f"| view | {budgets.view_bytes:,} bytes |",
        f"| {budgets.wall_seconds:g} s |",
    ):
        assert told in PAGE
    assert budgets.load_fuel == budgets.turn_fuel == 10**9


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`((?:core|tests|benchmarks)/[\w./]+)`", PAGE))))
def test_what_it_names_is_there(path: str) -> None:
    assert (ROOT / path).exists()
