"""Checks a graph in the environment before the run learns anything for its sub-goals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rlgpt.domain import GoalGraph, Task, Verdict
from rlgpt.options import OnStep, extend
from rlgpt.options.functions import StepFunctions
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.library import library_of
from rlgpt.sandbox import Sandbox, SandboxLimits


def played_faults(
    graph: GoalGraph,
    plugin: EnvironmentPlugin,
    task: Task,
    *,
    seeds: Sequence[int],
    steps: int,
    limits: SandboxLimits,
    on_step: OnStep | None = None,
) -> list[str]:
    """Evaluate the predicates in a few episodes with random actions.

    A sub-goal that is not standing must be false at the start of at least one episode. The predicate of the last
    sub-goal must agree with the task's own success at every primitive step. No predicate may raise an error.

    :param seeds: seeds of the episodes with random actions.
    :param steps: maximal number of primitive steps of all episodes of the check together.
    :returns: the faults of the graph in words, each with the name of its sub-goal.
    """
    enough = limits.model_copy(update={"instances": max(limits.instances, len(graph.nodes))})
    asked = StepFunctions(tuple(n.predicate for n in graph.nodes), library_of(plugin, task), Sandbox(enough))
    at_start = dict.fromkeys((n.name for n in graph.nodes), 0)
    failed: dict[str, Verdict] = {}
    disagreement = ""
    env = extend(plugin.make_env(task, seed=seeds[0]), plugin=plugin, task=task, on_step=on_step)
    try:
        for seed in seeds:
            _, info = env.reset(seed=seed)
            env.action_space.seed(seed)
            failed |= {v.action: v for v in asked.reset(env.view(), seed=0, quarantined=())}
            for name, holds in asked.answers.predicates.items():
                at_start[name] += holds
            over, left = False, steps // len(seeds)
            while not over and left > 0:
                _, _, terminated, truncated, info = env.step(env.action_space.sample())
                over, left = terminated or truncated, left - 1
                failed |= {v.action: v for v in asked.update(env.view())}
                holds, success = asked.answers.predicates[graph.last.name], bool(info.get("success", False))
                if holds != success and graph.last.name not in failed and not disagreement:
                    when = f"at step {env.primitive_steps} of the episode with seed {seed}"
                    disagreement = (
                        f"{graph.last.name}: the last sub-goal must be the task's own success ({task.success}); {when} "
                        f"it is {holds}, and the success {success}"
                    )
    finally:
        env.close()
    return [*_faults(graph, at_start, failed, len(seeds)), *([disagreement] if disagreement else [])]


def _faults(graph: GoalGraph, at_start: dict[str, int], failed: dict[str, Verdict], count: int) -> Iterator[str]:
    for node in graph.nodes:
        if (verdict := failed.get(node.name)) is not None:
            where = f", line {verdict.line}" if verdict.line else ""
            yield f"{node.name}: its predicate failed{where}: {verdict.message}"
        elif at_start[node.name] == count and not node.standing:
            yield (
                f"{node.name}: its predicate is True at the start of {count} of {count} episodes, so there is nothing "
                "to reach; make it stricter, or leave the sub-goal out"
            )
