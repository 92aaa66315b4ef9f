"""Splits the arguments of ``design()`` into values for the configuration and objects that a configuration
cannot hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

from rlgpt.agents.build import Agents
from rlgpt.agents.planner import Planner
from rlgpt.config.build import OBJECT
from rlgpt.errors import ConfigError, TranscriptError
from rlgpt.llm.base import LLM
from rlgpt.llm.settings import LLMSettings
from rlgpt.loop import Observer
from rlgpt.plugin import Primitive, StateCodec
from rlgpt.rl.base import Trainer

Model = str | Path | LLM | LLMSettings | Mapping[str, Any]
"""The type of the argument ``llm`` of ``design()``, which is a model's name in litellm's form (``openai/gpt-5``), the
path of a recording (``.jsonl``) to replay, an object of :class:`~rlgpt.llm.base.LLM`, or the settings of the
configuration's group ``llm``.
"""

PARTS: Sequence[tuple[str, type, str]] = (
    ("trainer", Trainer, "ppo"),
    ("agents", Agents, "slow_fast_critic"),
    ("planner", Planner, "graph"),
)
"""The settings of ``design()`` that may be objects: name, class, and the name of one of them."""


def llm_settings(llm: Model | None) -> Any:
    """Convert the argument ``llm`` of ``design()`` into settings of the configuration's group ``llm``.

    :raises ConfigError: ``llm`` has none of the types in :data:`Model`.
    :raises TranscriptError: ``llm`` is the path of a recording, and no such file exists.
    """
    if isinstance(llm, LLM):
        return {"kind": OBJECT}
    if llm is None:
        return {}
    if isinstance(llm, LLMSettings | Mapping):
        return llm
    if isinstance(llm, Path) or (isinstance(llm, str) and llm.endswith(".jsonl")):
        if not Path(llm).is_file():
            raise TranscriptError(
                f"there is no recording {str(llm)!r}. Give a model's name to make a recording; it is written to "
                "transcript.jsonl in the run's folder."
            )
        return {"kind": "replay", "transcript": str(Path(llm).resolve())}
    if isinstance(llm, str) and llm:
        return {"model": llm}
    raise ConfigError(
        f"llm is {llm!r}; give a model's name in litellm's form ('openai/gpt-5'), the path of a recording, settings "
        "({'model': ..., 'api_base': ...}), or an object of rlgpt.llm.base.LLM."
    )


def refuse_wrong_types(
    described: Mapping[str, Any],
    primitives: Any,
    states: StateCodec | None,
    folder: str | Path | None,
    progress: Observer | None,
    overrides: Mapping[str, Any],
) -> None:
    """:raises ConfigError: an argument of ``design()`` has a wrong type, and the error of the configuration would not
    say what to give.
    """
    listed = primitives if isinstance(primitives, Sequence) and not isinstance(primitives, str) else (primitives,)
    named = "a name, such as {!r}, settings ({{'name': ...}}), or an object of {}"
    wanted: list[tuple[str, Any, Any, str]] = [
        ("docs", described["docs"], (str, Path), "a text"),
        ("success", described["success"], (str, Real, Callable), "a rule, the return that counts, or a function"),
        *(("primitives", each, Primitive, "a list of rlgpt.plugin.Primitive") for each in listed),
        *(
            (name, overrides.get(name), (str, Mapping, kind), named.format(example, kind.__name__))
            for name, kind, example in PARTS
        ),
        ("states", states, StateCodec, "an object of rlgpt.plugin.StateCodec"),
        ("folder", folder, str | Path, "the path of a folder"),
        ("progress", progress, Observer, "an object of rlgpt.loop.Observer"),
    ]
    for name, given, kind, valid in wanted:
        if (given is not None or name == "primitives") and not isinstance(given, kind):
            raise ConfigError(
                f"{name}: {given!r:.80} has the type {type(given).__name__}. Give {valid}, or leave it out."
            )


def split(overrides: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split overrides into those that are settings of the configuration and those that are Python objects.

    :returns: the settings, and the objects under the field names of :class:`~rlgpt.config.environment.Objects`.
    """
    settings, objects = dict(overrides), {}
    for name, kind, _ in PARTS:
        if isinstance(overrides.get(name), kind):
            objects[name] = overrides[name]
            settings[name] = {"name": OBJECT}
    watching = overrides.get("observers")
    if isinstance(watching, Observer):
        watching = [watching]
    if isinstance(watching, Sequence) and not isinstance(watching, str):
        objects["observers"] = tuple(o for o in watching if isinstance(o, Observer))
        settings["observers"] = [o for o in watching if not isinstance(o, Observer)]
    return settings, objects
