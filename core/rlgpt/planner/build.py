"""The built-in planners (``planner=NAME``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rlgpt.agents.build import Models
from rlgpt.agents.planner import FixedPlanner, LLMPlanner, Planner
from rlgpt.domain import GoalGraph
from rlgpt.errors import ConfigError
from rlgpt.files import Folder, read_json
from rlgpt.llm.base import LLM
from rlgpt.planner.context import PlannerSettings
from rlgpt.sandbox import Library, SandboxLimits

_FILE_LIMIT = 1 << 20


@dataclass(frozen=True)
class PlannerContext:
    """The objects from which a planner is built.

    :ivar connect: returns the language models, and raises ConfigError or TranscriptError if there is none.
    :ivar library: the view that predicates may read.
    :ivar prompts: a folder whose files replace prompts of the same names.
    :ivar file: a JSON file with the graph.
    """

    library: Library
    limits: SandboxLimits
    settings: PlannerSettings
    connect: Callable[[], Models]
    prompts: Path | None = None
    file: Path | None = None


def graph(context: PlannerContext) -> Planner:
    """A graph of sub-goals: from the file of the configuration, else from the language model.

    :raises ConfigError: the file contains no valid graph.
    """
    if context.file is not None:
        return FixedPlanner(read_graph(context.file))
    models, settings = context.connect(), context.settings
    return LLMPlanner(
        models if isinstance(models, LLM) else models["planner"],
        context.library,
        context.limits,
        most=settings.sub_goals,
        repairs=settings.repairs,
        prompts=context.prompts,
    )


def none(context: PlannerContext) -> Planner:
    """No planner: the task is not divided. A run does not call this function."""
    raise ConfigError("planner=none has no planner.")


def read_graph(path: Path) -> GoalGraph:
    """The graph in a JSON file.

    :raises ConfigError: the file is missing, too large, or contains no valid graph; the message names the fault.
    """
    text = Folder(path.absolute().parent, ConfigError).read_text(path.name, limit=_FILE_LIMIT)
    return read_json(text, GoalGraph, path, ConfigError, "It has the form of plan/0.json in the folder of a run.")
