"""``rlgpt design``: both loops on an environment without a plugin."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlgpt.errors import ConfigError

if TYPE_CHECKING:
    from rlgpt.domain import Bundle
    from rlgpt.plugin.defaults import Named


def main(arguments: argparse.Namespace) -> int:
    """Run, and say where the bundle lies."""
    import rlgpt
    from rlgpt.design.model import Model
    from rlgpt.llm.settings import LLMSettings

    docs = Path(arguments.docs) if arguments.docs else None
    if docs is not None and not docs.is_file():
        raise ConfigError(f"--docs {docs}: there is no such file.")
    labels = named("--labels", arguments.labels)
    llm: Model | None = arguments.llm
    if arguments.api_base:
        if arguments.llm is None:
            raise ConfigError("--api-base without --llm: name the model that is served there, --llm openai/NAME.")
        llm = LLMSettings(kind="record", model=arguments.llm, api_base=arguments.api_base, timeout=arguments.timeout)
    bundle = rlgpt.design(
        arguments.env,
        arguments.goal,
        llm,
        docs=docs.read_text() if docs is not None else None,
        labels=labels,
        observations=named("--observations", arguments.observations),
        idle=action(arguments.idle, labels),
        success=arguments.success,
        horizon=arguments.horizon,
        budget=arguments.budget,
        trainer=arguments.trainer,
        budgets=budgets(arguments.sandbox),
        agents=arguments.agents,
        seed=arguments.seed,
        folder=arguments.folder,
        iterations=arguments.iterations,
        selection_episodes=arguments.selection_episodes,
    )
    print(told(bundle))
    return 0


def told(bundle: Bundle) -> str:
    """One line on what a run came to."""
    tested = bundle.tested_on
    assert tested is not None
    return f"{len(bundle.actions)} coded actions, success {tested.success_rate:.2f} over {tested.episodes} episodes"


def named(option: str, given: str | None) -> Named | None:
    """Names that are separated by commas, or lie in a JSON file, there perhaps with their meanings.

    :raises ConfigError: there is no such file, or it holds something else.
    """
    if given is None or not given.endswith(".json"):
        return None if given is None else [name.strip() for name in given.split(",")]
    try:
        found = json.loads(Path(given).read_text())
    except (OSError, ValueError) as fault:
        raise ConfigError(f"{option} {given} cannot be read: {fault}.") from fault
    told = found.values() if isinstance(found, dict) else found if isinstance(found, list) else [None]
    if not all(isinstance(text, str) for text in told):
        raise ConfigError(f'{option} {given}: give a list of names, or {{"name": "meaning", ...}}, all text.')
    return found  # type: ignore[no-any-return]


def action(given: str | None, labels: Named | None) -> Any:
    """One of the labels, or else an action as JSON, or else a label that the environment gives.

    :raises ConfigError: it begins as JSON does and is none.
    """
    if given is None or given in (labels or ()):
        return given
    try:
        return json.loads(given)
    except ValueError as fault:
        if given.lstrip()[:1] in ("[", "{", '"'):
            raise ConfigError(
                f"--idle {given}: this is no JSON ({fault}). Give a label, or an action as JSON."
            ) from None
        return given


def budgets(given: Sequence[str]) -> dict[str, str]:
    """``["NAME=VALUE", ...]`` by name.

    :raises ConfigError: one has another form.
    """
    pairs = [text.partition("=") for text in given]
    for text, (name, _, value) in zip(given, pairs, strict=True):
        if not (name and value):
            raise ConfigError(f"--sandbox {text}: give BUDGET=VALUE, such as view_bytes=16384.")
    return {name: value for name, _, value in pairs}
