"""Checks the configuration of runs that somebody else made, or that were made on another machine. Without the user's
approval, such a run has no effect outside its folder.

The configuration is not trusted, because it may name a server, a key or a module, or raise a limit. The user who
resumes or evaluates such a run must repeat each untrusted setting on the command line.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from rlgpt.config.build import OBJECT
from rlgpt.config.components import effective, factory_of
from rlgpt.config.run_config import PlannerConfig, RunConfig
from rlgpt.errors import ConfigError, UnknownNameError
from rlgpt.plugin import PluginManager
from rlgpt.rl.device import DEVICES
from rlgpt.runs import Run

_HARMLESS = (
    *("task", "seed", "folder", "video", "target_success", "target_score"),
    *("setup", "hyperparameters", "fixed_hyperparameters"),
)
"""Settings that need no approval, because they have effects only inside the run's folder, and their types limit their
values.
"""
_HARMLESS_VALUES = {"trainer.device": DEVICES, "trainer.overlap": (False, True)}
"""The values of settings that need no approval. They decide only which processor of this machine computes, and when."""

_UNUSED_IN_EVALUATION = {
    *("llm", "agents", "planner", "executor", "skills"),
    *("budget", "iterations", "repairs", "selection_episodes", "report_episodes", "traces"),
    *("confirmation_episodes", "judging", "sharpness", "min_decisions", "rehearsal_episodes", "evidence"),
    *("candidates", "plans"),
}


def require_approval(
    run: Run, config: RunConfig, given: Collection[str], manager: PluginManager, *, evaluation: bool = False
) -> None:
    """Check a run's configuration before any object is made from the configuration. The user's own run needs no
    approval.

    :param config: the configuration with the changes from the command line.
    :param given: the keys that the user wrote on the command line, for example ``llm`` or ``llm.model``.
    :param evaluation: whether the check covers only the settings that an evaluation uses.
    :raises ConfigError: a setting needs the user's approval. The message lists all such settings in the form of command
        line arguments.
    """
    if run.own:
        return
    unused = _UNUSED_IN_EVALUATION if evaluation else set()
    settings = {k: v for k, v in unapproved(config, given, manager).items() if k.partition(".")[0] not in unused}
    if not settings:
        return
    words = " ".join(shlex.quote(f"{key}={_text(value)}") for key, value in settings.items())
    command = "evaluate" if evaluation else "resume"
    raise ConfigError(
        f"{run.folder} was made by somebody else or on another machine, or its run.json was changed: it has no valid "
        "seal of yours. You must approve settings with effects outside its folder. Write your own values (llm=replay, "
        "trainer=ppo, ...). If you trust the values of the run, repeat them: "
        f"rlgpt {command} {shlex.quote(str(run.folder))} {words}"
    )


def unapproved(config: RunConfig, given: Collection[str], manager: PluginManager) -> dict[str, Any]:
    """The settings that need approval, as a dict from keys to values. A setting needs approval if it contains an
    address, a key, a file or a module, or raises a limit, unless the user wrote the setting on the command line.
    """
    plain, default = config.plain(), RunConfig().plain()
    default["trainer"] = _default_trainer(config, manager)
    # A name needs no approval, because only installed distributions register names.
    default["agents"]["name"] = config.agents.name
    default["planner"] = {**PlannerConfig().model_dump(mode="json"), "name": config.planner.name}
    transcript = config.llm.transcript
    if config.llm.kind == OBJECT or (config.llm.kind == "replay" and not _is_path(transcript)):
        plain["llm"] = {}  # A replay sends no request to a language model.
    elif config.llm.kind == "replay":
        plain["llm"] = {"transcript": transcript}
    environment = config.environment.id if config.environment is not None else None
    plain["environment"] = {"id": environment} if environment is not None and ":" in environment else {}
    leaves = {key: value for key, value in _leaves(plain) if key.partition(".")[0] not in _HARMLESS}
    return {
        key: value
        for key, value in leaves.items()
        if _differs(value, _at(default, key))
        and value not in _HARMLESS_VALUES.get(key, ())
        and not _is_given(key, given)
    }


def _default_trainer(config: RunConfig, manager: PluginManager) -> dict[str, Any]:
    """The default settings of the trainer that ``config`` names; empty if the configuration does not give a registered
    name.
    """
    if config.trainer.target is not None or config.trainer.name is None:
        return {}
    named = type(config.trainer)(name=config.trainer.name)
    try:
        factory = factory_of("trainer", named, manager)
    except (ConfigError, UnknownNameError):
        return {"name": named.name}  # The error is raised later, when the trainer is made.
    return named.with_settings(effective("trainer", factory, {})).model_dump(mode="json")


def _differs(value: Any, default: Any) -> bool:
    """Whether a setting's value differs from the default. A number below the default is a stricter limit, so the
    function treats it as the default.
    """
    if isinstance(value, int | float) and isinstance(default, int | float) and not isinstance(default, bool):
        return not value <= default
    return bool(value != default)


def _is_given(key: str, given: Collection[str]) -> bool:
    """Whether the user wrote the key on the command line, or chose the whole group of the key (``llm=live``,
    ``trainer=ppo``).
    """
    group, _, rest = key.partition(".")
    return key in given or (group in given and rest in ("name", "kind"))


def _is_path(transcript: int | str | None) -> bool:
    return isinstance(transcript, str) and (transcript.endswith(".jsonl") or "/" in transcript or "\\" in transcript)


def _leaves(node: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _leaves(value, f"{prefix}.{key}" if prefix else str(key))
    elif prefix:
        yield prefix, node


def _at(node: Any, key: str) -> Any:
    for part in key.split("."):
        node = node.get(part) if isinstance(node, Mapping) else None
    return node


def _text(value: Any) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
