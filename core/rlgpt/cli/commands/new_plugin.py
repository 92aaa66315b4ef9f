"""The command ``rlgpt new-plugin`` writes the folder of a new distribution with a working plugin. The user then changes
this plugin.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rlgpt.plugin.scaffold import create


def main(arguments: argparse.Namespace) -> int:
    folder = create(arguments.name, Path(arguments.folder))
    print(f"{folder} contains a working plugin. Next:\n\n  cd {folder}\n  pip install -e '.[test]'\n  pytest")
    print(
        f"\nThen write your environment into rlgpt_{arguments.name}/plugin.py, as the tutorial 'Your own plugin' in "
        "rlgpt's documentation shows."
    )
    return 0
