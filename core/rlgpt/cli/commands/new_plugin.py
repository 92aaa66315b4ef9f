"""``rlgpt new-plugin``: the folder of a new distribution, a working plugin to change."""

from __future__ import annotations

import argparse
from pathlib import Path

from rlgpt.plugin.scaffold import create


def main(arguments: argparse.Namespace) -> int:
    folder = create(arguments.name, Path(arguments.folder))
    print(f"{folder} is a plugin that works as it is. Next:\n\n  cd {folder}\n  pip install -e . pytest\n  pytest")
    print(f"\nThen put your environment into rlgpt_{arguments.name}/plugin.py; CONTRIBUTING.md goes through it.")
    return 0
