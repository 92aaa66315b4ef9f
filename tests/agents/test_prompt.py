"""Prompts as files: what a header promises is held, and the fingerprint tells templates and documents apart only."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlgpt.agents.prompt import Prompt, load
from rlgpt.errors import ConfigError, UnknownNameError

TEXT = """---
fixed: stub, goal
measured: success
---
## system
You plan for {{goal}}.

## user
Stub: {{stub}}
Success was {{success}}.
"""
SLOTS = {"stub": "def go(): ...", "goal": "fetch", "success": "0.35"}
BOTH = ("system", "user")


def test_parts_become_a_system_and_one_user_message() -> None:
    rendered = Prompt.parse("toy", TEXT).render(BOTH, SLOTS)
    assert [(m.role, m.content) for m in rendered.messages] == [
        ("system", "You plan for fetch."),
        ("user", "Stub: def go(): ...\nSuccess was 0.35."),
    ]


@given(st.text(max_size=50), st.text(max_size=50))
def test_measured_slots_leave_the_fingerprint_alone(first: str, second: str) -> None:
    prompt = Prompt.parse("toy", TEXT)
    prints = {prompt.render(BOTH, {**SLOTS, "success": s}).fingerprint for s in (first, second)}
    assert len(prints) == 1


@given(st.text(max_size=50), st.text(max_size=50), st.sampled_from(["stub", "goal"]))
def test_fixed_slots_change_the_fingerprint(first: str, second: str, slot: str) -> None:
    prompt = Prompt.parse("toy", TEXT)
    prints = {prompt.render(BOTH, {**SLOTS, slot: s}).fingerprint for s in (first, second)}
    assert len(prints) == len({first, second})


def test_a_word_of_the_template_changes_the_fingerprint() -> None:
    other = Prompt.parse("toy", TEXT.replace("Success was", "Success is"))
    assert other.render(BOTH, SLOTS).fingerprint != Prompt.parse("toy", TEXT).render(BOTH, SLOTS).fingerprint


@given(st.text(alphabet="{}>. stubgoalsharedmethod", max_size=60))
def test_what_stands_in_a_slot_is_never_expanded(hostile: str) -> None:
    rendered = Prompt.parse("toy", TEXT).render(BOTH, {**SLOTS, "success": hostile})
    assert rendered.messages[1].content == f"Stub: def go(): ...\nSuccess was {hostile}."


def test_a_missing_slot_is_named() -> None:
    with pytest.raises(ConfigError, match=r"need a text for: success"):
        Prompt.parse("toy", TEXT).render(BOTH, {"stub": "", "goal": ""})


def test_a_slot_of_another_part_is_not_needed() -> None:
    assert Prompt.parse("toy", TEXT).render(("system",), {"goal": "fetch"}).messages[0].content == "You plan for fetch."


def test_an_undeclared_slot_is_named() -> None:
    with pytest.raises(UnknownNameError, match=r"'sucess'.*Did you mean 'success'"):
        Prompt.parse("toy", TEXT).render(BOTH, {**SLOTS, "sucess": "1"})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("fixed: stub, goal", "fixed: goal", "used but not declared in the header: stub"),
        ("measured: success", "measured: success, extra", "declared but not used: extra"),
        ("measured: success", "measured: success, goal", "both fixed and measured: goal"),
        ("measured:", "guessed:", "header line"),
        ("---\nfixed", "fixed", "must begin with a header"),
        ("## user", "## system", "distinct names"),
        ("## system", "words", "text before the first"),
        ("{{goal}}", "{{> shared.nothing}}", "unknown part of shared.md"),
        ("{{goal}}", "{{> nowhere.nothing}}", "unknown prompt 'nowhere'"),
    ],
)
def test_faulty_files_are_refused(old: str, new: str, message: str) -> None:
    with pytest.raises((ConfigError, UnknownNameError), match=message):
        Prompt.parse("toy", TEXT.replace(old, new))


def test_an_unknown_part_is_named() -> None:
    with pytest.raises(UnknownNameError, match="unknown part of prompt 'toy' 'repair'"):
        Prompt.parse("toy", TEXT).render(("repair",), SLOTS)


@pytest.mark.parametrize(
    ("name", "parts", "measured"),
    [
        ("slow", {"system", "user", "reply"}, {"start", "mode", "history"}),
        ("fast", {"system", "user", "repair", "reply"}, {"plan", "written", "history", "failures", "last"}),
        ("setup", {"system", "user", "reply"}, {"plan", "actions", "history"}),
        ("review", {"system", "user", "reply"}, {"action", "trace", "attempt"}),
        ("critic", {"system", "user", "reply"}, {"results", "curve", "traces", "frames", "history"}),
        ("solo", {"system", "user", "whole", "task", "repair", "action", "learn"}, {"history", "plan", "last"}),
    ],
)
def test_shipped_prompts_hold_their_parts(name: str, parts: set[str], measured: set[str]) -> None:
    prompt = load(name)
    assert set(prompt.parts) == parts
    assert measured <= prompt.measured
    assert {"task", "goal", "success", "horizon", "knowledge", "format"} <= prompt.fixed
    assert not any("{{>" in text for text in prompt.parts.values())


@pytest.mark.parametrize("name", ["slow", "solo"])
def test_planners_are_told_the_heuristics_of_the_method(name: str) -> None:
    system = load(name).parts["system"]
    for words in ("Code what is simple", "Learn what needs contact", "Decompose further", "any order and repeat"):
        assert words in system


@pytest.mark.parametrize("name", ["slow", "fast", "setup", "review", "critic", "solo"])
def test_the_example_of_each_prompt_is_of_another_world_and_parses(name: str) -> None:
    from rlgpt.agents import replies
    from rlgpt.llm.base import Reply
    from rlgpt.llm.structured import read

    schema = {
        "slow": replies.PlanReply,
        "fast": replies.ActionReply,
        "setup": replies.SetupReply,
        "review": replies.ReviewReply,
        "critic": replies.CritiqueReply,
        "solo": replies.SoloReply,
    }[name]
    system = load(name).parts["system"]
    example = system[system.index("# Example") :]
    assert "sponge" in example
    assert read(Reply(text=example, model="example"), schema) is not None
