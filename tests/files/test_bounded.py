"""JSON from a folder made by others: invalid or too large input of any size raises an error with the reason."""

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
def test_read_json_returns_valid_json(text: str) -> None:
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
def test_read_json_refuses_invalid_or_too_large_json_with_a_reason(text: str, word: str) -> None:
    with pytest.raises(RunError, match=word) as caught:
        read_json(text, PLAIN, "run.json", RunError, "Restore it.")
    message = str(caught.value)
    assert message.startswith("run.json does not contain a valid value: ")
    assert message.endswith("Restore it.")
    assert len(message) < 500


def test_read_json_error_names_the_file_and_the_key_of_an_invalid_value() -> None:
    with pytest.raises(RunError, match=r"run.json does not contain a valid Point: x: "):
        read_json('{"x": "y"}', Point, "run.json", RunError)


@pytest.mark.parametrize("piece", ['"', '\\"', '"\\', '\\\\"', '["', "[]"])
def test_read_json_takes_linear_time_on_invalid_json(piece: str) -> None:
    """If the time were quadratic in the length, this test would take hours."""
    began = time.process_time()
    with pytest.raises(RunError):
        read_json('{"x": ' + piece * 500_000, PLAIN, "file", RunError)
    assert time.process_time() - began < 60
