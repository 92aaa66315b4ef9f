"""The results in the README are equal to the results in docs/benchmarks.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FIGURE = re.compile(r"\d\.\d\d \[\d\.\d\d, \d\.\d\d\]")
SECTIONS = {
    "Franka kitchen": ("Kitchen", r"\*4 tasks\*"),
    "noisy microwave, one of the four": ("Kitchen", "microwave_noisy"),
    "car": ("Car", r"\*2 tasks\*"),
    "furniture, one leg": ("Furniture", "one_leg_medium"),
    "embedded Minecraft": ("Minecraft", r"\*6 tasks\*"),
    "five environments without a plugin": ("Environments without a plugin", r"\*5 tasks\*"),
}
"""Row of the README -> section of the page, and the task of its table."""
RESULTS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "README.md").read_text().splitlines()
    if line.startswith("|") and FIGURE.search(line.replace("*", ""))
]


def test_readme_has_a_result_row_for_every_benchmark() -> None:
    assert {row[0] for row in RESULTS} == set(SECTIONS)


@pytest.mark.parametrize("row", RESULTS, ids=lambda row: str(row[0]))
def test_readme_figures_are_equal_to_the_figures_of_the_benchmark_page(row: list[str]) -> None:
    heading, task = SECTIONS[row[0]]
    page = (ROOT / "docs" / "benchmarks.md").read_text()
    section = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    methods = ("rlgpt", "rl", "code", "untrained")
    measured = [
        re.search(rf"^\| {task} \| `{method}` \| ({FIGURE.pattern})", section, re.MULTILINE) for method in methods
    ]
    assert [cell.replace("*", "") for cell in row[2:]] == [match and match[1] for match in measured]
