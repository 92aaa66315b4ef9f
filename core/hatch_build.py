"""Brings into the wheel what lies outside the package: the configuration, the overrides and the built guest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

GUEST = "rlgpt/sandbox/guest.wasm"


class SharedFiles(BuildHookInterface):
    """An editable install reads these files from the checkout, so it needs none of them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        checkout = root.parent
        outside = root if (root / "conf").is_dir() else checkout
        guest = root / GUEST
        if not guest.is_file():
            raise FileNotFoundError(
                f"{guest} is missing: the sandbox's guest is built before the wheel. "
                "Run `make guest` in the checkout (or `python -m rlgpt.sandbox.build`), then build again."
            )
        prefix = "rlgpt/" if self.target_name == "wheel" else ""
        build_data["force_include"].update(
            {
                str(outside / "conf"): f"{prefix}conf",
                str(outside / "overrides.txt"): f"{prefix}overrides.txt",
                str(guest): GUEST,
            }
        )
