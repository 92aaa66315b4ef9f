"""Plays the graph of a bundle in an environment of ``extend()``, with coded actions and without trained policies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rlgpt.domain import Bundle, Call, SubGoal
from rlgpt.domain.graph import CallEnd
from rlgpt.errors import BundleError
from rlgpt.options import ExtendedEnv
from rlgpt.options.functions import StepFunctions
from rlgpt.options.sharing import read_bundle
from rlgpt.planner.agenda import Agenda
from rlgpt.plugin.library import library_of
from rlgpt.sandbox import Sandbox, SandboxLimits


class GraphPolicy:
    """A policy that plays a graph of sub-goals with the coded actions of its bundle::

        env = rlgpt.extend(gymnasium.make(ENV_ID), bundle)
        policy = GraphPolicy(bundle, env)
        env.reset(seed=0)
        policy.reset()
        while not over:
            _, _, terminated, truncated, _ = env.step(policy.act())

    A bundle contains no weights of policies. If the run trained a policy for a sub-goal, ``GraphPolicy`` plays this
    sub-goal with its coded actions instead.

    :param bundle: a bundle with a graph, its folder, the folder of its run, or its archive.
    :param env: the result of ``extend(env, bundle)``.
    :raises BundleError: the bundle has no graph, or ``env`` lacks some coded actions of the bundle.
    """

    def __init__(self, bundle: Bundle | str | Path, env: ExtendedEnv, limits: SandboxLimits | None = None) -> None:
        given = bundle if isinstance(bundle, Bundle) else read_bundle(Path(bundle))
        if given.graph is None:
            raise BundleError(
                "the bundle has no graph of sub-goals; GraphPolicy plays only the bundles of runs with a planner."
            )
        there = {a.name for a in env.actions}
        missing = [n for names in given.graph.actions.values() for n in names if n not in there]
        if missing:
            raise BundleError(
                f"the environment lacks actions of the graph: {', '.join(missing)}. Use extend(env, bundle)."
            )
        self._graph, self._actions, self._env = given.graph.graph, given.graph.actions, env
        limits = limits or SandboxLimits()
        enough = limits.model_copy(update={"instances": max(limits.instances, len(self._graph.nodes))})
        predicates = tuple(n.predicate for n in self._graph.nodes)
        self._predicates = StepFunctions(predicates, library_of(env.plugin, env.task), Sandbox(enough))
        self._node: SubGoal | None = None

    def reset(self) -> None:
        """Begin an episode. Call ``GraphPolicy.reset()`` after each ``env.reset()``."""
        self._predicates.reset(self._env.view(), seed=0, quarantined=())
        self._agenda = Agenda(self._graph, [name for name, played in self._actions.items() if played])
        self._node, self._start, self._turn, self._asked = None, 0, 0, self._env.primitive_steps
        self._env.lane.interrupts = self._interrupts if self._graph.standing else None

    @property
    def sub_goal(self) -> str:
        """The name of the sub-goal that is called now; empty before the first action of the episode."""
        return "" if self._node is None else self._node.name

    def act(self) -> Any:
        """Return the next action of the policy, an element of the environment's action space.

        :raises BundleError: the graph needs a sub-goal for which the bundle has no coded action.
        """
        holds, steps, node = self._holds(), self._env.primitive_steps, self._node
        if node is not None and (ended := self._ended(node, steps)) is not None:
            self._agenda.ended(Call(node=node.name, start=self._start, steps=steps - self._start, ended=ended))
            node = None
        if node is None:
            node, self._start, self._turn = self._agenda.next(holds), steps, 0
        self._node = node
        names = self._actions.get(node.name, ())
        if not names:
            raise BundleError(
                f"the sub-goal {node.name!r} has no coded action in this bundle; the folder of the run has its policy."
            )
        self._turn += 1
        return self._env.extension.write(names[(self._turn - 1) % len(names)])

    def _ended(self, node: SubGoal, steps: int) -> CallEnd | None:
        holds = self._holds()
        if holds[node.name] and node.name != self._graph.last.name:
            return "done"
        if steps - self._start >= node.horizon:
            return "horizon"
        return "interrupted" if self._agenda.interrupts(node, holds) else None

    def _interrupts(self) -> bool:
        return self._node is not None and self._agenda.interrupts(self._node, self._holds())

    def _holds(self) -> Mapping[str, bool]:
        """For each sub-goal, whether it holds now. Predicates are called at most once at each primitive step."""
        if self._asked != self._env.primitive_steps:
            self._asked = self._env.primitive_steps
            self._predicates.update(self._env.view())
        return self._predicates.answers.predicates
