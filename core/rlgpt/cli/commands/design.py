"""``rlgpt design``: both loops on an environment without a plugin."""

from __future__ import annotations

import argparse
from pathlib import Path

from rlgpt.errors import ConfigError


def main(arguments: argparse.Namespace) -> int:
    """Run, and say where the bundle lies."""
    from rlgpt.anywhere import design
    from rlgpt.anywhere.model import Model
    from rlgpt.llm.settings import LLMSettings

    docs = Path(arguments.docs) if arguments.docs else None
    if docs is not None and not docs.is_file():
        raise ConfigError(f"--docs {docs}: there is no such file.")
    llm: Model = arguments.llm
    if arguments.api_base:
        llm = LLMSettings(kind="record", model=arguments.llm, api_base=arguments.api_base, timeout=arguments.timeout)
    bundle = design(
        arguments.env,
        arguments.goal,
        llm,
        docs=docs.read_text() if docs is not None else None,
        success=arguments.success,
        budget=arguments.budget,
        seed=arguments.seed,
        folder=arguments.folder,
    )
    tested = bundle.tested_on
    assert tested is not None
    print(f"{len(bundle.actions)} coded actions, success {tested.success_rate:.2f} over {tested.episodes} episodes")
    return 0
