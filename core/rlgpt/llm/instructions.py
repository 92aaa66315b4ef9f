"""Describes, for prompts, the form that a model's reply must have. The description is rendered from the reply's schema,
so that prompt and parser always agree.

The description depends only on names, types, bounds, defaults and descriptions of the fields. The prompt contains the
description, so the prompt's fingerprint depends on it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from pydantic import BaseModel

CODE_FIELD = "source"
"""Name of the field for code. A reply has the text of this field in a fenced Python block after the JSON object."""

_WORDS = {"string": "text", "number": "number", "integer": "whole number", "boolean": "true or false"}


def takes_code(schema: type[BaseModel]) -> bool:
    """Whether replies with the schema ``schema`` contain a fenced Python block."""
    field = schema.model_fields.get(CODE_FIELD)
    return field is not None and field.annotation is str


def format_instructions(
    schema: type[BaseModel],
    *,
    example: bool = True,
    leave_out: Collection[str] = (),
    code: str = "whole",
    defaults: Mapping[str, Any] | None = None,
) -> str:
    """Instructions about the form of a reply, with an example and one line for each field.

    A text field ``source`` is written in a fenced Python block after the JSON, because models make mistakes in code
    inside JSON strings.

    :param example: whether the text contains an example. The instructions need no example if the prompt has another
        example.
    :param leave_out: names of fields of the reply that the instructions do not mention. Each of these fields needs a
        default.
    :param code: words that describe what the Python block of the reply contains.
    :param defaults: default values of fields that the instructions state instead of the defaults in the schema.

    >>> from rlgpt.domain import Review
    >>> print(format_instructions(Review))
    Answer with one JSON object of this form:
    {"works": true, "findings": [{"action": "text", "problem": "text", "suggestion": "text"}]}
    Nothing else comes after it. Fields of the object:
    - works: true or false
    - findings: list; may be left out; each:
      - action: text; may be left out
      - problem: text
      - suggestion: text
    """
    whole = schema.model_json_schema()
    defs = {
        name: _offered(_defaulted(node, defaults or {}), leave_out) for name, node in whole.get("$defs", {}).items()
    }
    takes = takes_code(schema)
    shape = _offered(_defaulted(whole, defaults or {}), {*leave_out, CODE_FIELD} if takes else leave_out)
    form = f" of this form:\n{json.dumps(_example(shape, defs, 0), ensure_ascii=False)}" if example else "."
    lines = [f"Answer with one JSON object{form}"]
    if takes:
        lines.append(
            f"After it one fenced block that holds `{CODE_FIELD}`, the Python code, {code}:\n```python\n...\n```"
        )
    lines.append(f"Nothing else comes after {'them' if takes else 'it'}. Fields of the object:")
    return "\n".join([*lines, *_fields(shape, defs, 0)])


def _defaulted(node: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The schema ``node`` with other defaults of its optional fields."""
    properties, required = node.get("properties", {}), node.get("required", ())
    known = {name: value for name, value in defaults.items() if name in properties and name not in required}
    changed = {name: {**properties[name], "default": value} for name, value in known.items()}
    return {**node, "properties": {**properties, **changed}} if changed else dict(node)


def _offered(node: Mapping[str, Any], leave_out: Collection[str]) -> dict[str, Any]:
    properties = {name: child for name, child in node.get("properties", {}).items() if name not in leave_out}
    return {**node, "properties": properties} if properties else dict(node)


