"""``rlgpt evaluate``: a run's best iteration on fresh seeds, perhaps with other settings of its task."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rlgpt.cli import overrides as checks
from rlgpt.domain import Evaluation, best_of
from rlgpt.errors import ConfigError, RunError
from rlgpt.plugin import PluginManager
from rlgpt.runs import Run
from rlgpt.terminal import say

FRESH = 700_000
"""Offset of the seeds among those of a run: away from those for training, selection and its report."""


def main(arguments: argparse.Namespace) -> int:
    """Print success, reward and steps in each mode; keep the evaluations in the run's folder."""
    from rlgpt.cli.compose import context
    from rlgpt.cli.film import film
    from rlgpt.design.resume import opened
    from rlgpt.loop.progress import progress_reporter

    if arguments.episodes < 1:
        raise ConfigError(f"--episodes {arguments.episodes}: at least 1 is needed.")
    run = Run.open(Path(arguments.run))
    history = run.iterations()
    if not history:
        raise RunError(f"{run.folder} has no finished iteration yet: rlgpt resume {run.folder} goes on with it.")
    best = best_of(history)
    first = run.record.seed * 1_000_000 + FRESH if arguments.seed is None else arguments.seed
    seeds = tuple(range(first, first + arguments.episodes))
    changed = settings(arguments.overrides)
    if changed and "design" in run.record.config:
        raise ConfigError(f"{run.folder} is a design: its environment has no task_settings. Leave them out.")

    with progress_reporter() as watching:
        config = dict(run.record.config)
        if changed:
            config["task_settings"] = {**(config.get("task_settings") or {}), **changed}
        made = opened(run, watching) if "design" in config else context(config, run, watching, PluginManager())
        say(f"{run.record.task}{_said(changed)}, iteration {best.index}, seeds {seeds[0]} to {seeds[-1]}")
        for greedy in (False,) if best.kept.mode == "code" else (False, True):
            evaluation = made.evaluate_kept(best, seeds=seeds, greedy=greedy)
            say(_line(evaluation))
            name = f"{evaluation.mode}-{seeds[0]}-{len(seeds)}{_mark(changed)}"
            run.rewrite(f"evaluations/{name}", evaluation)
        if arguments.video:
            say(film(made, f"videos/seed-{first}{_mark(changed)}.mp4", seed=first))
    return 0


def settings(overrides: Sequence[str]) -> dict[str, Any]:
    """The task's settings that are changed for an evaluation.

    :raises ConfigError: it is anything else that would be changed.
    """
    found = {}
    for text in overrides:
        override = checks.parse(text)
        name = override.key_or_group.removeprefix(checks.OPEN)
        if name == override.key_or_group or override.is_delete() or override.is_sweep_override():
            raise ConfigError(f"{text!r}: an evaluation changes its task's settings alone: task_settings.NAME=VALUE.")
        found[name] = override.value()
    return found


def _said(changed: Mapping[str, Any]) -> str:
    return "".join(f", {name}={value}" for name, value in changed.items())


def _mark(changed: Mapping[str, Any]) -> str:
    """What the changes add to the name of a file."""
    return "".join(f"-{re.sub(r'[^A-Za-z0-9_.=]+', '_', f'{name}={value}')[:40]}" for name, value in changed.items())


def _line(e: Evaluation) -> str:
    each = "-" if e.steps_per_success is None else f"{e.steps_per_success:,.0f}"
    return f"{e.mode:<8} success {e.success_rate:.2f}  mean reward {e.mean_reward:.3f}  steps per success {each}"
