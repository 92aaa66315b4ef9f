"""Files that a plugin's package ships beside its code: pages of knowledge, recorded transcripts."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from rlgpt.domain import Task


def page(package: str, name: str) -> str:
    """The text of ``knowledge/NAME.md``, without blank ends.

    :param package: the plugin's package, as it is imported.
    """
    return (resources.files(package) / "knowledge" / f"{name}.md").read_text(encoding="utf-8").strip()


def recordings(package: str, task: Task) -> tuple[Path, ...]:
    """``transcripts/TASK/*.jsonl`` in order, TASK being the task's id without the plugin's name; empty without any."""
    folder = resources.files(package) / "transcripts" / task.id.partition("/")[2]
    return tuple(sorted(Path(str(folder)).glob("*.jsonl")))
