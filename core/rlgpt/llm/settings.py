"""The settings of language models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import ConfigDict, Field, field_validator, model_validator

from rlgpt.domain import Name, Plain, Value
from rlgpt.llm.base import Role
from rlgpt.llm.budget import LLMBudget

Price = Annotated[float, Field(ge=0, le=1e6)]
"""Dollars per million tokens."""


class ModelSettings(Value):
    """The settings of one language model. The class :class:`rlgpt.llm.litellm_llm.LiteLLM` documents the fields."""

    model: str | None = Field(default=None, description="PROVIDER/NAME in litellm's form (openai/gpt-5, ollama/qwen3)")
    api_base: str | None = Field(default=None, description="URL of your own server, which needs no key")
    key_env: str | None = Field(
        default=None, description="environment variable with the key; null: the provider's own, such as OPENAI_API_KEY"
    )
    temperature: float | None = Field(
        default=None, ge=0, allow_inf_nan=False, description="sampling temperature; null: the provider's default"
    )
    max_tokens: int | None = Field(
        default=None, ge=1, description="maximal number of tokens of one reply; null: the provider's default"
    )
    timeout: float = Field(default=120.0, gt=0, le=86_400, description="maximal duration of one request, in seconds")
    retries: int = Field(
        default=4, ge=0, le=20, description="number of retries of a failed request, with pauses between them"
    )
    supports_vision: bool = Field(default=False, description="whether the model accepts images")
    price: tuple[Price, Price] | None = Field(
        default=None, description="dollars per million prompt and completion tokens"
    )
    extra: Mapping[str, Plain] = Field(default_factory=dict, description="further arguments for the provider")

    @field_validator("api_base")
    @classmethod
    def _address(cls, given: str | None) -> str | None:
        if given is not None and not given.startswith(("http://", "https://")):
            raise ValueError("write a URL such as http://localhost:8000/v1")
        return given


class LLMSettings(ModelSettings):
    """The settings of the configuration's group ``llm``.

    :ivar kind: how replies are made. ``replay`` replays a recording and needs no API key, ``live`` asks a model, and
        ``record`` asks a model and writes a recording into the run's folder. A plugin may offer further kinds of
        language models (hook ``rlgpt_llms``). The default is ``record`` if a model or ``_target_`` is given, and
        otherwise ``replay``.
    :ivar target: dotted name of a factory of language models, which replaces ``kind``. In files and on the command
        line, this field is written ``_target_``. The factory has the signature that the hook ``rlgpt_llms`` demands.
    :ivar roles: other models for some roles, each given by its name, or by the settings that differ from those of the
        main model. Another model does not inherit ``price``; a model of another provider also does not inherit
        ``api_base``, ``key_env`` and ``extra``.
    :ivar fallbacks: language models that are asked if the main model gives no reply, each given as in ``roles``.
    :ivar transcript: the recording that a run replays, as the index or the file name (with or without ``.jsonl``) of
        one of the plugin's recordings, or as a path. If ``transcript`` is None, the run's ``seed`` chooses one of the
        plugin's recordings.
    """

    model_config = ConfigDict(populate_by_name=True)

    kind: Name = Field(default="replay", description="replay, record, live, or a name that a plugin offers")
    target: str | None = Field(
        default=None, alias="_target_", description="dotted name of the factory that makes the model"
    )
    roles: Mapping[Role, ModelSettings] = Field(
        default_factory=dict, description="for each role: another model, or its settings"
    )
    fallbacks: tuple[ModelSettings, ...] = Field(
        default=(), description="models that are asked if the first model fails"
    )
    budget: LLMBudget = Field(
        default=LLMBudget(),
        description="limits of the whole run; a try without a reply (timeout) does not count, but may cost money",
    )
    transcript: int | str | None = Field(
        default=None, description="the recording to replay: index, name or path; null: the seed chooses"
    )

    @model_validator(mode="before")
    @classmethod
    def _named(cls, data: Any) -> Any:
        """Complete the given settings. A text instead of settings is the name of a language model, and a text instead
        of a list of fallbacks is the only fallback. If the user gives a model but no ``kind``, the kind is ``record``.
        """
        if not isinstance(data, Mapping):
            return data
        made = data.get("model") or data.get("_target_") or data.get("target")
        kind = data.get("kind") or ("record" if made else "replay")
        roles, fallbacks = data.get("roles") or {}, data.get("fallbacks") or ()
        if isinstance(roles, Mapping):
            roles = {k: _model(v) for k, v in roles.items()}
        if isinstance(fallbacks, str):
            fallbacks = [fallbacks]
        if isinstance(fallbacks, Sequence):
            fallbacks = [_model(v) for v in fallbacks]
        return {**data, "kind": kind, "roles": roles, "fallbacks": fallbacks}

    @field_validator("fallbacks", mode="after")
    @classmethod
    def _models(cls, value: tuple[ModelSettings, ...]) -> tuple[ModelSettings, ...]:
        if any(f.model is None for f in value):
            raise ValueError("every fallback needs a model")
        return value

    def derived(self, other: ModelSettings) -> ModelSettings:
        """The model settings ``other``, completed by the settings of this object. Fields that depend on the provider
        are completed only for the same provider, and the price only for the same model.
        """
        inherited = {name: getattr(self, name) for name in ModelSettings.model_fields}
        if other.model is not None and _provider(other.model) != _provider(self.model or ""):
            for name in ("api_base", "key_env", "extra"):
                inherited.pop(name)
        if other.model is not None and other.model != self.model:
            inherited.pop("price", None)
        return ModelSettings(**{**inherited, **{name: getattr(other, name) for name in other.model_fields_set}})


def _model(value: Any) -> Any:
    return {"model": value} if isinstance(value, str) else value


def _provider(model: str) -> str:
    return model.split("/", 1)[0] if "/" in model else ""
