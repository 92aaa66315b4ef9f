"""Makes the bundle of a graph, which contains the graph and the coded actions of all sub-goals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rlgpt.domain import (
    Bundle,
    BundledGraph,
    CodedAction,
    CodedFeatures,
    CodedFunction,
    Iteration,
    Steps,
)
from rlgpt.llm.exchange import read_exchanges
from rlgpt.loop.run import tested_on
from rlgpt.planner.context import PlannedContext
from rlgpt.planner.kept import part_of
from rlgpt.planner.records import KeptGraph
from rlgpt.runs import Report


def bundle_of(ctx: PlannedContext, kept: KeptGraph, report: Report, steps: Steps) -> Bundle:
    """Return the bundle of the graph that a run keeps. Bundles never contain the weights of policies.

    If two sub-goals have features of the same name, or with outputs of the same name, the bundle contains only the
    feature of the first of these sub-goals.
    """
    actions: list[CodedAction] = []
    features: dict[str, CodedFeatures] = {}
    order: dict[str, tuple[str, ...]] = {}
    taken: set[str] = set()
    for node in kept.graph.in_order:
        if node.name not in kept.actors:
            continue
        best = part_of(ctx, kept, node.name).run.iterations()[kept.actors[node.name]]
        named = list(_named(node.name, best, taken))
        order[node.name] = tuple(a.name for a in named)
        actions += named
        for function in best.functions:
            if isinstance(function, CodedFeatures):
                features.setdefault(function.name, function)
    return Bundle(
        schema_version=4,
        actions=_shared(actions),
        functions=_distinct(features.values()),
        graph=BundledGraph(graph=kept.graph, actions=order),
        world=ctx.world,
        tested_on=tested_on(ctx, report.evaluation, steps, read_exchanges(ctx.run.folder / "llm.jsonl")),
    )


def _named(node: str, best: Iteration, taken: set[str]) -> Iterator[CodedAction]:
    """The coded actions of a sub-goal, each renamed to ``SUBGOAL_ACTION``.

    :param taken: names that no action may have. ``_named`` adds the new names of the actions to the set ``taken``.
    """
    for action in best.kept_actions:
        name, number = f"{node}_{action.name}"[:40], 1
        while name in taken:
            number += 1
            name = f"{node}_{action.name}"[: 40 - len(str(number))] + str(number)
        taken.add(name)
        yield action.model_copy(update={"name": name})


def _shared(actions: list[CodedAction]) -> tuple[CodedAction, ...]:
    """``actions`` for one bundle. A bundle contains at most one source of shared code. If the coded actions have
    different shared code, the source of each action gets its own copy of the shared code.
    """
    if len({a.shared for a in actions if a.shared}) <= 1:
        return tuple(actions)
    return tuple(
        a.model_copy(update={"source": f"{a.shared}\n\n{a.source}", "shared": ""}) if a.shared else a for a in actions
    )


def _distinct(features: Iterable[CodedFeatures]) -> tuple[CodedFunction, ...]:
    kept: list[CodedFunction] = []
    outputs: set[str] = set()
    for feature in features:
        names = {o.name for o in feature.outputs}
        if not names & outputs:
            kept.append(feature)
            outputs |= names
    return tuple(kept)
