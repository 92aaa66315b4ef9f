"""Structured replies: text around the JSON value is ignored, and after an unusable value the request is sent again."""

from __future__ import annotations

import doctest
import json
import textwrap
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from rlgpt.domain import CodedAction, Critique, Review, RLSetup, SubAction
from rlgpt.errors import LLMError
from rlgpt.llm import instructions
from rlgpt.llm.base import Message, Reply, Request, RequestKey
from rlgpt.llm.extract import REPLY_LIMIT, find
from rlgpt.llm.structured import UnreadableError, ask, format_instructions, read
from rlgpt.testing.llm import FakeLLM

REQUEST = Request(
    key=RequestKey(task="kitchen/kettle", iteration=2, role="review", sub_action="lift"),
    messages=(Message(role="user", content="judge"),),
    fingerprint="f",
)
GOOD = '{"works": true}'
CODE = 'def run(dx=0.1):\n    view = yield observe()\n    return {"x": view["hand"]}\n'
INDENTED = textwrap.indent(f"```python\n{CODE}```", "   ")


def reply(text: str, finish_reason: str = "stop") -> Reply:
    return Reply(text=text, model="m", finish_reason=finish_reason)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"Sure! Here it is:\n```json\n{GOOD}\n```\nTell me if you need more.",
        f"```\n{GOOD}\n```",
        f"A set like {{1, 2}} or {{}} is no answer, but {GOOD} is, and {{'so': 'on'}}.",
        f'<think>maybe {{"works": false}}?</think>\n{GOOD}',
        f'{{"review": {GOOD}}}',
        f'{{"verdict": "fine"}} {GOOD} {{"works": false}}',
        f'```python\nx = {{"works": false}}\n```\n{GOOD}',
    ],
)
def test_read_finds_the_valid_json_object_in_surrounding_text(text: str) -> None:
    assert read(reply(text), Review) == Review(works=True)


def test_read_accepts_line_breaks_in_json_strings() -> None:
    parsed = read(reply('{"works": false, "findings": [{"problem": "two\nlines", "suggestion": ""}]}'), Review)
    assert parsed.findings[0].problem == "two\nlines"


