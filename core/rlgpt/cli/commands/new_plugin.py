"""``rlgpt new-plugin``: the folder of a new distribution, which works as it is and is then changed."""

from __future__ import annotations

import argparse
import re
import shutil
import string
import tempfile
from pathlib import Path

from rlgpt.errors import ConfigError

TEMPLATE = Path(__file__).resolve().parents[1] / "template"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


def main(arguments: argparse.Namespace) -> int:
    folder = create(arguments.name, Path(arguments.folder))
    print(f"{folder} is a plugin that works as it is. Next:\n\n  cd {folder}\n  pip install -e .\n  pytest tests")
    print(f"\nThen put your environment into rlgpt_{arguments.name}/plugin.py.")
    return 0


def create(name: str, parent: Path) -> Path:
    """Write ``parent/rlgpt-NAME``, whole or not at all.

    :raises ConfigError: the name cannot be used, or the folder is there already.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{name!r} cannot name a plugin: use 1 to 40 of a-z, 0-9 and underscore, a letter first.")
    dashed = name.replace("_", "-")
    folder = parent / f"rlgpt-{dashed}"
    if folder.exists():
        raise ConfigError(f"{folder} is there already: choose another name or another --folder.")
    parent.mkdir(parents=True, exist_ok=True)
    words = {"name": name, "dashed": dashed, "camel": "".join(part.title() for part in name.split("_"))}
    with tempfile.TemporaryDirectory(dir=parent) as scratch:
        draft = Path(scratch) / folder.name
        for source in sorted(p for p in TEMPLATE.rglob("*.txt")):
            place = source.relative_to(TEMPLATE).with_suffix("")
            parts = [f"rlgpt_{name}" if part == "package" else part for part in place.parts]
            target = draft.joinpath(*parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(string.Template(source.read_text()).substitute(words))
        shutil.move(draft, folder)
    return folder
