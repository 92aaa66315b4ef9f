"""The command ``rlgpt view`` serves the live page about runs on this machine."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path

from rlgpt.errors import ConfigError


def main(arguments: argparse.Namespace) -> int:
    """Print the live page's address, and serve the page until the user interrupts the command."""
    try:
        from rlgpt.view.server import Site
    except ModuleNotFoundError as missing:
        raise ConfigError(
            f"rlgpt view needs an extra that is not installed ({missing.name}): pip install 'rlgpt[view]'."
        ) from missing
    site = Site([Path(folder) for folder in arguments.folders or ["runs"]], arguments.port)
    # say() would remove the token from the link, so print() is used.
    warning = "The link contains a token. Everybody who has the link can stop and resume runs."
    print(f"rlgpt view: {site.link}\n{warning}", flush=True)
    if arguments.open:
        webbrowser.open(site.link)
    try:
        site.serve()
    except KeyboardInterrupt:  # This is how people end it.
        print()
    return 0
