"""The command ``rlgpt evaluate`` evaluates the best iteration of a run on fresh seeds. The user may change settings of
the task, and the executor that plays the episodes.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlgpt.cli import overrides as checks
from rlgpt.domain import Evaluation, Iteration, Mode, best_of
from rlgpt.errors import ConfigError, RunError
from rlgpt.plugin import PluginManager
from rlgpt.runs import Run
from rlgpt.terminal import say

if TYPE_CHECKING:
    from rlgpt.loop import LoopContext
    from rlgpt.planner.records import KeptGraph

FRESH = 700_000
"""Offset of the evaluation's seeds. Training, selection and report of a run use other seeds."""

PREFIX = "task_settings."


def main(arguments: argparse.Namespace) -> int:
    """Print success rate, score, metrics, return and steps in each mode, and store the evaluations in the
    run's folder.
    """
    from rlgpt.cli.commands.resume import with_overrides
    from rlgpt.cli.film import film
    from rlgpt.config.approval import require_approval
    from rlgpt.config.build import build
    from rlgpt.config.components import Component
    from rlgpt.config.run_config import AgentsConfig, PlannerConfig
    from rlgpt.config.runs import config_of
    from rlgpt.planner.stored import kept_of

    if arguments.episodes < 1:
        raise ConfigError(f"--episodes {arguments.episodes}: the number must be at least 1.")
    if arguments.seed is not None and arguments.seed < 0:
        raise ConfigError(f"--seed {arguments.seed}: the number must be at least 0.")
    run = Run.open(Path(arguments.run))
    history, kept = run.iterations(), kept_of(run)
    if not history and kept is None:
        raise RunError(f"{run.folder} has no finished iteration yet: rlgpt resume {run.folder} continues it.")
    first = run.record.seed * 1_000_000 + FRESH if arguments.seed is None else arguments.seed
    seeds = tuple(range(first, first + arguments.episodes))
    # The executor comes only from the command line: that of a run that somebody else made could name a module or a
    # machine.
    config = config_of(run).model_copy(update={"executor": Component(name="in_process")})
    manager = PluginManager()
    words = [text for text in arguments.overrides if _is_of_the_run(text, run)]
    changes = settings([text for text in arguments.overrides if text not in words])
    if words:
        config = with_overrides(config, words, manager)
    require_approval(run, config, checks.keys_of(arguments.overrides), manager, evaluation=True)
    if changes and config.environment is not None:
        raise ConfigError(f"{run.folder} has an environment without a plugin, so it has no task_settings. Remove them.")
    # An evaluation has no agents, so it needs no language model.
    without = {"agents": AgentsConfig(name="rl_only"), "planner": PlannerConfig(), "skills": None}
    changed = {"task_settings": {**config.task_settings, **changes}, **without}
    context = replace(build(config.model_copy(update=changed), run.folder, manager), run=run)
    with context.observer:
        task = f"{run.record.task}{_listed(changes)}"
        for evaluation in _evaluations(context, history, kept, seeds, task):
            say(_line(evaluation))
            run.rewrite(f"evaluations/{evaluation.mode}-{seeds[0]}-{len(seeds)}{_suffix(changes)}", evaluation)
        if arguments.video:
            say(film(context, f"videos/seed-{first}{_suffix(changes)}.mp4", seed=first))
    return 0


def _evaluations(
    context: LoopContext, history: Sequence[Iteration], kept: KeptGraph | None, seeds: Sequence[int], task: str
) -> Iterator[Evaluation]:
    """Evaluate the best iteration of a run in each mode, or the run's graph of sub-goals. Before the first evaluation,
    the command prints a line with the task and the seeds.
    """
    where = f"seeds {seeds[0]} to {seeds[-1]}"
    if kept is None:
        best = best_of(history)
        say(f"{task}, iteration {best.index}, {where}")
        for mode in _modes(best.kept.mode):
            yield context.evaluate_kept(best, seeds=seeds, mode=mode)
        return
    from rlgpt.planner.context import planned
    from rlgpt.planner.evidence import evidence_of
    from rlgpt.planner.kept import player_of

    say(f"{task}, graph of {len(kept.graph.nodes)} sub-goals, {where}")
    with player_of(planned(context), kept) as player:
        played = player.evaluate(seeds)
    for node in evidence_of(kept.graph, played.episodes, {}).figures:
        say(f"  {node.name}: called {node.calls} times, done {node.done}, {node.steps:,} steps")
    yield played.evaluation


def _is_of_the_run(text: str, run: Run) -> bool:
    """Whether an override changes the configuration of the run, and not a setting of its task. The executor may be
    changed in any evaluation. In an evaluation of a run that somebody else made, the user also approves other settings.
    """
    key = checks.parse(text).key_or_group
    return key.partition(".")[0] == "executor" or not (run.own or key.startswith(PREFIX))


def settings(overrides: Sequence[str]) -> dict[str, Any]:
    """Parse the task settings that the user of ``rlgpt evaluate`` changes.

    :raises ConfigError: an override changes something that is not a setting of the task.
    """
    changes = {}
    for text in overrides:
        override = checks.parse(text)
        name = override.key_or_group.removeprefix(PREFIX)
        if name == override.key_or_group or override.is_delete() or override.is_sweep_override():
            raise ConfigError(
                f"{text!r}: an evaluation can change only its executor and settings of its task: "
                "task_settings.NAME=VALUE."
            )
        changes[name] = override.value()
    return changes


def _modes(kept: Mode) -> tuple[Mode, ...]:
    """The modes that are evaluated. A policy is evaluated in the modes ``sampled`` and ``greedy``, and in the mode that
    the selection chose. Code, tuned code and a policy without code have one mode.
    """
    if kept in ("code", "tuned", "base_only"):
        return (kept,)
    return ("sampled", *(("sharpened",) if kept == "sharpened" else ()), "greedy")


def _listed(changes: Mapping[str, Any]) -> str:
    return "".join(f", {name}={value}" for name, value in changes.items())


def _suffix(changes: Mapping[str, Any]) -> str:
    """A suffix for the names of the evaluation's files, which says which settings of the task are changed."""
    return "".join(f"-{re.sub(r'[^A-Za-z0-9_.=]+', '_', f'{name}={value}')[:40]}" for name, value in changes.items())


def _line(e: Evaluation) -> str:
    """A line with the figures of an evaluation, and a line for each metric of the task."""
    from rlgpt.report.figures import mean_score, metric_figures, score_name

    figures = [f"{e.mode:<9}"]
    if e.has_success:
        figures.append(f"success {e.success_rate:.2f}")
    if e.score is not None:
        figures.append(f"{score_name(e)} {'-' if (score := mean_score(e)) is None else score}")
    figures.append(f"mean reward {e.mean_reward:.3f}")
    if e.has_success:
        figures.append("steps per success " + ("-" if (each := e.steps_per_success) is None else f"{each:,.0f}"))
    lines = ["  ".join(figures)]
    lines += [f"         {name} {value} in {count} episodes" for name, value, count in metric_figures(e)]
    return "\n".join(lines)
