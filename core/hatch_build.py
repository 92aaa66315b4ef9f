"""Adds to the wheel the files outside the package: the configuration, the overrides for the installation, and the built
guest.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

GUEST = "rlgpt/sandbox/guest.wasm"
SOURCES = "rlgpt/sandbox/guest"
STAMPS = "rlgpt/sandbox/stamps.py"


class SharedFiles(BuildHookInterface):
    """SharedFiles adds the configuration and the built guest to a wheel. An editable install reads these files from the
    checkout.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        checkout = root.parent
        outside = root if (root / "conf").is_dir() else checkout
        guest = root / GUEST
        fault = _fault(root)
        if fault:
            raise FileNotFoundError(
                f"{guest} {fault}: the sandbox's guest is built before the wheel. "
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


def _fault(root: Path) -> str | None:
    """A description in words of what is wrong with the built guest (the WebAssembly program) below ``root``; None if
    nothing is wrong.
    """
    if not (root / GUEST).is_file():
        return "is missing"
    # By its path: the package itself needs more than a build has.
    stamps = runpy.run_path(str(root / STAMPS))
    if stamps["stamp"](root / GUEST).get("sources") != stamps["sources_hash"](root / SOURCES):
        return "was built from other sources"
    return None
