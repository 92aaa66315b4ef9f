"""The language model of a run, made from its settings."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from rlgpt.errors import ConfigError, TranscriptError, UnknownNameError
from rlgpt.llm.base import LLM
from rlgpt.llm.budget import Budgeted, Spending
from rlgpt.llm.exchange import read_exchanges
from rlgpt.llm.litellm_llm import LiteLLM
from rlgpt.llm.record import Recorder
from rlgpt.llm.replay import Replay
from rlgpt.llm.roles import ByRole, WithFallbacks
from rlgpt.llm.settings import LLMSettings, ModelSettings

__all__ = ["LLMSettings", "ModelSettings", "build_llm"]


def build_llm(
    settings: LLMSettings,
    *,
    folder: Path,
    transcripts: Sequence[Path],
    seed: int,
    task: str = "",
    recorded: Sequence[str] = (),
) -> Recorder:
    """What the agents of a run ask. Every exchange goes to ``folder / "llm.jsonl"``, and is not asked again on resume;
    ``Recorder.spending`` tells what was spent. With ``kind="record"`` a transcript is kept at
    ``folder / "transcript.jsonl"``.

    Keys are looked for at once in a new run; a resumed one may have everything it needs on record.

    :param transcripts: what the plugin ships of the task.
    :param task: the task, for messages; ``recorded``: the tasks that have transcripts, for messages.
    :raises ConfigError: no model is named, or its key is missing.
    :raises TranscriptError: nothing to replay; says which tasks have transcripts and how to record one.
    """
    journal = folder / "llm.jsonl"
    if settings.kind == "replay":
        return Recorder(Replay(choose(settings.transcript, transcripts, seed, task, recorded)), journal)
    models = [_with_fallbacks(settings, settings, seed)]
    roles = {role: _with_fallbacks(settings, settings.derived(own), seed) for role, own in settings.roles.items()}
    asked = read_exchanges(journal)
    if not asked:
        for model in (*models, *roles.values()):
            _check(model)
    live = Budgeted(ByRole(models[0], roles), settings.budget, Spending.of(asked))
    return Recorder(live, journal, transcript=folder / "transcript.jsonl" if settings.kind == "record" else None)


def choose(
    which: int | str | None, transcripts: Sequence[Path], seed: int, task: str = "", recorded: Sequence[str] = ()
) -> Path:
    """The transcript that ``which`` names (see :class:`LLMSettings`); None: the ``seed % n``-th."""
    if isinstance(which, str):
        named = {name: p for p in transcripts for name in (p.name, p.stem)}
        if which in named:
            return named[which]
        if Path(which).is_file():
            return Path(which)
        raise UnknownNameError("transcript", which, {p.stem for p in transcripts}, "Or give the path of a file.")
    if not transcripts:
        have = ", ".join(sorted(recorded)) or "none"
        raise TranscriptError(
            f"there is no transcript of {f'task {task!r}' if task else 'this task'}; tasks that have some: {have}. "
            "Record one with llm=record llm.model=PROVIDER/MODEL, or give a file with llm.transcript=PATH."
        )
    if which is None:
        return transcripts[seed % len(transcripts)]
    if not 0 <= which < len(transcripts):
        raise ConfigError(f"llm.transcript={which}: there are {len(transcripts)}, numbered from 0.")
    return transcripts[which]


def _with_fallbacks(settings: LLMSettings, own: ModelSettings, seed: int) -> LLM:
    first = _model(own, seed)
    if not settings.fallbacks:
        return first
    return WithFallbacks(first, *(_model(settings.derived(f), seed) for f in settings.fallbacks))


def _model(own: ModelSettings, seed: int) -> LiteLLM:
    if not own.model:
        raise ConfigError(
            "llm=live and llm=record need a model: llm.model=PROVIDER/MODEL, like openai/gpt-4o "
            "(or openai/NAME with llm.api_base=URL for a server of your own). Without one, use llm=replay."
        )
    return LiteLLM(
        own.model,
        api_base=own.api_base,
        key_env=own.key_env,
        temperature=own.temperature,
        max_tokens=own.max_tokens,
        timeout=own.timeout,
        retries=own.retries,
        supports_vision=own.supports_vision,
        price=own.price,
        extra=own.extra,
        rng=random.Random(seed),
    )


def _check(llm: LLM) -> None:
    for one in llm.llms if isinstance(llm, WithFallbacks) else (llm,):
        if isinstance(one, LiteLLM):
            one.check()
