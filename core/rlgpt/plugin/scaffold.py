"""``rlgpt new-plugin``: a plugin distribution that works, to put one's own world into."""

from __future__ import annotations

import re
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template

from rlgpt.errors import ConfigError
from rlgpt.files import write_atomic

_SUFFIX = ".tmpl"


def create(name: str, folder: Path) -> list[Path]:
    """Write the distribution ``rlgpt-NAME`` into ``folder / "rlgpt-NAME"``; the files written.

    :param name: the plugin's name, the prefix of its task ids: lower case, digits, underscores (or dashes, which become
        underscores), a letter first, at most 30 characters.
    :raises ConfigError: the name cannot be used, or the folder is there already.
    """
    plain = name.removeprefix("rlgpt-").replace("-", "_")
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,29}", plain) or plain.endswith("_"):
        raise ConfigError(
            f"{name!r} cannot name a plugin. Valid: lower case letters, digits, underscores, a letter first, at most "
            "30 characters, for example 'my_robot'."
        )
    dashed = plain.replace("_", "-")
    root = folder / f"rlgpt-{dashed}"
    if root.exists():
        raise ConfigError(f"{root} is there already. Choose another name, or another folder.")
    words = {"name": plain, "dashed": dashed, "title": "".join(part.capitalize() for part in plain.split("_"))}
    written = []
    for parts, template in _templates(resources.files("rlgpt.plugin") / "template", ()):
        path = root.joinpath(*(f"rlgpt_{plain}" if p == "package" else p for p in parts))
        write_atomic(path, Template(template.read_text(encoding="utf-8")).substitute(words))
        written.append(path)
    return written


def _templates(folder: Traversable, parts: tuple[str, ...]) -> list[tuple[tuple[str, ...], Traversable]]:
    found = []
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        if entry.is_dir():
            found += _templates(entry, (*parts, entry.name))
        elif entry.name.endswith(_SUFFIX):
            found.append(((*parts, entry.name.removesuffix(_SUFFIX)), entry))
    return found
