"""The command ``rlgpt design`` starts a run on an environment that has no plugin."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from rlgpt.cli.commands.train import launch
from rlgpt.errors import ConfigError


def main(arguments: argparse.Namespace) -> int:
    """Start a run on the environment that the flags of ``rlgpt design`` describe. All other settings work as in ``rlgpt
    train``.
    """
    labels = names("--labels", arguments.labels)
    environment = {
        "id": arguments.env,
        "goal": arguments.goal,
        "docs": text("--docs", arguments.docs),
        "labels": labels,
        "observations": names("--observations", arguments.observations),
        "success": number_or_rule(arguments.success),
        "score": arguments.score,
        "metrics": None if arguments.metrics is None else [key.strip() for key in arguments.metrics.split(",")],
        "trial": arguments.trial,
        "horizon": arguments.horizon,
        "idle": action(arguments.idle, labels),
    }
    return launch(arguments, {"environment": environment, "folder": arguments.folder})


def number_or_rule(given: str | None) -> float | str | None:
    """Parse the value of ``--success``. A number is the return that counts as success, and any other text is a rule."""
    try:
        return None if given is None else float(given)
    except ValueError:
        return given


def text(option: str, given: str | None) -> str | None:
    """Read the text of a file.

    :param option: the option of the command line that names the file, for error messages.
    :raises ConfigError: the file does not exist, or is not UTF-8.
    """
    if given is None:
        return None
    try:
        return Path(given).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise ConfigError(f"{option} {given} cannot be read: {fault}. Give the path of a UTF-8 text file.") from fault


def names(option: str, given: str | None) -> list[str] | dict[str, str] | None:
    """Parse names. ``given`` has names separated by commas, or is the path of a JSON file with a list of names, or with
    an object that has a meaning for each name.

    :param option: the option of the command line that gives the names, for error messages.
    :raises ConfigError: the JSON file with names does not exist, or its content has another form.
    """
    if given is None or not given.endswith(".json"):
        return None if given is None else [name.strip() for name in given.split(",")]
    try:
        found = json.loads(Path(given).read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        raise ConfigError(f"{option} {given} cannot be read: {fault}.") from fault
    if not _are_names(found, depth=2):
        raise ConfigError(
            f'{option} {given}: give a list of names, or an object with a meaning for each name: {{"name": "meaning", '
            '...}. For a Dict space, give {"part": "meaning", "part": ["name", ...]}. Names and meanings are text.'
        )
    return found  # type: ignore[no-any-return]


def _are_names(found: Any, depth: int) -> bool:
    texts = found.values() if isinstance(found, dict) else found if isinstance(found, list) else [None]
    return all(
        isinstance(t, str) or (isinstance(found, dict) and depth > 1 and _are_names(t, depth - 1)) for t in texts
    )


def action(given: str | None, labels: list[str] | dict[str, str] | None) -> Any:
    """Parse the value of ``--idle``, which is a label, or an action as JSON.

    :raises ConfigError: the value of ``--idle`` begins like JSON but is not valid JSON.
    """
    if given is None or given in (labels or ()):
        return given
    try:
        return json.loads(given)
    except ValueError as fault:
        if given.lstrip()[:1] in ("[", "{", '"'):
            raise ConfigError(f"--idle {given} is not JSON ({fault}). Give a label, or an action as JSON.") from None
        return given
