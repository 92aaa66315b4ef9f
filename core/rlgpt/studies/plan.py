"""Finds out which runs of a study are finished, which runs are still to be done, and which runs lack a recording."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlgpt.config.recordings import Need, need_of, recordings_for
from rlgpt.config.run_config import RunConfig
from rlgpt.config.runs import config_of
from rlgpt.config.settings import complete, task_of
from rlgpt.domain.validated import validated
from rlgpt.errors import ConfigError, PluginError, UnknownNameError
from rlgpt.plugin import PluginManager
from rlgpt.runs import Run
from rlgpt.studies.study import Cell, Study, merged

FREE = ("llm", "folder", "video", "observers", "executor", "fixed_hyperparameters")
"""Settings in which an existing run may differ from the configuration of its study."""


@dataclass(frozen=True)
class Planned:
    """One planned run of a study.

    :ivar config: the configuration of the run, which contains the run's folder.
    :ivar lacks: the recordings that the run needs and that are missing; None if no recording is missing.
    :ivar uninstalled: the reason why the task of the run is not available, such as a plugin that is not installed;
        empty if the task is available.
    """

    cell: Cell
    config: RunConfig
    lacks: Need | None = None
    uninstalled: str = ""

    @property
    def folder(self) -> Path:
        return Path(str(self.config.folder))

    @property
    def runnable(self) -> bool:
        return self.lacks is None and not self.uninstalled


@dataclass(frozen=True)
class Recorded:
    """The recordings of one task for one kind of agents.

    :ivar method: the label, in the study, of a method whose runs need the recordings in ``paths``.
    :ivar paths: the paths of the recordings.
    """

    task: str
    method: str
    need: Need
    paths: tuple[Path, ...]


def planned(study: Study, values: Mapping[str, Any], folder: Path, manager: PluginManager) -> Iterator[Planned]:
    """The runs of the study.

    :param values: the configuration that all runs of the study share, as JSON-like values.
    :param folder: the folder of the study.
    :raises RlgptError: a setting of the study is not valid, or a recording cannot be read.
    """
    known: dict[tuple[str, str], Recorded | str | None] = {}
    for cell in study.cells():
        config = validated(RunConfig, merged(values, study.settings(cell)))
        config = config.model_copy(update={"folder": str(folder.resolve() / cell.folder)})
        pair = (cell.task, cell.method)
        if pair not in known:
            known[pair] = _recorded(cell, config, manager)
        found = known[pair]
        if isinstance(found, str):
            yield Planned(cell, config, uninstalled=found)
        elif found is None:
            yield Planned(cell, config)
        elif not found.paths:
            yield Planned(cell, config, lacks=found.need)
        else:
            chosen = str(found.paths[cell.seed % len(found.paths)])
            llm = config.llm.model_copy(update={"transcript": chosen})
            yield Planned(cell, config.model_copy(update={"llm": llm}))


def recorded(study: Study, values: Mapping[str, Any], manager: PluginManager) -> Iterator[Recorded | str]:
    """The recordings of each task of the study, for each kind of agents. For a task that is not available, the result
    has the reason as text.
    """
    seen = set()
    for cell in study.cells():
        if cell.seed:
            break
        found = _recorded(cell, validated(RunConfig, merged(values, study.settings(cell))), manager)
        key = found if isinstance(found, str) else found and (found.task, found.need, found.paths)
        if found is not None and key not in seen:
            seen.add(key)
            yield found


def check_existing(runs: Iterable[Planned], manager: PluginManager) -> None:
    """Check that the study's existing runs have the settings of the study.

    :raises ConfigError: a run was made with other settings.
    """
    for run in runs:
        if run.uninstalled or not Run.exists(run.folder):
            continue
        now = complete(run.config, *task_of(run.config, manager), manager).plain()
        differ = changes(Run.open(run.folder), now)
        if differ:
            raise ConfigError(
                f"the run in {run.folder} was made with {', '.join(differ[:5])}. Use its settings, give another "
                "study.folder=..., or delete the folder."
            )


def changes(run: Run, now: Mapping[str, Any]) -> list[str]:
    """The settings of the run that differ from the settings in ``now``, without those in :data:`FREE`. Each is a text
    ``KEY=OLD (now NEW)``, with None for a setting that is not given.

    :param now: a configuration as JSON-like values.
    """
    before, wanted = _leaves(config_of(run).plain()), _leaves(now)
    return [
        f"{key}={before.get(key)} (now {wanted.get(key)})"
        for key in {**before, **wanted}
        if before.get(key) != wanted.get(key)
    ]


def is_done(run: Planned) -> bool:
    """Whether the run needs no more work: it has a report, and is finished, or has stopped and no language model is
    given that could continue it.
    """
    if not Run.exists(run.folder):
        return False
    record = Run.open(run.folder)
    if record.report() is None:
        return False
    return record.record.status == "finished" or (record.record.status == "stopped" and run.config.llm.model is None)


def _recorded(cell: Cell, config: RunConfig, manager: PluginManager) -> Recorded | str | None:
    try:
        task_of(config, manager)
    except (PluginError, UnknownNameError) as error:
        plugin = str(config.task).partition("/")[0]
        if plugin in manager.plugins:
            raise
        return (
            f"{cell.task}: the plugin {plugin!r} is not installed"
            if isinstance(error, UnknownNameError)
            else str(error)
        )
    need = need_of(config)
    return need and Recorded(cell.task, cell.method, need, tuple(recordings_for(config, manager, need)))


def _leaves(node: Any, prefix: str = "") -> dict[str, Any]:
    """The settings by dotted key, without those in :data:`FREE`. An empty mapping gives no setting."""
    found: dict[str, Any] = {}
    for key, value in node.items():
        name = f"{prefix}{key}"
        if name in FREE:
            continue
        found |= _leaves(value, f"{name}.") if isinstance(value, Mapping) else {name: value}
    return found
