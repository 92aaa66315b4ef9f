"""Prints the configuration for ``--cfg`` as YAML, with the meaning of each key as a comment."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, Field, create_model

from rlgpt.config.components import settings_model
from rlgpt.config.run_config import RunConfig

COLUMN = 40
"""Column in which comments begin."""


def show(config: RunConfig, trainer: Any = None) -> str:
    """The complete configuration of a run as text.

    :param trainer: the factory of the trainer, whose signature documents the trainer's settings.
    """
    model = settings_model(trainer) if trainer else None
    if trainer and model is None:
        fields: Any = {name: (Any, Field(description=text)) for name, text in meanings(trainer).items()}
        model = create_model("Documented", **fields)
    models = {"trainer": model}
    return "\n".join(_lines(config.model_dump(mode="json", by_alias=True), RunConfig, models, ""))


def meanings(factory: Any) -> dict[str, str]:
    """The first clause of each ``:param`` field in the docstring of ``factory``, by the name of the parameter."""
    fields = re.findall(r"^:param (\w+): (.*?)(?=^:|\n\n|\Z)", inspect.getdoc(factory) or "", re.DOTALL | re.MULTILINE)
    texts = {name: " ".join(re.sub(r"\s*\(:\w+:`[^`]*`\)|:\w+:`~|`", "", text).split()) for name, text in fields}
    return {name: re.split(r"[.;:] |\.$", text)[0] for name, text in texts.items()}


def _lines(
    values: Mapping[str, Any], model: type[BaseModel] | None, models: Mapping[str, Any], indent: str
) -> Iterator[str]:
    for key, value in values.items():
        field = None if model is None else next((f for n, f in model.model_fields.items() if key in (n, f.alias)), None)
        comment = field.description if field is not None and field.description else ""
        if isinstance(value, Mapping) and value:
            kind = models.get(key) or (field.annotation if field is not None else None)
            inner = kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None
            yield _commented(f"{indent}{key}:", comment)
            yield from _lines(value, inner, {}, f"{indent}  ")
        else:
            # A JSON value is valid YAML on one line. A plain word needs no quotes.
            text = json.dumps(value, ensure_ascii=False)
            word = isinstance(value, str) and value.replace("/", "a").replace(".", "a").replace("_", "a").isalnum()
            safe = (
                word and value[0].isalpha() and value.lower() not in ("null", "true", "false", "yes", "no", "on", "off")
            )
            yield _commented(f"{indent}{key}: {value if safe else text}", comment)


def _commented(line: str, comment: str) -> str:
    return f"{line:<{COLUMN}} # {comment}" if comment else line
