"""The types of the configuration's keys, so that a text where a number belongs is refused before anything runs."""

from __future__ import annotations

import types
from dataclasses import dataclass, field, make_dataclass
from typing import Any, Literal, Union, get_args, get_origin

from rlgpt.rl.base import Hyperparameters

NAME = "schema"


def _optional(annotation: Any) -> Any:
    """The type as OmegaConf knows it (a list for a tuple, a text for a choice), or None: the task's default."""
    if get_origin(annotation) is Literal:
        annotation = type(get_args(annotation)[0])  # which texts, the hyperparameters themselves say
    if get_origin(annotation) is tuple:
        annotation = list[get_args(annotation)[0]]  # type: ignore[misc]
    if isinstance(annotation, types.UnionType):
        return annotation
    return Union[annotation, None]  # noqa: UP007


HyperparameterChoices = make_dataclass(
    "HyperparameterChoices",
    [(name, _optional(f.annotation), field(default=None)) for name, f in Hyperparameters.model_fields.items()],
)
"""Every hyperparameter by its name; what is left None is the task's default, or that of ``Hyperparameters``."""


@dataclass
class Config:
    """The keys of ``conf/config.yaml``; their meaning stands there.

    ``llm``, ``agents``, ``trainer`` and ``sandbox`` are groups: what they hold is up to the class they name.
    """

    task: str | None = None
    task_settings: Any = field(default_factory=dict)
    seed: int = 0
    folder: str = ""
    budget: int = 60_000
    iterations: int = 2
    repairs: int = 2
    target_success: float = 0.95
    selection_episodes: int = 10
    report_episodes: int = 50
    traces: int = 2
    video: bool = True
    hyperparameters: Any = field(default_factory=HyperparameterChoices)
    llm: Any = None
    agents: Any = None
    trainer: Any = None
    sandbox: Any = None


def register() -> None:
    """Make the schema known to Hydra, under the name that ``conf/config.yaml`` asks for first."""
    from hydra.core.config_store import ConfigStore

    ConfigStore.instance().store(name=NAME, node=Config)
