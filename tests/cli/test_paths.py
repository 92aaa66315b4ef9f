"""The configuration files are found in a checkout and in a wheel. Missing configuration files are an error."""

from __future__ import annotations

from pathlib import Path

import pytest
from rlgpt.cli.paths import conf_dir, overrides_file
from rlgpt.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]


def test_configuration_files_are_found_in_this_checkout() -> None:
    assert conf_dir() == ROOT / "conf"
    assert overrides_file() == ROOT / "overrides.txt"


@pytest.mark.parametrize("place", ["site-packages/rlgpt", "."])
def test_configuration_files_are_found_in_a_wheel_and_a_checkout(tmp_path: Path, place: str) -> None:
    package = tmp_path / "site-packages" / "rlgpt" if place != "." else tmp_path / "core" / "rlgpt"
    home = package if place != "." else tmp_path
    (home / "conf").mkdir(parents=True)
    (home / "conf" / "config.yaml").write_text("")
    package.mkdir(parents=True, exist_ok=True)
    assert conf_dir(package) == home / "conf"


def test_installation_without_configuration_files_raises_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"incomplete\. Install rlgpt again"):
        conf_dir(tmp_path / "core" / "rlgpt")
