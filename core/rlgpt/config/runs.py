"""Makes the folder of a new run, or opens the folder of an existing run with its configuration."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rlgpt.config.earlier import current
from rlgpt.config.run_config import RunConfig
from rlgpt.config.trial_report import Spelling, keyword
from rlgpt.config.trying import say_rules
from rlgpt.domain.validated import validated
from rlgpt.errors import RunError
from rlgpt.loop import LoopContext
from rlgpt.runs import Run

KEPT = ("task", "task_settings", "environment", "seed", "folder")
"""Settings that cannot change in an existing run."""

_SHAPE = ("trainer.name", "trainer._target_", "trainer.width", "hyperparameters.hidden", "hyperparameters.encoder")
"""Settings that determine the trainer and the shape of its policies. An existing run keeps them, because it loads the
policies of its finished stages. A record of an earlier version may lack them, or may have the trainer ``object``.
"""

PREPARED = tuple(f"environment.prepared.{name}" for name in ("task", "docs", "world"))
"""Fields of the prepared environment that cannot change in an existing run."""


def new_folder(name: str, *, root: Path = Path("runs")) -> Path:
    """The default folder of a new run, ``runs/DAY/TIME-NAME``."""
    now = datetime.datetime.now()
    return root / f"{now:%Y-%m-%d}" / f"{now:%H-%M-%S-%f}-{name.partition('/')[2] or name}"


def config_of(run: Run) -> RunConfig:
    """The configuration in a run's record, which contains the registered names of components instead of their modules.

    :raises RunError: the run's record has no configuration, or this version of rlgpt cannot read the configuration.
    """
    if not run.record.config:
        raise RunError(f"{run.folder} has no configuration in run.json: it was not started by rlgpt train or design().")
    plain = {**current(run.record.config, run.folder), "folder": str(run.folder.resolve())}
    try:
        return validated(RunConfig, plain)
    except RunError:
        raise
    except Exception as error:
        raise RunError(f"{run.folder / 'run.json'} cannot be used: {error}") from error


def with_record(config: RunConfig, folder: Path) -> RunConfig:
    """Add the recorded properties of the environment to ``config``, if ``folder`` contains a run.

    The rules of success in the record were determined and tested when the run began, and are not determined again.
    """
    if config.environment is None or config.environment.prepared is not None or not Run.exists(folder):
        return config
    recorded = config_of(Run.open(folder)).environment
    if recorded is None or recorded.prepared is None:
        return config
    environment = config.environment.model_copy(update={"prepared": recorded.prepared})
    return config.model_copy(update={"environment": environment})


def begin(context: LoopContext, spell: Spelling = keyword) -> LoopContext:
    """Write the record of a new run.

    :param spell: how the caller of the run gives an argument of ``design()``, for messages.
    :raises RunError: the folder already contains a run.
    """
    context = say_rules(context, spell, try_them=True)
    record = context.run.record
    run = Run.create(context.run.folder, task=record.task, seed=record.seed, config=record.config)
    return replace(context, run=run)


def resume(context: LoopContext, spell: Spelling = keyword) -> LoopContext:
    """Open the existing run in the folder. If the configuration has changed, or if somebody else made the run, the
    current configuration is stored in the run's record with the user's seal.

    :raises RunError: the folder contains a run of another task, seed, environment or team of agents, or a run whose
        policy has another shape.
    """
    run = Run.open(context.run.folder)
    before, now = config_of(run), context.run.record.config
    changed = _differences({**before.plain(), "task_id": run.record.task}, {**now, "task_id": context.run.record.task})
    if changed:
        raise RunError(
            f"{run.folder} contains another run: {changed}. Use the values of that run, or choose another folder."
        )
    if dict(run.record.config) != dict(now) or not run.own:
        with run.lock():
            run.update(config=now)
    return say_rules(replace(context, run=run), spell, try_them=False)


def begin_or_resume(context: LoopContext, spell: Spelling = keyword) -> LoopContext:
    """Call :func:`resume` if the folder contains a run, and otherwise :func:`begin`."""
    return (resume if Run.exists(context.run.folder) else begin)(context, spell)


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    parts = []
    for key in ("task_id", "task_settings", "seed", *PREPARED, "agents.name", *_SHAPE):
        old, new = _at(before, key), _at(now, key)
        unknown = key in _SHAPE and old in (None, "object")
        if old != new and not unknown:
            parts.append(_difference(key, old, new))
    return "; ".join(parts)


def _difference(key: str, old: Any, new: Any) -> str:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        inner = [k for k in sorted({*old, *new}) if old.get(k) != new.get(k)]
        return "; ".join(_difference(k, old.get(k), new.get(k)) for k in inner)
    return f"{key} was {_short(old)} and is now {_short(new)}"


def _at(node: Any, key: str) -> Any:
    for part in key.split("."):
        node = node.get(part) if isinstance(node, Mapping) else None
    return node


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
