"""What ``llm=`` of ``design()`` may be, as a language model whose every exchange is on record."""

from __future__ import annotations

from pathlib import Path

from rlgpt.errors import ConfigError, TranscriptError
from rlgpt.llm.base import LLM
from rlgpt.llm.build import build_llm
from rlgpt.llm.litellm_llm import MissingKeyError
from rlgpt.llm.record import Recorder
from rlgpt.llm.settings import LLMSettings

Model = str | Path | LLM | LLMSettings
"""A model's name as litellm knows it (``openai/gpt-5``), a transcript (``.jsonl``) to replay, a language model, or the
settings of the ``llm`` group of the configuration."""


def recorded(llm: Model, *, folder: Path, seed: int, task: str) -> Recorder:
    """The language model of a run. What it says goes to ``folder / "llm.jsonl"`` and, unless it is a replay, to
    ``folder / "transcript.jsonl"``, which ``llm=`` takes the next time.

    :raises ConfigError: ``llm`` is none of :data:`Model`, or the key of its provider is missing.
    :raises TranscriptError: there is no such transcript.
    """
    if isinstance(llm, LLM):
        return Recorder(llm, folder / "llm.jsonl", transcript=folder / "transcript.jsonl")
    if isinstance(llm, LLMSettings):
        settings = llm
    elif isinstance(llm, Path) or (isinstance(llm, str) and llm.endswith(".jsonl")):
        if not Path(llm).is_file():
            raise TranscriptError(
                f"there is no transcript {str(llm)!r}. Give a model's name to record one: it is kept as "
                "transcript.jsonl in the run's folder."
            )
        settings = LLMSettings(kind="replay", transcript=str(llm))
    elif isinstance(llm, str) and llm:
        settings = LLMSettings(kind="record", model=llm)
    else:
        raise ConfigError(
            f"llm is {llm!r}; give a model's name as litellm knows it ('openai/gpt-5'), the path of a transcript, or "
            "an object of rlgpt.llm.base.LLM."
        )
    try:
        return build_llm(settings, folder=folder, transcripts=(), seed=seed, task=task)
    except MissingKeyError as fault:
        raise ConfigError(
            f"{fault.needed} Without a key: llm='FILE.jsonl', a transcript to replay (--llm FILE.jsonl); a server of "
            "your own, LLMSettings(kind='record', model='openai/NAME', api_base=URL) (--llm openai/NAME --api-base "
            "URL); or no language model, agents='rl_only' (--agents rl_only)."
        ) from fault
