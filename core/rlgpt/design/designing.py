"""Executes the run that a call of ``design()`` starts."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rlgpt.config.build import build
from rlgpt.config.environment import Objects
from rlgpt.config.run_config import EnvironmentConfig, RunConfig
from rlgpt.config.runs import begin_or_resume, new_folder, with_record
from rlgpt.design import design
from rlgpt.design.parts import Model, llm_settings, refuse_wrong_types, split
from rlgpt.domain import Bundle
from rlgpt.domain.validated import validated
from rlgpt.errors import UnknownNameError
from rlgpt.llm.base import LLM
from rlgpt.loop import Observer
from rlgpt.options import load_bundle
from rlgpt.planner import run
from rlgpt.plugin import PluginManager
from rlgpt.plugin.generic import MakeEnv
from rlgpt.plugin.idle import plain_idle
from rlgpt.plugin.types import Primitive, StateCodec


def run_design(
    make_env: MakeEnv | str,
    goal: str,
    llm: Model | None,
    described: Mapping[str, Any],
    primitives: Sequence[Primitive],
    states: StateCodec | None,
    folder: str | Path | None,
    progress: Observer | None,
    overrides: Mapping[str, Any],
) -> Bundle:
    """Do the work of :func:`rlgpt.design`, whose documentation describes the arguments."""
    own = inspect.signature(design).parameters.keys() - {"overrides"}
    for name in overrides:
        if name not in RunConfig.model_fields:
            raise UnknownNameError("argument of design()", name, {*own, *RunConfig.model_fields})
    refuse_wrong_types(described, primitives, states, folder, progress, overrides)
    settings, given = split(overrides)
    success = described["success"]
    plain = {**described, "success": None if callable(success) else success, "idle": plain_idle(described["idle"])}
    env_id = make_env if isinstance(make_env, str) else None
    environment = validated(EnvironmentConfig, {"id": env_id, "goal": goal, **plain})
    config = validated(RunConfig, {**settings, "environment": environment, "llm": llm_settings(llm)})
    objects = Objects(
        make_env=None if isinstance(make_env, str) else make_env,
        success=success if callable(success) else None,
        primitives=primitives,
        states=states,
        llm=llm if isinstance(llm, LLM) else None,
        **given,
    )
    where = Path(folder) if folder is not None else new_folder(env_id or "design")
    config = config.model_copy(update={"folder": str(where.resolve())})
    config = with_record(config, where)
    context = begin_or_resume(build(config, where, PluginManager(), objects=objects, observer=progress))
    with context.observer:
        context.observer.message(f"run {where}")
        result = run(context)
        if result.stopped is not None:
            context.observer.message(f"stopped: {result.stopped}")
    if result.report is None:
        assert result.stopped is not None
        raise result.stopped
    return load_bundle(where / "bundle")
