"""Hydra, opened on the configuration wherever it lies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rlgpt.cli import schema
from rlgpt.cli.paths import conf_dir

if TYPE_CHECKING:
    from hydra._internal.hydra import Hydra


@contextmanager
def opened() -> Iterator[Hydra]:
    """Hydra on :func:`~rlgpt.cli.paths.conf_dir`, closed again at the end."""
    import hydra
    from hydra.core.global_hydra import GlobalHydra

    schema.register()
    with hydra.initialize_config_dir(str(conf_dir()), job_name="rlgpt", version_base="1.3"):
        app = GlobalHydra.instance().hydra
        assert app is not None
        yield app
