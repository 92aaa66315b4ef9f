"""The trace that goes into prompts: what matters is never cut."""

from __future__ import annotations

import pytest
from rlgpt.agents.traces import render_trace
from rlgpt.domain import Decision, PrimitiveCall, Trace


@pytest.mark.parametrize("limit", [300, 900, 3000])
def test_the_decision_in_question_is_never_left_out(limit: int) -> None:
    """A rehearsal's trace ends with the action under repair, however much came before it."""
    call = PrimitiveCall(name="move_to", args={"x": 0.1}, steps=9, outcome={"reached": False, "note": "n" * 60})
    long = [Decision(action=f"early{i}", duration=9, reward=0.0, ended="returned", calls=(call,) * 8) for i in range(4)]
    last = Decision(action="in_question", duration=2, reward=0.0, ended="returned", calls=(call,) * 8)
    trace = Trace(seed=0, success=False, total_reward=0.0, primitive_steps=38, decisions=(*long, last))
    text = render_trace(trace, limit)
    assert "in_question" in text
    assert len(text) < limit + 400
