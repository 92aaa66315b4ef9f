"""An episode continues after any message of a guest at any moment. Each message becomes a request or a verdict.

``tests/sandbox/test_replies.py`` tests single replies. In this module a guest that sends arbitrary messages plays whole
decisions through the host and the extended environment.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, get_args

import pytest
from hostile_programs import BENIGN
from hostile_stage import Stage
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from rlgpt.domain import Verdict
from rlgpt.domain.events import Ending, VerdictKind
from rlgpt.sandbox import Sandbox, SandboxLimits, replies, runtime
from rlgpt.sandbox.checks import Refused
from rlgpt.sandbox.guest.floats import MARK

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["direction", "cells", "x"]), SCALARS | st.sampled_from(["up", "down", 1, 6, 7, 2.0]), max_size=3
)
REQUESTS = st.tuples(st.sampled_from(["go", "use", "observe", "win"]), ARGUMENTS, SCALARS).map(list)
ASKS = st.tuples(st.just("ask"), st.booleans() | SCALARS, st.lists(REQUESTS | JSON, max_size=18) | JSON)
ERRORS = st.tuples(st.just("error"), st.sampled_from(get_args(VerdictKind)) | st.text(), st.text() | JSON, SCALARS)
WORDS = st.sampled_from(
    [
        *('["done"]', '["loaded",true,true]', '["loaded",false,false]', '["answer",true]', '["answer",false]'),
        *('["memory",{"a":{"":["set",1]}}]', '["memory",{"":["tuple"]}]', '["memory",{"":["dict",[[],1]]}]'),
    ]
)
MESSAGES = (ASKS | ERRORS | JSON).map(json.dumps) | WORDS


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """Draw a message in which a part is removed, repeated or replaced."""
    text = draw(MESSAGES)
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, len(text)))
    return text[:start] + draw(st.text(max_size=3) | st.just(text[start:end] * 2)) + text[end:]


TEXTS = MESSAGES | damaged() | st.text(max_size=50) | st.sampled_from(["[" * 4000, "9" * 4000, " " * 5000, "\ud800"])


@st.composite
def packed(draw: st.DrawFn) -> bytes:
    """Draw packed requests, whose numbers may have another length than the form says."""
    form = draw(st.sampled_from(["q", "d", "?", "qd", ""]))
    items = draw(
        st.lists(st.tuples(st.just("go"), SCALARS, st.just(form), *[st.just("cells")] * len(form)), max_size=3)
    )
    head = json.dumps(["ask", draw(st.booleans()), items]) if draw(st.booleans()) else draw(damaged())
    return MARK + head.encode("utf-8", "surrogatepass") + MARK + draw(st.binary(max_size=24))


SAID = TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass")) | packed() | st.binary(max_size=50)


class Liar:
    """A fake instance that sends the messages of a script, and then empty messages."""

    script: Iterator[bytes] = iter(())

    def __init__(self, limits: SandboxLimits) -> None:
        self.fuel_used = 1

    def call(self, export: str, *arguments: str | int, fuel: int, exceeded: str | None = None) -> bytes:
        if export == "prepare-library":
            return b'["ready"]'
        return next(self.script, b"")


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """A stage whose hostile action has a ``can_start``, so that every export is used."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runtime, "Instance", Liar)
        Liar.script = iter([b'["loaded",true,true]', b'["loaded",false,false]', b'["loaded",false,false]'])
        yield Stage(f"def can_start(view): ...\n{BENIGN}", Sandbox())


READY = (b'["loaded",true,true]', b'["answer",true]')
"""The messages with which a decision can begin."""


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from([READY, READY, ()]), st.lists(SAID, max_size=12))
@example(READY, [b'["ask",false,[["go",{"cells":1e300,"direction":"up"},null]]]'])
@example(READY, [b'["ask",true,[["use",{},1],["observe",{},1]]]', b'["ask",false,[]]'])
@example(READY, [MARK + b'["ask",false,[["go",1,"q","cells"]]]' + MARK + bytes(8)])
def test_episode_continues_with_a_guest_that_sends_any_message(
    stage: Stage, ready: Sequence[bytes], said: Sequence[bytes]
) -> None:
    Liar.script = iter((*ready, *said))
    for decision in stage.attack():
        assert decision.ended in get_args(Ending)
        assert decision.duration >= 1
        decision.model_dump_json()
    for verdict in stage.verdicts:
        assert Verdict.model_validate_json(verdict.model_dump_json()) == verdict


@given(SAID)
@pytest.mark.parametrize(
    ("read", "kind"), [(replies.loaded, replies.Loaded), (replies.answer, bool), (replies.memory, str)]
)
def test_any_reply_of_a_guest_is_read_or_refused(read: Any, kind: type, said: bytes) -> None:
    try:
        assert isinstance(read(said, SandboxLimits()), kind)
    except Refused as refused:
        Verdict(kind=refused.kind, action="a", message=refused.message[:500], line=refused.line)


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_message_of_a_verdict_from_any_text_is_printable(said: str) -> None:
    shown = Refused("error", said).message
    assert all(c.isprintable() or c == "\n" for c in shown)
    shown.encode()