@pytest.mark.parametrize(
    ("text", "finish", "complaint"),
    [
        ("", "stop", "empty"),
        (" \n", "stop", "empty"),
        ("", "length", "ran out of tokens"),
        ("I'm sorry, but I cannot help with that.", "stop", "declined"),
        ("No.", "content_filter", "declined"),
        ("It works well.", "stop", "no JSON object"),
        ('{"works": tr', "length", "could not be read"),
        ('{"works": true, "findings": [{"problem": "it', "length", "broke off"),
        ('{"works": true, "findings": NaN}', "stop", "NaN"),
        ('{"works": true,, }', "stop", "near"),
        ('{"works": "perhaps"}', "stop", "works: Input should be a valid boolean"),
        ('{"works": true, "mood": 1}', "stop", "mood: there is no such field"),
        ('{"findings": []}', "stop", "works: this field is missing"),
        ('{"works": true, "findings": [{"problem": "\\ud800", "suggestion": ""}]}', "stop", "Unicode"),
        ("x" * (REPLY_LIMIT + 1), "stop", "longer than 200,000"),
    ],
)
def test_read_raises_an_error_with_the_fault_of_an_unusable_reply(text: str, finish: str, complaint: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        read(reply(text, finish), Review)
    assert complaint in str(caught.value)
    assert len(str(caught.value)) < 2000


@pytest.mark.parametrize(
    "text",
    [
        "{" * REPLY_LIMIT,
        '{"a":' * 40_000,
        "[{" * 100_000,
        "```\n" * 50_000,
        "`" * REPLY_LIMIT,
        f"```{'a' * (REPLY_LIMIT - 4)}`",
    ],
)
def test_hostile_reply_of_maximal_length_is_parsed_within_seconds_without_a_result(text: str) -> None:
    began = time.process_time()
    assert find(text).objects == ()
    assert time.process_time() - began < 20


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(JSON)
def test_find_returns_any_json_object_in_prose(value: object) -> None:
    found = find(f"Well: {json.dumps({'value': value})} and so on.")
    assert found.objects == ({"value": value},)


@given(st.text(max_size=300))
def test_read_parses_or_refuses_any_reply_text(text: str) -> None:
    try:
        read(reply(text), Review)
    except UnreadableError as fault:
        assert fault.complaints  # noqa: PT017 - either outcome is right


def action(**changes: object) -> str:
    return json.dumps({"name": "lift", "doc": "lifts", "max_steps": 5, **changes})


@pytest.mark.parametrize(
    "text",
    [
        f"{action()}\n```python\n{CODE}```",
        f"```python\n{CODE}```\n```json\n{action()}\n```",
        f"{action(source='')}\n```py\n{CODE}```",
        f"{action(source='see below')}\n```\n{CODE}```",
        f"```python\ndef run():\n    pass\n```\nbut better\n```python\n{CODE}```\nused so:\n```python\nlift(0.2)\n```"
        f"\n{action()}",
        f"1. the code\n{INDENTED}\n{action()}",
        action(source=CODE),
        f'{{"name": "lift", "doc": "lifts", "max_steps": 5, "source": "\n```python\n{CODE}```\n"}}',
    ],
)
def test_read_takes_the_source_of_an_action_from_the_fenced_code_block(text: str) -> None:
    assert read(reply(text), CodedAction) == CodedAction(name="lift", doc="lifts", source=CODE, max_steps=5)


def test_source_in_the_json_has_priority_over_a_code_block() -> None:
    parsed = read(reply(f"{action(source=CODE)}\n```python\nlift(dx=0.2)\n```"), CodedAction)
    assert parsed.source == CODE


def test_read_refuses_an_unclosed_code_block() -> None:
    with pytest.raises(UnreadableError, match="python block is missing or broke off"):
        read(reply(f"{action()}\n```python\n{CODE}"), CodedAction)


def test_ask_sends_an_unusable_reply_back_with_its_faults() -> None:
    llm = FakeLLM({"review": ["nothing", '{"works": 7.5}', GOOD]})
    answer = ask(llm, REQUEST, Review)
    assert answer.parsed == Review(works=True)
    assert [r.text for r in answer.replies] == ["nothing", '{"works": 7.5}', GOOD]
    assert [r.key.ask for r in llm.requests] == [0, 1, 2]
    assert {r.fingerprint for r in llm.requests} == {"f"}
    last = llm.requests[2].messages
    assert [m.role for m in last] == ["user", "assistant", "user", "assistant", "user"]
    assert "no JSON object" in last[2].content
    assert last[3].content == '{"works": 7.5}'
    assert "works" in last[4].content


def test_ask_sends_the_request_again_when_the_accept_function_refuses_a_reply() -> None:
    llm = FakeLLM({"review": ['{"works": false}', GOOD]})

    def accept(review: Review) -> bool:
        if not review.works:
            raise UnreadableError(["unknown primitive 'fly'"])
        return review.works

    answer = ask(llm, REQUEST, Review, accept)
    assert answer.parsed is True
    assert "- unknown primitive 'fly'" in llm.requests[1].messages[-1].content


def test_ask_error_after_the_last_try_names_the_request_and_the_fault() -> None:
    llm = FakeLLM({"review": ["", "I cannot do that.", '{"works": "no idea"}', GOOD]})
    with pytest.raises(
        LLMError, match=r"review on 'lift', iteration 2.* 3 tries.*works: Input should be a valid boolean"
    ):
        ask(llm, REQUEST, Review)
    assert len(llm.requests) == 3
    assert llm.requests[1].messages[1].content == "(empty)"


def test_ask_does_not_send_back_a_reply_of_a_megabyte() -> None:
    llm = FakeLLM({"review": ["y" * 1_000_000, GOOD]})
    assert ask(llm, REQUEST, Review).parsed.works
    assert sum(len(m.content) for m in llm.requests[1].messages) < 25_000


def test_ask_sends_at_most_20_complaints_of_500_characters_and_the_number_of_the_others() -> None:
    llm = FakeLLM({"review": [json.dumps({"works": True, "x" * 150_000: 1}), GOOD, GOOD]})
    complaints = [f"{n} {'y' * 600}" for n in range(4000)]

    def accept(review: Review) -> Review:
        if len(llm.requests) == 2:
            raise UnreadableError(complaints)
        return review

    ask(llm, REQUEST, Review, accept)
    (_, long, *_), (_, first, *rest, last, _) = (r.messages[-1].content.splitlines() for r in llm.requests[1:])
    assert long == f"- {'x' * 497}..."
    assert first == f"- {complaints[0][:497]}..."
    assert (len(rest), last) == (19, "- 3980 more faults are left out here")


def test_ask_numbers_its_retries_from_the_ask_number_of_the_request() -> None:
    llm = FakeLLM({"review": ["", GOOD]})
    ask(llm, REQUEST.model_copy(update={"key": REQUEST.key.model_copy(update={"ask": 3})}), Review)
    assert [k.ask for k in llm.keys] == [3, 4]


@pytest.mark.parametrize("schema", [SubAction, CodedAction, Critique, Review, RLSetup])
def test_example_in_the_format_instructions_is_a_valid_reply(schema: type) -> None:
    text = format_instructions(schema)
    assert text == format_instructions(schema)
    assert len(text) < 3000
    try:
        read(reply(text.replace("```python\n...", "```python\ndef run(): ...")), schema)
    except (UnreadableError, ValidationError) as fault:
        pytest.fail(f"{fault}\n{text}")


def test_doctest_examples_of_the_format_instructions_pass() -> None:
    failed, tried = doctest.testmod(instructions)
    assert (failed, tried) == (0, 2)
