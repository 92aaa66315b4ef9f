"""A call of ``design()`` as plain values, kept in its run so that the command line can make it again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rlgpt.errors import ConfigError
from rlgpt.llm.settings import LLMSettings
from rlgpt.plugin.idle import plain_idle
from rlgpt.secrets import redact

WORLD = ("make_env", "goal", "docs", "labels", "observations", "success", "horizon", "idle")
"""Of a call what :func:`rlgpt.design.prepare.prepare` takes."""


def call_of(
    make_env: Any, goal: str, llm: Any, *, trainer: Any, success: Any, primitives: Sequence[Any], **named: Any
) -> dict[str, Any] | None:
    """The arguments, where all that the environment is made of is plain: an id of gymnasium's registry, no function of
    success, no primitives and no trainer of the caller's own. None where something is not.

    :param named: ``docs``, ``labels``, ``observations``, ``horizon``, ``idle``.
    """
    plain = isinstance(make_env, str) and isinstance(trainer, str) and not callable(success) and not primitives
    if not plain:
        return None
    idle = plain_idle(named.pop("idle"))
    told = {"make_env": make_env, "goal": goal, "llm": _model(llm), "trainer": trainer, "success": success}
    return {**told, "idle": idle, **named}


def read_call(config: Mapping[str, Any]) -> dict[str, Any]:
    """What :func:`call_of` kept.

    :param config: the configuration of a run of ``design()``.
    :raises ConfigError: nothing is kept: only what called ``design()`` can make the environment.
    """
    call = config.get("call")
    if not isinstance(call, Mapping):
        raise ConfigError(
            "this run is one of design(): only what called it can make its environment. Go on with it by the same call "
            "(folder=...); its bundle works with rlgpt.extend()."
        )
    return dict(call)


def _model(llm: Any) -> Any:
    """A model's name, a transcript's path or settings as plain values; None where it is an object or holds a key."""
    if isinstance(llm, LLMSettings):
        told = llm.model_dump(mode="json")
        return told if redact(json.dumps(told)) == json.dumps(told) else None
    if isinstance(llm, Path) or (isinstance(llm, str) and llm.endswith(".jsonl")):
        return str(Path(llm).resolve())
    return llm if isinstance(llm, str) and redact(llm) == llm else None
