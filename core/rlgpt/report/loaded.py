"""Loads the files of a run for a report. Each file is read once."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlgpt.domain import Evaluation, Iteration, SubGoal, best_of
from rlgpt.errors import RunError
from rlgpt.llm.exchange import Exchange, read_exchanges
from rlgpt.planner.records import KeptGraph, Playing
from rlgpt.planner.stored import graph_curve, kept_of, part_id, part_run, playings_of
from rlgpt.report import curves
from rlgpt.report.values import Clip
from rlgpt.runs import RECORD, Report, Run

_CLIP_BYTES = 8 << 20
_CLIPS = 8
_DEPTH = 8
"""Maximal depth of subfolders in which runs are searched."""


@dataclass(frozen=True)
class LoadedRun:
    """A run and the content of its folder."""

    run: Run
    iterations: tuple[Iteration, ...]
    report: Report | None
    exchanges: tuple[Exchange, ...]
    graph: KeptGraph | None = None
    playings: tuple[Playing, ...] = ()

    @classmethod
    def of(cls, run: Run) -> LoadedRun:
        """:raises RunError: a file of the run is damaged."""
        exchanges = tuple(read_exchanges(run.folder / "llm.jsonl"))
        return cls(run, run.iterations(), run.report(), exchanges, kept_of(run), tuple(playings_of(run)))

    @property
    def began(self) -> bool:
        """Whether the run has a finished iteration, or a graph of sub-goals that was played."""
        return bool(self.iterations) or self.graph is not None

    @property
    def curve(self) -> list[tuple[float, float]]:
        """The learning curve of the run. For a run with a graph of sub-goals, a point of the curve is the success of
        the whole graph on the selection seeds.
        """
        if self.graph is None:
            return curves.curve(self.iterations)
        return graph_curve(self.run)

    def parts(self) -> Iterator[tuple[SubGoal, tuple[Iteration, ...], int]]:
        """A tuple for each sub-goal of the graph, with the sub-goal, its finished iterations, and the number of its
        tokens.
        """
        if self.graph is None:
            return
        for node in self.graph.graph.in_order:
            part = part_run(self.run, node)
            iterations = () if part is None else part.iterations()
            named = part_id(self.run.record.task, node)
            yield node, iterations, bill([e for e in self.exchanges if e.request.key.task == named])[0]

    @property
    def outcome(self) -> Evaluation:
        """The evaluation in the run's report. If the run has no report, the result is the newest evaluation of its
        graph of sub-goals, or else the evaluation of its best iteration on the selection seeds.
        """
        if self.report is not None:
            return self.report.evaluation
        return self.playings[-1].played.evaluation if self.playings else best_of(self.iterations).kept

    @property
    def bill(self) -> tuple[int, float | None]:
        """Tokens and dollars of all replies in the run, as the function :func:`bill` computes them."""
        return bill(self.exchanges)

    def clips(self) -> Iterator[Clip]:
        """Up to eight videos in the run's folder. A file whose name ends in ``.mp4`` but which is no video is left
        out. A video that is too large to embed has only a caption, which names it.
        """
        names = [name for name in self.run.files.names("videos") if name.endswith(".mp4") and name[0] != "."]
        for name in names[:_CLIPS]:
            with self.run.files.open(f"videos/{name}", limit=sys.maxsize) as file:
                content = file.read(_CLIP_BYTES + 1)
            if content[4:8] != b"ftyp":
                continue
            if len(content) > _CLIP_BYTES:
                yield Clip(caption=f"videos/{name} is larger than {_CLIP_BYTES >> 20} MiB, too large to embed.")
            else:
                caption = "A fresh episode of the best iteration; the active action is shown at the upper edge."
                yield Clip(caption=caption, mp4=content)


def described(config: Mapping[str, Any]) -> dict[str, str]:
    """The goal, the rule of success and the result of the trial, for a run on an environment without a plugin. A value
    that the run's configuration lacks is missing in the result. The configuration of the run may be from another
    version of rlgpt, or hostile.
    """
    environment = _mapping(config.get("environment"))
    prepared = _mapping(environment.get("prepared"))
    episodes = _mapping(prepared.get("trial")).get("episodes")
    wins: dict[str, list[bool]] = {}
    for episode in map(_mapping, episodes if isinstance(episodes, list) else ()):
        wins.setdefault(str(episode.get("acting")), []).append(episode.get("success") is True)
    tried = ", ".join(
        f"{sum(won)} of {len(won)} episodes of {acting} actions succeeded" for acting, won in wins.items()
    )
    found = {"goal": environment.get("goal"), "rule": _mapping(prepared.get("task")).get("success"), "tried": tried}
    return {name: text for name, text in found.items() if isinstance(text, str)}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def bill(exchanges: Sequence[Exchange]) -> tuple[int, float | None]:
    """Tokens and dollars of exchanges (requests with their replies). A replayed exchange is counted with the cost of
    the original exchange. The result has None instead of dollars if the price of any exchange is unknown.
    """
    usages = [e.reply.usage for e in exchanges]
    dollars = [u.dollars for u in usages]
    return sum(u.tokens for u in usages), None if None in dollars else sum(d for d in dollars if d is not None)


def find(folders: Sequence[Path]) -> list[Path]:
    """Find the runs in ``folders``. Each of the folders is the folder of a run, or contains folders of runs (like the
    folder of a sweep). Links are not followed.

    :raises RunError: a folder contains no run.
    """
    runs: dict[Path, None] = {}
    for folder in folders:
        here = [folder] if Run.exists(folder) else sorted(_below(folder))
        if not here:
            raise RunError(f"there is no run at {folder}: give a folder that contains run.json, or a sweep's folder.")
        runs.update(dict.fromkeys(here))
    return list(runs)


def _below(folder: Path) -> Iterator[Path]:
    level = [folder]
    for _ in range(_DEPTH):
        subfolders = [sub for above in level for sub in _subfolders(above)]
        runs = {sub for sub in subfolders if os.path.lexists(os.path.join(sub, RECORD))}
        yield from runs
        level = [sub for sub in subfolders if sub not in runs]


def _subfolders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
