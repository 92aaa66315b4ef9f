"""Converts configurations in run records of earlier versions of rlgpt to the current form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rlgpt.domain import World
from rlgpt.errors import RunError
from rlgpt.loop import LoopSettings
from rlgpt.plugin.judged import LEGACY
from rlgpt.plugin.rules import parse_rule

HYPERPARAMETERS = {
    "envs": "num_envs",
    "rollout": "num_steps",
    "minibatch": "minibatch_size",
    "epochs": "update_epochs",
    "clip": "clip_coef",
    "value_coef": "vf_coef",
    "entropy_coef": "ent_coef",
}
TRAINERS = {"rlgpt.rl.ppo.PPO": "ppo", "rlgpt.rl.sample_factory.SampleFactory": "sample_factory"}


def current(config: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Convert a configuration to the form of :class:`~rlgpt.config.run_config.RunConfig`. The result is not validated
    yet.

    :raises RunError: an earlier version of rlgpt wrote the configuration, and the configuration cannot be converted.
    """
    try:
        if isinstance(design := config.get("design"), Mapping):
            return _with_rule(_design(design))
        agents = config.get("agents")
        found = _train(config) if isinstance(agents, Mapping) and "kind" in agents else dict(config)
        return _with_rule(found)
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        raise RunError(
            f"{folder / 'run.json'} was written by an earlier version of rlgpt and cannot be converted "
            f"({type(fault).__name__}: {fault}). Start a new run; `rlgpt report {folder}` still reads this one."
        ) from fault


def _train(config: Mapping[str, Any]) -> dict[str, Any]:
    llm = dict(config.get("llm") or {})
    if "eyes" in llm:
        llm["supports_vision"] = llm.pop("eyes")
    trainer = dict(config["trainer"])
    return {
        **config,
        "agents": {"name": config["agents"]["kind"]},
        "trainer": {"name": TRAINERS[trainer.pop("_target_")], **trainer},
        "llm": llm,
        "hyperparameters": _hyperparameters(config.get("hyperparameters") or {}),
    }


def _design(design: Mapping[str, Any]) -> dict[str, Any]:
    call = design.get("call") or {}
    world = {name: design[name] for name in World.model_fields if name in design}
    described = {k: call.get(k) for k in ("docs", "labels", "observations", "success", "horizon", "idle")}
    prepared = {"task": design["task"], "docs": design["docs"], "world": world}
    goal = design["task"]["goal"]
    return {
        **{name: design[name] for name in LoopSettings.model_fields if name in design},
        "environment": {"id": call.get("make_env"), "goal": goal, **described, "prepared": prepared},
        "agents": {"name": design["agents"]},
        "trainer": {"name": design["trainer"] if call else "object"},
        "llm": _model(call.get("llm")),
        "hyperparameters": _hyperparameters(design["hyperparameters"]),
        "sandbox": design["budgets"],
    }


def _with_rule(config: dict[str, Any]) -> dict[str, Any]:
    """Add the rule of success to the configuration of an environment without a plugin. Run records of earlier versions
    contain only a description of the rule of success.
    """
    environment = config.get("environment")
    prepared = environment.get("prepared") if isinstance(environment, Mapping) else None
    if not isinstance(environment, Mapping) or not isinstance(prepared, Mapping):
        return config
    world, task = prepared["world"], prepared["task"]
    if "success" in world or not task.get("success"):
        return config
    given = environment.get("success")
    rule = parse_rule(given).text if given is not None else _rule_of(str(task["success"]))
    prepared = {**prepared, "world": {**world, "success": rule}}
    return {**config, "environment": {**environment, "prepared": prepared}}


def _rule_of(words: str) -> str | None:
    """The default rule of success that an earlier version of rlgpt described by ``words``; None if the words describe a
    function of the user.
    """
    if words == parse_rule(LEGACY).words:
        return LEGACY
    found = re.fullmatch(r"a total reward of at least (\S+) in the episode, unless the environment .*", words)
    return f"reported else return >= {found[1]}" if found else None


def _model(llm: Any) -> dict[str, Any]:
    if isinstance(llm, Mapping):
        return dict(llm)
    if llm is None:
        return {"kind": "object"}
    return {"kind": "replay", "transcript": llm} if str(llm).endswith(".jsonl") else {"model": llm}


def _hyperparameters(given: Mapping[str, Any]) -> dict[str, Any]:
    return {HYPERPARAMETERS.get(name, name): value for name, value in given.items()}
