"""Builds the language model of a run from its settings."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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

__all__ = ["LLMContext", "LLMSettings", "ModelSettings", "build_llm"]


@dataclass(frozen=True)
class LLMContext:
    """The data about the run for which a language model is built. A plugin's factory of language models (hook
    ``rlgpt_llms``) gets an ``LLMContext`` as argument.

    :ivar folder: the run's folder.
    :ivar seed: the run's seed.
    :ivar transcripts: the paths of the recordings that the plugin contains for the task.
    :ivar task: the id of the task, for error messages.
    :ivar recorded: the ids of the tasks for which the plugin has recordings, for error messages.
    """

    folder: Path
    seed: int
    transcripts: Sequence[Path] = ()
    task: str = ""
    recorded: Sequence[str] = ()

    @property
    def journal(self) -> Path:
        """Path of the journal, which is the file with every exchange of the run."""
        return self.folder / "llm.jsonl"

    @property
    def transcript(self) -> Path:
        """Path of the run's own recording. The file exists only if the run makes a recording."""
        return self.folder / "transcript.jsonl"


Factory = Callable[[LLMSettings, LLMContext], LLM]


def build_llm(settings: LLMSettings, context: LLMContext, factory: Factory | None = None) -> Recorder:
    """Build the language model of a run. The attribute ``spending`` of the returned model has the cost of the run's
    exchanges.

    The returned model writes every exchange to the journal, and a resumed run does not repeat a request that the
    journal contains. Unless the setting ``kind`` is ``replay`` or ``live``, the run also makes a recording of the
    replies.

    :param factory: the function that makes the model. Default: :func:`replay` if the setting ``kind`` is ``replay``,
        else :func:`ask`.
    :raises ConfigError: the settings name no model, or the key of the model is missing.
    :raises TranscriptError: there is no recording to replay.
    """
    make = factory or (replay if settings.kind == "replay" else ask)
    llm = make(settings, context)
    if settings.kind != "replay":
        llm = Budgeted(llm, settings.budget, Spending.of(read_exchanges(context.journal)))
    return Recorder(
        llm, context.journal, transcript=None if settings.kind in ("replay", "live") else context.transcript
    )


def replay(settings: LLMSettings, context: LLMContext) -> LLM:
    """Make a model that replays a recording.

    :raises TranscriptError: the task has no recording; the message names the tasks that have recordings.
    """
    which, transcripts = settings.transcript, context.transcripts
    return Replay(choose(which, transcripts, context.seed, context.task, context.recorded))


def ask(settings: LLMSettings, context: LLMContext) -> LLM:
    """Make the models that ``settings`` name. A new run checks immediately whether the API keys of the models are set.

    :raises ConfigError: the settings name no model, or the key of a model is missing.
    """
    seed = context.seed
    default = _with_fallbacks(settings, settings, seed)
    roles = {role: _with_fallbacks(settings, settings.derived(own), seed) for role, own in settings.roles.items()}
    if not read_exchanges(context.journal):
        for model in (default, *roles.values()):
            _check(model)
    return ByRole(default, roles)


def choose(
    which: int | str | None, transcripts: Sequence[Path], seed: int, task: str = "", recorded: Sequence[str] = ()
) -> Path:
    """Choose a recording.

    :param which: the index, the name or the path of the recording (see :class:`LLMSettings`). If ``which`` is None, the
        recording with the index ``seed % n`` of ``n`` recordings is chosen.
    :raises TranscriptError: ``transcripts`` is empty.
    :raises UnknownNameError: neither a recording nor a file has the name ``which``.
    :raises ConfigError: no recording has the index ``which``.
    """
    if isinstance(which, str):
        named = {name: p for p in transcripts for name in (p.name, p.stem)}
        if which in named:
            return named[which]
        if os.path.isfile(which):  # False for a name that no file can have; Path.is_file may raise.
            return Path(which)
        raise UnknownNameError("recording", which, {p.stem for p in transcripts}, "Or give the path of a file.")
    if not transcripts:
        have = ", ".join(sorted(recorded)) or "none"
        raise TranscriptError(
            f"there is no recording of {f'task {task!r}' if task else 'this task'}; tasks with recordings: {have}. "
            "Make one with llm=record llm.model=PROVIDER/MODEL, or give a file with llm.transcript=PATH."
        )
    if which is None:
        return transcripts[seed % len(transcripts)]
    if not 0 <= which < len(transcripts):
        raise ConfigError(f"llm.transcript={which}: there are {len(transcripts)} recordings, numbered from 0.")
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
            "(or openai/NAME with llm.api_base=URL for a server of your own). Without a model, use llm=replay."
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
