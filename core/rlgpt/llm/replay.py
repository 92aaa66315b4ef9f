"""Replays a recording in place of a language model. A replay needs no API key and no network."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from rlgpt.domain import Plain, part_prefix
from rlgpt.errors import TranscriptEnded, TranscriptError
from rlgpt.llm.base import LLM, Reply, Request, RequestKey
from rlgpt.llm.transcript import Entry, Transcript, describe


class Replay(LLM):
    """A language model that replays recordings. A request gets the recorded reply with the same
    :class:`~rlgpt.llm.base.RequestKey`.

    If the figures in the prompt differ from the recorded figures, the reply has a ``note`` that names the differences.
    The fingerprint of the prompt must be the recorded one, because the reply is no answer to another prompt.

    :param paths: the paths of the recordings, each for a different task.
    :ivar supports_vision: whether a recorded request had images. In this case, the run renders images too, because the
        prompts must be equal.
    :raises TranscriptError: a recording cannot be read, or two recordings belong to the same task.
    """

    def __init__(self, paths: Path | Sequence[Path]) -> None:
        self.paths: dict[str, Path] = {}
        self._entries: dict[RequestKey, Entry] = {}
        for path in [paths] if isinstance(paths, Path) else paths:
            transcript = Transcript.read(path)
            task = transcript.header.task
            if task in self.paths:
                raise TranscriptError(f"{self.paths[task]} and {path} both record task {task!r}: choose one.")
            self.paths[task] = path
            self._entries |= {e.key: e for e in transcript.entries}
        self.supports_vision = any(e.images for e in self._entries.values())

    def complete(self, request: Request) -> Reply:
        """Return the recorded reply to ``request``.

        :raises TranscriptError: the recording belongs to another task, or was made with another prompt.
        :raises TranscriptEnded: the recording contains no reply to this request.
        """
        key = request.key
        path = self._path(key.task)
        if path is None:
            held = ", ".join(f"{p} (of {t})" for t, p in self.paths.items()) or "none"
            raise TranscriptError(
                f"no recording of task {key.task!r} is given; given: {held}. Choose a recording of this task with "
                "llm.transcript=PATH, or make one with llm=record llm.model=MODEL."
            )
        entry = self._entries.get(key)
        if entry is None:
            raise TranscriptEnded(
                f"{path} contains no reply to {describe(key)}: the recorded run ended earlier or went differently. "
                "To continue, resume the run with llm.model=MODEL."
            )
        if entry.fingerprint != request.fingerprint:
            raise TranscriptError(
                f"the prompt or the plugin's stub changed since {path} was recorded: the fingerprint of "
                f"{describe(key)} was {entry.fingerprint[:12]} and is now {request.fingerprint[:12]}. "
                "Record again with llm=record."
            )
        return entry.reply.model_copy(update={"note": drift(entry.measured, request.measured)})

    def _path(self, task: str) -> Path | None:
        """The path of the recording for a task. If the task is a sub-goal, the path is that of the recording for the
        whole task.
        """
        whole = (path for name, path in self.paths.items() if task.startswith(part_prefix(name)))
        return self.paths.get(task) or next(whole, None)


def drift(then: Mapping[str, Plain], now: Mapping[str, Plain]) -> str:
    """A note on figures that differ from the recorded run, such as ``written about success 0.35; this run measured
    0.80``. Empty if all figures agree.
    """
    names = [n for n in now if n in then and not _same(then[n], now[n])]
    if not names:
        return ""
    old = ", ".join(f"{n} {_figure(then[n])}" for n in names)
    new = ", ".join(_figure(now[n]) if len(names) == 1 else f"{n} {_figure(now[n])}" for n in names)
    return f"written about {old}; this run measured {new}"


def _same(a: Plain, b: Plain) -> bool:
    if isinstance(a, float | int) and isinstance(b, float | int):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
    return a == b


def _figure(value: Plain) -> str:
    if isinstance(value, float):
        return f"{value:.2f}" if abs(value) < 1000 else f"{value:.0f}"
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."
