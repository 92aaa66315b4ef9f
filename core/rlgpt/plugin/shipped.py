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
    """The files ``transcripts/TASK/*.jsonl`` in order; TASK is the task's id without the plugin. May be empty."""
    folder = resources.files(package) / "transcripts" / task.id.partition("/")[2]
    return tuple(sorted(Path(str(folder)).glob("*.jsonl")))