def _resolve(node: Mapping[str, Any], defs: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema ``node`` with its reference resolved, and with the key ``nullable`` for a type ``| None``. Description
    and default of the resolved schema are those of ``node``.
    """
    outer = {k: v for k, v in node.items() if k in ("description", "default", "examples")}
    while True:
        if "$ref" in node:
            node = defs[node["$ref"].rsplit("/", 1)[1]]
        elif len(kinds := [n for n in node.get("anyOf", ()) if n.get("type") != "null"]) == 1:
            outer["nullable"] = len(node["anyOf"]) == 2
            node = kinds[0]
        else:
            return {**{k: v for k, v in node.items() if k != "description" or "properties" not in node}, **outer}


def _example(node: Mapping[str, Any], defs: Mapping[str, Any], depth: int) -> Any:
    node = _resolve(node, defs)
    if node.get("examples"):
        return node["examples"][0]
    if node.get("nullable") and "default" in node:
        return node["default"]
    if "properties" in node and depth < 5:
        return {name: _example(child, defs, depth + 1) for name, child in node["properties"].items()}
    if "enum" in node or "const" in node:
        return node.get("const", node.get("enum", [None])[0])
    if isinstance(node.get("default"), bool | int | float) or node.get("default"):
        return node["default"]
    match node.get("type"):
        case "string":
            return "a_name" if "pattern" in node else "text"
        case "integer" | "number":
            low = node.get("minimum", node.get("exclusiveMinimum"))
            return 1 if low is None or "minimum" not in node else low
        case "boolean":
            return True
        case "array":
            return [_example(node.get("items", {}), defs, depth + 1)] if depth < 5 else []
        case "object":
            value = node.get("additionalProperties")
            return {"name": _example(value, defs, depth + 1)} if isinstance(value, dict) else {}
    return 1.0 if any(n.get("type") == "number" for n in node.get("anyOf", ())) else "value"


def _fields(node: Mapping[str, Any], defs: Mapping[str, Any], depth: int) -> list[str]:
    lines = []
    required = node.get("required", ())
    for name, raw in node["properties"].items():
        child = _resolve(raw, defs)
        parts = [_kind(child, defs) + (" or null" if child.get("nullable") else "")]
        if name not in required:
            default = child.get("default")
            plain = isinstance(default, bool | int | float) or (isinstance(default, str) and default)
            plain = plain or (default is None and bool(child.get("nullable")))
            parts.append(f"may be left out, then {json.dumps(default)}" if plain else "may be left out")
        if child.get("description"):
            parts.append(" ".join(str(child["description"]).split()).replace("None", "null"))
        inner = _inner(child, defs)
        nested = inner is not None and depth < 4
        more = "" if not nested else "; with:" if "properties" in child else "; each:"
        lines.append(f"{'  ' * depth}- {name}: {'; '.join(parts)}{more}")
        if nested and inner is not None:
            lines += _fields(inner, defs, depth + 1)
    return lines


def _inner(node: Mapping[str, Any], defs: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The schema of the object whose fields are listed, which is ``node`` or the schema of its items."""
    for candidate in (node, node.get("items"), node.get("additionalProperties")):
        if isinstance(candidate, Mapping) and "properties" in (found := _resolve(candidate, defs)):
            return found
    return None


def _kind(node: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    if "enum" in node or "const" in node:
        return "one of " + ", ".join(json.dumps(v) for v in node.get("enum", [node.get("const")]))
    match node.get("type"):
        case "array":
            items = _resolve(node.get("items", {}), defs)
            size = _bounds(node, "minItems", "maxItems", " of them")
            return f"list{size}" if "properties" in items else f"list of {_kind(items, defs)}{size}"
        case "object" if isinstance(value := node.get("additionalProperties"), Mapping):
            return f"object: name -> {_kind(_resolve(value, defs), defs)}"
        case "object":
            return "object"
        case "string" if "pattern" in node:
            return f"text that matches {node['pattern']}"
        case str(kind):
            length = _bounds(node, "minLength", "maxLength", " characters")
            low = f", above {node['exclusiveMinimum']:g}" if "exclusiveMinimum" in node else ""
            return _WORDS.get(kind, kind) + length + low + _bounds(node, "minimum", "maximum", "")
    kinds = [_kind(_resolve(n, defs), defs) for n in node.get("anyOf", ())]
    return " or ".join(dict.fromkeys(kinds)) if kinds and len(kinds) < 6 else "any JSON value"


def _bounds(node: Mapping[str, Any], low: str, high: str, unit: str) -> str:
    words = [f"{word} {node[key]:g}" for word, key in (("at least", low), ("at most", high)) if key in node]
    return f", {' and '.join(words)}{unit}" if words else ""
