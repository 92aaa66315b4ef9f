"""The manifests (``pyproject.toml``) of all distributions agree with each other and with the committed versions."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import rlgpt
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "core" / "pyproject.toml"
PLUGINS = sorted([*ROOT.glob("plugins/*/pyproject.toml"), *ROOT.glob("plugins/*/*/pyproject.toml")])
MANIFESTS = [CORE, *PLUGINS]
WORKSPACE = tomllib.loads((ROOT / "pyproject.toml").read_text())


def read(manifest: Path) -> dict[str, Any]:
    return tomllib.loads(manifest.read_text())


def lines(name: str) -> list[str]:
    return [line for line in (ROOT / name).read_text().splitlines() if line and not line.startswith("#")]


def requirements() -> Iterator[Requirement]:
    """Yield every requirement of every manifest and development group, except the distributions of this repository."""
    texts = [text for group in WORKSPACE["dependency-groups"].values() for text in group if isinstance(text, str)]
    own = set()
    for manifest in MANIFESTS:
        project = read(manifest)["project"]
        own.add(canonicalize_name(project["name"]))
        texts += project["dependencies"]
    texts += read(CORE)["project"]["optional-dependencies"]["sample-factory"]
    for text in texts:
        requirement = Requirement(text)
        if canonicalize_name(requirement.name) not in own:
            yield requirement


def test_workspace_manifest_and_overrides_files_have_the_same_overrides() -> None:
    files = ("overrides.txt", "plugins/craftax/overrides.txt")
    assert WORKSPACE["tool"]["uv"]["override-dependencies"] == [line for file in files for line in lines(file)]


def test_overrides_file_has_the_same_ranges_of_gymnasium_and_numpy_as_core() -> None:
    ranges = read(CORE)["project"]["dependencies"]
    for name in ("gymnasium", "numpy"):
        assert {line for line in lines("overrides.txt") if line.startswith(name)} <= set(ranges)


def test_committed_versions_satisfy_every_requirement() -> None:
    """If this test fails after a change of a manifest, run ``make lock``, which rewrites constraints.txt."""
    pinned: dict[str, list[str]] = {}
    for pin in map(Requirement, lines("constraints.txt")):
        pinned.setdefault(canonicalize_name(pin.name), []).extend(s.version for s in pin.specifier)
    unmet = [
        str(requirement)
        for requirement in requirements()
        if not (versions := pinned.get(canonicalize_name(requirement.name)))
        or not all(requirement.specifier.contains(v, prereleases=True) for v in versions)
    ]
    assert not unmet, "constraints.txt does not fit these requirements: run `make lock`"


def test_committed_versions_are_exact_and_have_no_address_or_local_build() -> None:
    wrong = [line for line in lines("constraints.txt") if not re.fullmatch(r"[\w.-]+==[\w.!]+( ; .+)?", line)]
    assert not wrong


def test_every_distribution_states_the_same_python_versions_and_licence() -> None:
    for manifest in MANIFESTS:
        project = read(manifest)["project"]
        assert project["requires-python"] == ">=3.11,<3.14", manifest
        assert project["license"] == "MIT", manifest


def test_every_distribution_takes_its_version_from_core() -> None:
    for manifest in MANIFESTS:
        data = read(manifest)
        assert data["project"]["dynamic"] == ["version"], manifest
        source = (manifest.parent / data["tool"]["hatch"]["version"]["path"]).resolve()
        assert source == ROOT / "core" / "rlgpt" / "__init__.py", manifest


def test_changelog_and_citation_state_the_current_version() -> None:
    newest = re.search(r"^## (\S+), (\d{4}-\d{2}-\d{2})$", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    assert newest is not None
    citation = (ROOT / "CITATION.cff").read_text()
    assert newest[1] == rlgpt.__version__
    assert f"\nversion: {newest[1]}\n" in citation
    assert f'\ndate-released: "{newest[2]}"\n' in citation


def test_every_plugin_distribution_is_named_after_its_folder() -> None:
    plugins = [m for m in PLUGINS if "rlgpt" in read(m)["project"].get("entry-points", {})]
    assert plugins
    for manifest in plugins:
        assert read(manifest)["project"]["name"] == f"rlgpt-{manifest.parent.name.replace('_', '-')}"
