"""Files in a plugin's package: pages of knowledge, recorded transcripts."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from rlgpt.domain import Task


def page(package: str, name: str) -> str:
    """The text of ``knowledge/NAME.md``, stripped.

    :param package: the import name of the plugin's package.
    """
    return (resources.files(package) / "knowledge" / f"{name}.md").read_text(encoding="utf-8").strip()


def recordings(package: str, task: Task) -> tuple[Path, ...]:
    """The files ``transcripts/TASK/*.jsonl`` in order; TASK is the task's id without the plugin. May be empty.

    Recordings with other settings of the task are in a folder ``TASK,NAME=VALUE,...``, whose values are the settings as
    text. Of the folders whose settings are those of ``task``, the one that names most of them counts.
    """
    name = task.id.partition("/")[2]
    shipped = Path(str(resources.files(package) / "transcripts"))
    folders = [folder for folder in sorted(shipped.glob(f"{name},*")) if _has_settings(task, folder.name)]
    folder = max(folders, key=lambda folder: folder.name.count(","), default=shipped / name)
    return tuple(sorted(folder.glob("*.jsonl")))


def _has_settings(task: Task, folder: str) -> bool:
    """Whether the settings in a folder's name are those of ``task``."""
    pairs = (setting.partition("=") for setting in folder.split(",")[1:])
    return all(str(task.settings.get(name)) == value for name, _, value in pairs)
