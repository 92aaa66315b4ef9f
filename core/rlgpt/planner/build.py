"""The built-in planners, which ``planner=NAME`` selects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rlgpt.agents.build import Models, model_for
from rlgpt.agents.planner import FixedPlanner, LLMPlanner, Planner
from rlgpt.domain import GoalGraph
from rlgpt.errors import ConfigError
from rlgpt.files import Folder, read_json
from rlgpt.planner.context import PlannerSettings
from rlgpt.sandbox import Library, SandboxLimits

_FILE_LIMIT = 1 << 20


@dataclass(frozen=True)
class PlannerContext:
    """The objects from which a planner is built.

    :ivar library: the primitives of the task, and the keys of the view that predicates read.
    :ivar connect: a function that returns the language models, or raises ConfigError or TranscriptError if no language
        model is available.
    :ivar prompts: a folder with the user's own prompts, which replace the built-in prompts with the same file names.
    :ivar file: a JSON file with the graph. If the file is None, the language model writes the graph.
    """

    library: Library
    limits: SandboxLimits
    settings: PlannerSettings
    connect: Callable[[], Models]
    prompts: Path | None = None
    file: Path | None = None


def graph(context: PlannerContext) -> Planner:
    """The planner for ``planner=graph``. The planner reads the graph from the given file; without a file, the language
    model writes the graph.

    :raises ConfigError: the file contains no valid graph.
    :raises UnknownNameError: the language models are given by role, and none has the role of the planner.
    """
    if context.file is not None:
        return FixedPlanner(read_graph(context.file), context.library, context.limits)
    settings = context.settings
    return LLMPlanner(
        model_for(context.connect(), "planner"),
        context.library,
        context.limits,
        most=settings.sub_goals,
        repairs=settings.repairs,
        prompts=context.prompts,
    )


def none(context: PlannerContext) -> Planner:
    """The factory for ``planner=none``, which always raises ConfigError, because a run without a planner never builds a
    planner.
    """
    raise ConfigError("planner=none stands for a run without a planner, so it cannot be built.")


def read_graph(path: Path) -> GoalGraph:
    """The graph in a JSON file.

    :raises ConfigError: the JSON file is missing, too large, or contains no valid graph; the message says what is
        wrong.
    """
    text = Folder(path.absolute().parent, ConfigError).read_text(path.name, limit=_FILE_LIMIT)
    return read_json(text, GoalGraph, path, ConfigError, "It has the form of plan/0.json in the folder of a run.")
