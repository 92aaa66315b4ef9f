"""Bundles: coded actions and functions that users publish and share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from rlgpt.domain.functions import CodedFunction
from rlgpt.domain.graph import GoalGraph
from rlgpt.domain.values import ActionPlan, CodedAction, Metric, Name, Plain, RLSetup, Score, TaskId, Value


class Provenance(Value):
    """The origin of a bundle, and its success rate on seeds that were not used for selection.

    :ivar versions: for Python and each package on which the result depends, the version with which the run began.
    :ivar success_rate: success rate of the bundle, 0 to 1; None if the bundle was not evaluated or the task has no
        success.
    """

    task: TaskId
    versions: Mapping[str, str] = Field(default_factory=dict)
    success_rate: float | None = None
    score: float | None = Field(default=None, description="mean score; None if the task has no score")
    episodes: int = 0
    primitive_steps: int = Field(default=0, description="number of all primitive steps of the run that made the bundle")
    model: str = Field(default="", description="the language models that wrote the actions")


class World(Value):
    """The names of actions and observations that the code in a bundle uses, for an environment without a plugin.

    :ivar labels: for the label of each part of the base action, the meaning of this part; None if the environment's own
        labels are used.
    :ivar observations: for the name of each number of the observation, its meaning; None if the observation is one list
        without names. For an observation from a Dict space, each part of the observation has a meaning, or names and
        meanings for its numbers.
    :ivar primitives: names of the user's own primitives. The user's own primitives are Python code outside the sandbox
        and are not part of a bundle.
    :ivar idle: the user's idle action, which is either a label of a Discrete space or an action with lists in place of
        arrays. None if the user gave no idle action.
    :ivar success: the user's rule of success as text (:mod:`rlgpt.plugin.rules`); None if there is no rule, or if the
        rule is a Python function.
    :ivar metrics: for keys of ``info``, the metrics that the values of these keys are.
    """

    labels: Mapping[str, str | Mapping[str, str]] | None = None
    observations: Mapping[str, str | Mapping[str, str]] | None = None
    primitives: tuple[str, ...] = ()
    idle: Plain = None
    success: str | None = None
    score: Score | None = None
    metrics: Mapping[str, Metric] = Field(default_factory=dict)


class BundledGraph(Value):
    """The sub-goals of a graph, and the coded actions of a bundle that reach these sub-goals.

    :ivar actions: for each sub-goal, the names of the coded actions that play it. The coded actions of a sub-goal run
        in their order in the tuple, and then from the beginning again.
    """

    graph: GoalGraph
    actions: Mapping[str, tuple[Name, ...]]


class Bundle(Value):
    """A bundle, which contains coded actions with their RL setup and their test result. Users can publish and share a
    bundle.

    :ivar schema_version: version of the format. A bundle of version 1 has no functions, of version 2 no shared code, of
        version 3 no graph.
    :ivar actions: coded actions with distinct names. All coded actions of the bundle that use shared code use the same
        shared code.
    :ivar functions: coded features, reward terms and predicates of the bundle, with distinct names.
    :ivar setup: the RL setup with which a policy learned to use the coded actions; None if no policy was trained.
    :ivar world: the names of the environment's actions and observations, if :func:`rlgpt.design` made the bundle; else
        None.
    :ivar graph: the graph of sub-goals that the coded actions reach, if a planner divided the task; else None.
    """

    schema_version: Literal[1, 2, 3, 4] = 3
    actions: tuple[CodedAction, ...]
    functions: tuple[CodedFunction, ...] = Field(default=(), max_length=16)
    setup: RLSetup | None = None
    plan: ActionPlan | None = None
    tested_on: Provenance | None = None
    world: World | None = None
    graph: BundledGraph | None = None

    @model_serializer(mode="wrap")
    def _graph_if_any(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        plain: dict[str, Any] = handler(self)
        return {key: value for key, value in plain.items() if key != "graph" or value is not None}

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        for what, names in (
            ("coded actions", [a.name for a in self.actions]),
            ("functions", [f.name for f in self.functions]),
        ):
            if len(set(names)) != len(names):
                raise ValueError(f"names of {what} must differ, got {names}")
        if len({a.shared for a in self.actions if a.shared}) > 1:
            raise ValueError("all actions of a bundle must have the same shared code, or none; got several")
        if self.graph is not None:
            there, nodes = {a.name for a in self.actions}, {n.name for n in self.graph.graph.nodes}
            for node, played in self.graph.actions.items():
                if node not in nodes or not there.issuperset(played):
                    raise ValueError(f"the graph names a sub-goal or an action that is not in the bundle: {node!r}")
        return self
