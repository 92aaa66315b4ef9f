"""Prompts: rendering, the fingerprint, the user's own files, and the shipped templates."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlgpt.agents import replies
from rlgpt.agents.planner import GraphReply
from rlgpt.agents.prompt import SYSTEM, Prompt, Rendered
from rlgpt.errors import ConfigError, UnknownNameError
from rlgpt.llm.base import Reply
from rlgpt.llm.structured import read

FILES = {
    "toy/system.md": "You plan for {{goal}}.\n",
    "toy/user.md": 'Stub: {{stub}}\n{% include "toy/success.md" %}\n',
    "toy/success.md": "Success was {{success}}.\n",
}
FIXED = {"stub": "def go(): ...", "goal": "fetch"}
MEASURED = {"success": "0.35"}
BOTH = ("system", "user")
SHIPPED = ("slow", "fast", "function", "setup", "review", "critic", "solo", "planner")


def toy(folder: Path, **changes: str) -> Prompt:
    """A prompt of two parts; ``changes``: part -> its text."""
    for file, text in {**FILES, **{f"toy/{part}.md": text for part, text in changes.items()}}.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Prompt("toy", folder)


@pytest.fixture(scope="module")
def prompt(tmp_path_factory: pytest.TempPathFactory) -> Prompt:
    return toy(tmp_path_factory.mktemp("prompts"))


def render(prompt: Prompt, **changes: str) -> Rendered:
    fixed = {name: changes.get(name, text) for name, text in FIXED.items()}
    return prompt.render(BOTH, fixed, {name: changes.get(name, text) for name, text in MEASURED.items()})


def test_prompt_parts_become_one_system_and_one_user_message(prompt: Prompt) -> None:
    assert [(m.role, m.content) for m in render(prompt).messages] == [
        ("system", "You plan for fetch."),
        ("user", "Stub: def go(): ...\nSuccess was 0.35."),
    ]


@given(first=st.text(max_size=50), second=st.text(max_size=50))
def test_fingerprint_ignores_the_texts_of_measured_slots(prompt: Prompt, first: str, second: str) -> None:
    assert render(prompt, success=first).fingerprint == render(prompt, success=second).fingerprint


@given(first=st.text(max_size=50), second=st.text(max_size=50), slot=st.sampled_from(["stub", "goal"]))
def test_fingerprint_depends_on_the_texts_of_fixed_slots(prompt: Prompt, first: str, second: str, slot: str) -> None:
    fingerprints = {render(prompt, **{slot: text}).fingerprint for text in (first, second)}
    assert len(fingerprints) == len({first, second})


@pytest.mark.parametrize("part", ["user", "success"])
def test_fingerprint_depends_on_the_template_and_its_includes(prompt: Prompt, tmp_path: Path, part: str) -> None:
    changed = toy(tmp_path, **{part: FILES[f"toy/{part}.md"] + "One more line.\n"})
    assert render(changed).fingerprint != render(prompt).fingerprint


def test_fingerprint_is_equal_for_an_included_and_an_inline_text(prompt: Prompt, tmp_path: Path) -> None:
    inlined = toy(tmp_path, user="Stub: {{ stub }}\nSuccess was {{success}}.\n")
    assert render(inlined) == render(prompt)


@given(hostile=st.text(alphabet="{}>%#. stubgoal'toy/success.md includeraw", max_size=60))
def test_template_syntax_in_the_text_of_a_slot_is_not_expanded(prompt: Prompt, hostile: str) -> None:
    for text in (hostile, '{% include "toy/system.md" %}', "{{stub}}", "{# gone #}"):
        assert render(prompt, success=text).messages[1].content == f"Stub: def go(): ...\nSuccess was {text}."


def test_error_about_a_slot_without_a_text_names_the_slot_and_the_valid_slots(prompt: Prompt) -> None:
    with pytest.raises(ConfigError, match=r"without a text: success\. Valid slots: goal, stub"):
        prompt.render(BOTH, FIXED, {})


def test_rendering_one_part_does_not_need_the_slots_of_other_parts(prompt: Prompt) -> None:
    assert prompt.render(("system",), {"goal": "fetch"}, {}).messages[0].content == "You plan for fetch."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{goal", r"prompt file toy/user\.md, line 1"),
        ("{% if goal %}x{% endif %}", "'goal' is undefined.*{{slots}} and includes, nothing else"),
        ("{{ goal.__class__ }}", "without a text: __class__"),
        ('{% include "toy/user.md" %}', "includes itself"),
        ('{% include "toy/nowhere.md" %}', r"unknown prompt file 'toy/nowhere\.md'"),
        ('{% include "../secret" %}', "unknown prompt file"),
    ],
    ids=["syntax", "condition", "attribute", "circle", "missing include", "outside the folder"],
)
def test_invalid_prompt_template_raises_an_error(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "secret").write_text("a secret")
    with pytest.raises((ConfigError, UnknownNameError), match=message):
        render(toy(tmp_path / "prompts", user=text))


def test_error_about_an_unknown_prompt_part_lists_similar_names(prompt: Prompt) -> None:
    with pytest.raises(UnknownNameError, match=r"'toy/sytem\.md'.*Did you mean 'toy/system\.md'"):
        prompt.render(("sytem",), FIXED, MEASURED)


def test_prompt_file_of_a_user_replaces_the_shipped_prompt_file_of_the_same_name(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "heuristics.md").write_text("Code everything.\n")
    shipped, own = Prompt("slow"), Prompt("slow", tmp_path)
    assert "Code what is simple" in shipped.template("role")
    assert "Code everything." in own.template("role")
    assert "Code what is simple" not in own.template("role")
    assert own.template("reply") == shipped.template("reply")


def test_every_shipped_prompt_has_the_same_system_message() -> None:
    assert {Prompt(name).template(SYSTEM) for name in SHIPPED} == {Prompt("slow").template(SYSTEM)}
    assert {"task", "goal", "measures", "horizon", "knowledge", "stub", "start"} <= Prompt("slow").slots((SYSTEM,))


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_prompts_state_the_format_of_the_reply(name: str) -> None:
    assert "format" in Prompt(name).slots(("reply",))


@pytest.mark.parametrize("name", ["slow", "solo"])
def test_planning_prompts_contain_the_heuristics_for_code_or_learning(name: str) -> None:
    role = Prompt(name).template("role")
    for words in ("Code what is simple", "Learn what needs contact", "Decompose further", "any order and repeat"):
        assert words in role


EXAMPLES = {
    ("slow", "role"): "PlanReply",
    ("fast", "example"): "ActionReply",
    ("fast", "repair"): "RepairReply",
    ("function", "role"): "FunctionReply",
    ("setup", "role"): "SetupReply",
    ("review", "role"): "ReviewReply",
    ("critic", "role"): "CritiqueReply",
    ("solo", "role"): "SoloReply",
}


def test_example_of_a_graph_is_a_valid_graph() -> None:
    text = Prompt("planner").template("role")
    graph = read(Reply(text=text[text.index("# Example") :], model="example"), GraphReply).graph()
    assert [n.name for n in graph.standing] == ["charged"]
    assert graph.last.needs == ("sponge_held",)


@pytest.mark.parametrize(("name", "part"), EXAMPLES)
def test_example_reply_in_a_shipped_prompt_is_valid(name: str, part: str) -> None:
    text = Prompt(name).template(part)
    example = text[text.index("# Example") :]
    assert "sponge" in example
    assert read(Reply(text=example, model="example"), getattr(replies, EXAMPLES[name, part])) is not None
