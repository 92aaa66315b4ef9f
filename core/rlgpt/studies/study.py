"""Defines a study by its tasks, methods and seeds, and by the paper's figures that are shown beside the results."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator

from rlgpt.domain import Plain, Value
from rlgpt.errors import ConfigError, UnknownNameError

Settings = Mapping[str, Plain]
"""Settings of a run, nested as in the configuration: ``{"agents": {"name": "rl_only"}}``."""

MODEL = "{model}"
"""The text in ``each_model`` that is replaced by the name of a language model."""

_LABEL = re.compile(r"[A-Za-z0-9][\w .+-]{0,59}")

Table = Literal["success", "iterations", "models", "sub_goals"]


@dataclass(frozen=True)
class Cell:
    """One run of a study, given by the label of its task, the label of its method, and its seed."""

    task: str
    method: str
    seed: int

    @property
    def label(self) -> str:
        return f"{self.task}/{self.method}"

    @property
    def folder(self) -> Path:
        """The folder of the run within the folder of the study."""
        return Path(_file_name(self.task), _file_name(self.method), str(self.seed))


class Study(Value):
    """The section ``study`` in the file of an experiment. A study runs each task with each method and each seed.

    :ivar title: the part of the paper that the study repeats, such as the name of a table.
    :ivar about: what the study compares, in one or two sentences.
    :ivar tasks: a dict from the label of a task to the settings of its runs.
    :ivar methods: a dict from the label of a method to the settings of its runs. The settings of a method have priority
        over the settings of a task.
    :ivar models: names of language models, each of which is a further method.
    :ivar each_model: the settings of the methods that are made from language models. In these settings, ``{model}``
        stands for the name of the language model. None if the study does not compare language models.
    :ivar seeds: number of seeds. The first seed is 0.
    :ivar only: patterns of ``TASK/METHOD``, such as ``stick/*``, which select the runs of the study; without patterns,
        all runs are selected.
    :ivar folder: the folder of all runs. With ``folder=None``, the folder is ``runs/NAME``, where NAME is the name of
        the experiment.
    :ivar tables: the names of the tables that the study prints.
    :ivar paper: for the label of a task, a dict from a column of the table to the paper's figure for this task.
    :ivar source: a sentence about the paper's figures, which is printed below the tables.
    :ivar cost: measured times or costs of the study, with the conditions of the measurement; empty if nothing was
        measured.
    """

    title: str
    about: str
    tasks: Mapping[str, Settings] = Field(min_length=1)
    methods: Mapping[str, Settings] = Field(default_factory=dict)
    models: tuple[str, ...] = ()
    each_model: Settings | None = None
    seeds: int = Field(default=5, ge=1, le=100)
    only: tuple[str, ...] = ()
    folder: str | None = None
    tables: tuple[Table, ...] = ("success",)
    paper: Mapping[str, Mapping[str, float | str]] = Field(default_factory=dict)
    source: str = ""
    cost: str = ""

    @field_validator("only", "models", mode="before")
    @classmethod
    def _several(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @field_validator("tasks", "methods")
    @classmethod
    def _labelled(cls, value: Mapping[str, Settings]) -> Mapping[str, Settings]:
        """Check the labels. A label must not contain a comma or a quote, because these characters have a special
        meaning in ``study.only``.
        """
        wrong = [label for label in value if not _LABEL.fullmatch(label)]
        if wrong:
            raise ValueError(f"a label is 1 to 60 letters, digits, spaces, dots, plus, minus or underscores: {wrong}")
        return value

    @property
    def all_methods(self) -> dict[str, Settings]:
        """A dict from the label of a method to its settings, including the methods that are made from language models.

        :raises ConfigError: language models are given to a study that does not compare language models, or the study
            has no method.
        """
        if self.models and self.each_model is None:
            raise ConfigError("study.models: this experiment does not compare models. Set llm.model=PROVIDER/MODEL.")
        made = {name: _with_model(self.each_model, name) for name in self.models}
        methods = {**self.methods, **made}
        if not methods:
            raise ConfigError("this experiment compares models, and none is given: set study.models=[PROVIDER/MODEL].")
        return methods

    def cells(self) -> list[Cell]:
        """The runs that ``only`` selects. The runs of the first seed come before the runs of the second seed, and so
        on.

        :raises UnknownNameError: a pattern matches no run.
        """
        labels = [Cell(task, method, 0).label for task in self.tasks for method in self.all_methods]
        for pattern in self.only:
            if not fnmatch.filter(labels, pattern):
                raise UnknownNameError("pattern of study.only", pattern, labels, "A pattern is TASK/METHOD.")
        return [cell for cell in self._all() if not self.only or any(_matches(cell, p) for p in self.only)]

    def settings(self, cell: Cell) -> dict[str, Any]:
        """The settings of the run ``cell`` that differ from the configuration that all runs share."""
        return merged(merged(self.tasks[cell.task], self.all_methods[cell.method]), {"seed": cell.seed})

    def sets(self) -> set[str]:
        """The keys of the configuration that tasks, methods and seeds of the study set. Dots join the parts of a
        key.
        """
        return {"seed", *(k for s in (*self.tasks.values(), *self.all_methods.values()) for k in _keys(s))}

    def _all(self) -> Iterator[Cell]:
        methods = self.all_methods
        for seed in range(self.seeds):
            yield from (Cell(task, method, seed) for task in self.tasks for method in methods)


def merged(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of ``values`` with ``changes``. Mappings are merged, and other values are replaced."""
    both = {k: merged(values[k], v) for k, v in changes.items() if _is_map(v) and _is_map(values.get(k))}
    return {**values, **changes, **both}


def _is_map(value: Any) -> bool:
    return isinstance(value, Mapping)


def _matches(cell: Cell, pattern: str) -> bool:
    return fnmatch.fnmatchcase(cell.label, pattern)


def _with_model(node: Any, name: str) -> Any:
    if isinstance(node, Mapping):
        return {key: _with_model(value, name) for key, value in node.items()}
    return node.replace(MODEL, name) if isinstance(node, str) else node


def _keys(node: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in node.items():
        yield from _keys(value, f"{prefix}{key}.") if isinstance(value, Mapping) and value else (f"{prefix}{key}",)


def _file_name(label: str) -> str:
    return re.sub(r"[^\w.=-]+", "_", label).strip("_.") or "_"
