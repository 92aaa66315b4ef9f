"""The manifests agree with one another."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MANIFESTS = sorted([ROOT / "core" / "pyproject.toml", *ROOT.glob("plugins/*/pyproject.toml")])


def test_both_forms_of_the_overrides_agree() -> None:
    for_sync = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]["override-dependencies"]
    for_pip = [line for line in (ROOT / "overrides.txt").read_text().splitlines() if line and line[0] != "#"]
    assert for_sync == for_pip


def test_the_overrides_stay_within_what_core_asks_for() -> None:
    asked = tomllib.loads((ROOT / "core" / "pyproject.toml").read_text())["project"]["dependencies"]
    overrides = (ROOT / "overrides.txt").read_text().splitlines()
    for name in ("gymnasium", "numpy"):
        assert {line for line in overrides if line.startswith(name)} <= set(asked)


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: path.parent.name)
def test_every_distribution_states_the_same_pythons_and_licence(manifest: Path) -> None:
    project = tomllib.loads(manifest.read_text())["project"]
    assert project["requires-python"] == ">=3.11,<3.14"
    assert project["license"] == "MIT"


@pytest.mark.parametrize(
    "manifest", [m for m in MANIFESTS if m.parent.name != "core"], ids=lambda path: path.parent.name
)
def test_every_plugin_is_found_by_its_entry_point(manifest: Path) -> None:
    project = tomllib.loads(manifest.read_text())["project"]
    assert project["entry-points"]["rlgpt"]
    assert project["name"] == f"rlgpt-{manifest.parent.name.replace('_', '-')}"
