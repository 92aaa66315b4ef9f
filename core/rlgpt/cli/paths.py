"""Finds the folder of the configuration, and the file with version overrides for the installation. A wheel has the
configuration next to the code, and a checkout has it in its top folder.
"""

from __future__ import annotations

from pathlib import Path

from rlgpt.errors import ConfigError

PACKAGE = Path(__file__).resolve().parents[1]


def conf_dir(package: Path = PACKAGE) -> Path:
    """The folder of Hydra's configuration.

    :param package: the folder of the package ``rlgpt``.
    :raises ConfigError: the configuration's folder is neither in the wheel nor in the checkout, so the installation is
        incomplete.
    """
    return _shared("conf/config.yaml", package).parent


def overrides_file(package: Path = PACKAGE) -> Path:
    """The file for ``uv pip install --overrides``, with which Sample Factory and current versions of its dependencies
    can be installed together.
    """
    return _shared("overrides.txt", package)


def _shared(name: str, package: Path) -> Path:
    places = [package / name, package.parents[1] / name]
    for place in places:
        if place.is_file():
            return place
    raise ConfigError(
        f"{name} is neither in the wheel ({places[0]}) nor in a checkout ({places[1]}): "
        "the installation is incomplete. Install rlgpt again."
    )
