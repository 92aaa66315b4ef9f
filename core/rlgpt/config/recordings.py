"""Finds the recordings that a run can replay. A run can replay the recordings of its plugin that have replies to the
same kind of agents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rlgpt.agents.build import TEAMS, WITHOUT_LLM
from rlgpt.config.run_config import RunConfig
from rlgpt.config.settings import task_of
from rlgpt.errors import TranscriptError
from rlgpt.llm.base import Role
from rlgpt.llm.transcript import Transcript
from rlgpt.plugin import PluginManager


class Need(NamedTuple):
    """The kind of recordings that a run can replay.

    :ivar role: the role of the first request. A recording without requests of this role belongs to another team of
        agents.
    :ivar images: whether a language model gets images.
    """

    role: Role
    images: bool

    def __str__(self) -> str:
        seeing = " that sees images" if self.images else ""
        return {"solo": "one agent", "planner": "a planner"}.get(self.role, "slow and fast agent") + seeing


def need_of(config: RunConfig) -> Need | None:
    """The kind of recordings that the run needs for a replay; None if the run needs no language model or asks a model,
    or if the user has named a recording.
    """
    llm = config.llm
    if llm.kind in ("record", "live") or any(given is not None for given in (llm.model, llm.target, llm.transcript)):
        return None
    images = config.evidence != "text"
    if config.planner.name != "none" and config.planner.file is None:
        return Need("planner", images)
    if config.agents.name in WITHOUT_LLM:
        return None
    return Need("solo" if config.agents.name == "one_agent" else "slow", images)


def recordings_for(config: RunConfig, manager: PluginManager, need: Need) -> list[Path]:
    """The recordings of the kind ``need`` for the run's task with its settings.

    :raises RlgptError: the task does not exist, or a recording cannot be read.
    """
    plugin, task = task_of(config, manager)
    return [path for path in plugin.transcripts(task) if fits(path, need)]


def choosable(config: RunConfig, transcripts: Sequence[Path]) -> tuple[Path, ...]:
    """The recordings among ``transcripts`` from which the run chooses one recording. The function returns all
    recordings if the user names a recording, or has another team of agents than rlgpt's.

    :raises TranscriptError: no recording fits, because all recordings belong to other agents, or because none has the
        images that ``config.evidence`` needs.
    """
    need = need_of(config)
    if need is None or not transcripts or config.agents.name not in TEAMS or config.agents.target is not None:
        return tuple(transcripts)
    found = tuple(path for path in transcripts if fits(path, need))
    if not found:
        raise TranscriptError(
            f"none of the {len(transcripts)} recordings of {config.task} is of {need}. Make one with llm=record "
            "llm.model=PROVIDER/MODEL, give a file with llm.transcript=PATH, or choose other agents=, planner= or "
            "evidence=."
        )
    return found


def fits(path: Path, need: Need) -> bool:
    """Whether a recording begins with a request of the role in ``need``, and has requests with images exactly if
    ``need.images``. The recording of a planner also has requests of the slow agent, but only about sub-goals.
    """
    entries = Transcript.read(path).entries
    first = entries[0].key.role if entries else None
    return first == need.role and any(e.images for e in entries) == need.images
