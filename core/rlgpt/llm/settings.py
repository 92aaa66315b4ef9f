"""What the configuration says about language models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from rlgpt.domain import Plain, Value
from rlgpt.llm.base import Role
from rlgpt.llm.budget import LLMBudget


class ModelSettings(Value):
    """One model and how to ask it. See :class:`rlgpt.llm.litellm_llm.LiteLLM` for each field."""

    model: str | None = None
    api_base: str | None = None
    key_env: str | None = Field(default=None, description="environment variable of the key; None: the provider's own")
    temperature: float | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=1)
    timeout: float = Field(default=120.0, gt=0, description="seconds a try may take")
    retries: int = Field(default=4, ge=0, le=20)
    supports_vision: bool = Field(default=False, description="whether the model takes images")
    price: tuple[float, float] | None = Field(default=None, description="dollars per million prompt, completion tokens")
    extra: Mapping[str, Plain] = Field(default_factory=dict)


class LLMSettings(ModelSettings):
    """The ``llm`` group of the configuration.

    :ivar kind: ``replay`` plays a transcript and needs no key; ``live`` asks a model; ``record`` asks one and keeps a
        transcript of the run in its folder.
    :ivar roles: another model for a role: a name, or the settings that differ from those here.
    :ivar fallbacks: models asked where the first gives no reply: names, or settings that differ. One of another
        provider does not inherit ``api_base``, ``key_env``, ``price`` and ``extra``.
    :ivar transcript: which recording is replayed: its index, its file's name (with or without ``.jsonl``) among the
        plugin's, or a path. None: ``seed`` chooses among the plugin's.
    """

    kind: Literal["replay", "record", "live"] = "replay"
    roles: Mapping[Role, ModelSettings] = Field(default_factory=dict)
    fallbacks: tuple[ModelSettings, ...] = ()
    budget: LLMBudget = LLMBudget()
    transcript: int | str | None = None

    @model_validator(mode="before")
    @classmethod
    def _named(cls, data: Any) -> Any:
        """A name alone stands for settings that differ in the model only."""
        if not isinstance(data, Mapping):
            return data
        roles = {k: _model(v) for k, v in (data.get("roles") or {}).items()}
        return {**data, "roles": roles, "fallbacks": [_model(v) for v in data.get("fallbacks") or ()]}

    @field_validator("fallbacks", mode="after")
    @classmethod
    def _models(cls, value: tuple[ModelSettings, ...]) -> tuple[ModelSettings, ...]:
        if any(f.model is None for f in value):
            raise ValueError("every fallback needs a model")
        return value

    def derived(self, other: ModelSettings) -> ModelSettings:
        """``other`` with what it does not set taken from here (its provider's own things only from the same one)."""
        mine = {name: getattr(self, name) for name in ModelSettings.model_fields}
        if other.model is not None and _provider(other.model) != _provider(self.model or ""):
            for name in ("api_base", "key_env", "extra"):
                mine.pop(name)
        if other.model is not None and other.model != self.model:
            mine.pop("price", None)
        return ModelSettings(**{**mine, **{name: getattr(other, name) for name in other.model_fields_set}})


def _model(value: Any) -> Any:
    return {"model": value} if isinstance(value, str) else value


def _provider(model: str) -> str:
    return model.split("/", 1)[0] if "/" in model else ""
