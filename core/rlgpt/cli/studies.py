"""Reads the section ``study`` of the configuration that Hydra composed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rlgpt.cli.hydra_app import GROUPS
from rlgpt.cli.overrides import parse
from rlgpt.domain.validated import validated
from rlgpt.errors import ConfigError
from rlgpt.studies.study import Study

STUDY = "study"


def taken(values: dict[str, Any]) -> Study | None:
    """Remove the section ``study`` from the composed values and return it. None if there is no such section.

    :raises RlgptError: the section is not valid.
    """
    given = values.pop(STUDY, None)
    return None if given is None else validated(Study, given, STUDY)


def folder_of(study: Study, name: str) -> Path:
    return Path(study.folder or Path("runs", name))


def refuse_conflicts(study: Study, overrides: Sequence[str]) -> None:
    """Check that no override of the command line contradicts the study.

    :raises ConfigError: an override sets a key that the study sets itself, or lists several values.
    """
    own = study.sets()
    for override in map(parse, overrides):
        given = override.key_or_group
        key = f"{given}.{GROUPS[given]}" if given in GROUPS else given
        if override.is_sweep_override():
            raise ConfigError(f"{override.input_line!r} has several values, and this experiment is a sweep of its own.")
        if any(k == key or k.startswith(f"{key}.") or key.startswith(f"{k}.") for k in own):
            raise ConfigError(
                f"{override.input_line!r}: this experiment sets {given} itself, for each of its runs. Choose runs with "
                "study.only='TASK/METHOD' and the number of seeds with study.seeds=N."
            )
