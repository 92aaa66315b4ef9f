"""The command ``rlgpt new-plugin`` writes a working plugin distribution, which a user then adapts to an environment."""

from __future__ import annotations

import re
import shutil
import tempfile
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template

from rlgpt.errors import ConfigError

_SUFFIX = ".tmpl"


def create(name: str, folder: Path) -> Path:
    """Write a plugin distribution into the folder ``rlgpt-NAME`` within ``folder``, completely or not at all. The
    function returns the path of the new distribution's folder.

    :param name: the name of the plugin, which is the prefix of its task ids. A name has at most 40 characters: a
        lower-case letter, followed by lower-case letters, digits and underscores, but no underscore at the end.
    :raises ConfigError: the name of the plugin is not valid, or its folder already exists.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,39}", name) or name.endswith("_"):
        raise ConfigError(
            f"{name!r} cannot name a plugin. Valid: lower case letters, digits, underscores, a letter first, at most "
            "40 characters, for example 'my_robot'."
        )
    dashed = name.replace("_", "-")
    root = folder / f"rlgpt-{dashed}"
    if root.exists():
        raise ConfigError(f"{root} already exists. Choose another name, or another folder.")
    words = {"name": name, "dashed": dashed, "title": "".join(part.capitalize() for part in name.split("_"))}
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        draft = Path(scratch) / root.name
        for parts, template in _templates(resources.files("rlgpt.plugin") / "template", ()):
            path = draft.joinpath(*(f"rlgpt_{name}" if p == "package" else p for p in parts))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(Template(template.read_text(encoding="utf-8")).substitute(words), encoding="utf-8")
        shutil.move(draft, root)
    return root


def _templates(folder: Traversable, parts: tuple[str, ...]) -> list[tuple[tuple[str, ...], Traversable]]:
    found = []
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        if entry.is_dir():
            found += _templates(entry, (*parts, entry.name))
        elif entry.name.endswith(_SUFFIX):
            found.append(((*parts, entry.name.removesuffix(_SUFFIX)), entry))
    return found
