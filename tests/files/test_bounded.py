"""JSON from a stranger: invalid or excessive input is refused with a message, at any size."""

from __future__ import annotations

import json
import time

import pytest
from pydantic import BaseModel, TypeAdapter
from rlgpt.domain import Plain
from rlgpt.errors import RunError
from rlgpt.files import read_json

PLAIN: TypeAdapter[Plain] = TypeAdapter(Plain)


class Point(BaseModel):
    x: int


@pytest.mark.parametrize(
    "text", ['{"a": [1, -2.5, "x\\"[[[", null, true], "b": {}}', "[]", '"[[["', "1", "-9223372036854775808"]
)
def test_ordinary_json_is_read(text: str) -> None:
    assert read_json(text, PLAIN, "file", RunError) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("9" * 5000, "5000 digits"),
        ("9223372036854775808", "64 bits"),
        ("1." + "0" * 5000, "characters"),
        ("[" * 101 + "]" * 101, "nested more than 100 deep"),
        ("[" * 1_000_000, "nested more than 100 deep"),
        ('{"a":' * 101 + "1" + "}" * 101, "nested more than 100 deep"),
        ('{"a": 1, "a": 2}', "'a' occurs twice"),
        ('"\\ud800"', "hex escape"),
        ('"abc', "Unterminated"),
        ("", "Expecting value"),
        ("[1,]", "Expecting value|Illegal trailing comma"),  # Python 3.13 gives the second message.
        ("[" + "[]," * 3_000_000 + "[]]", "more than"),
    ],
)
def test_invalid_json_is_refused_with_a_reason(text: str, word: str) -> None:
    with pytest.raises(RunError, match=word) as caught:
        read_json(text, PLAIN, "run.json", RunError, "Restore it.")
    message = str(caught.value)
    assert message.startswith("run.json does not hold a valid value: ")
    assert message.endswith("Restore it.")
    assert len(message) < 500


def test_error_about_an_invalid_value_names_its_place() -> None:
    with pytest.raises(RunError, match=r"run.json does not hold a valid Point: x: "):
        read_json('{"x": "y"}', Point, "run.json", RunError)


@pytest.mark.parametrize("piece", ['"', '\\"', '"\\', '\\\\"', '["', "[]"])
def test_json_check_takes_linear_time(piece: str) -> None:
    """With quadratic time this test would take hours."""
    began = time.process_time()
    with pytest.raises(RunError):
        read_json('{"x": ' + piece * 500_000, PLAIN, "file", RunError)
    assert time.process_time() - began < 60
