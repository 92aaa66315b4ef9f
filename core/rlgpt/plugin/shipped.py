"""Finds and reads the pages of expert knowledge and the recordings in a plugin's package."""

from __future__ import annotations

import sys
from importlib import resources
from pathlib import Path
from typing import Any

from rlgpt.domain import Task


def page(package: str, name: str) -> str:
    """The text of the file ``knowledge/NAME.md`` in a plugin's package, without white space at both ends.

    :param package: the import name of the plugin's package.
    """
    return (resources.files(package) / "knowledge" / f"{name}.md").read_text(encoding="utf-8").strip()


def recordings(package: str, task: Task) -> tuple[Path, ...]:
    """The recordings for the task ``task`` in a plugin's package, which are the files ``transcripts/TASK/*.jsonl``,
    sorted by name. In the path of a recording, TASK is the task's id without the plugin's name. The result may be
    empty.

    Recordings for settings that differ from the plugin's defaults are in a folder ``TASK,NAME=VALUE,...``. If several
    folders of recordings match the settings of ``task``, the folder with the most settings is used.
    """
    name = task.id.partition("/")[2]
    shipped = Path(str(resources.files(package) / "transcripts"))
    folders = [folder for folder in sorted(shipped.glob(f"{name},*")) if _has_settings(task, folder.name)]
    folder = max(folders, key=lambda folder: folder.name.count(","), default=shipped / name)
    return tuple(sorted(folder.glob("*.jsonl")))


def _has_settings(task: Task, folder: str) -> bool:
    """Whether the settings in the name of a folder equal the settings of ``task``."""
    pairs = (setting.partition("=") for setting in folder.split(",")[1:])
    return all(str(task.settings.get(name)) == value for name, _, value in pairs)


def variants(package: str, task: Task) -> tuple[Task, ...]:
    """Variants of ``task``, one for each folder of recordings whose settings differ from the plugin's defaults. The
    list of variants is empty if ``package`` is not a package or is not imported.
    """
    if not hasattr(sys.modules.get(package), "__path__"):
        return ()
    name, found = task.id.partition("/")[2], []
    for folder in sorted(Path(str(resources.files(package) / "transcripts")).glob(f"{name},*")):
        pairs = (setting.partition("=") for setting in folder.name.split(",")[1:])
        settings = {key: _read(text, task.settings[key]) for key, _, text in pairs}
        found.append(task.model_copy(update={"settings": {**task.settings, **settings}}))
    return tuple(found)


def _read(text: str, like: Any) -> Any:
    """Convert the text of a task setting to the type of the value ``like``."""
    return text == "True" if isinstance(like, bool) else type(like)(text)
