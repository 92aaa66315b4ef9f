"""Repairs of code that a reply gives as search-and-replace blocks."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlgpt.agents.edits import is_patch, patched

SOURCE = "def run():\n    yield go()\n    yield use()\n    yield go()\n"
LINES = st.lists(st.from_regex(r"[a-z ]{0,6}[a-z]", fullmatch=True), min_size=1, max_size=12)


def edit(search: str, replace: str) -> str:
    return f"<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n"


def test_edits_of_one_reply_apply_in_order() -> None:
    patch = edit("    yield use()", "    yield use()\n    return") + edit(
        "    return\n    yield go()", "    yield stop()"
    )
    assert is_patch(patch)
    assert patched(SOURCE, patch) == "def run():\n    yield go()\n    yield use()\n    yield stop()\n"


@given(LINES, st.data())
def test_a_line_that_occurs_once_can_be_replaced_and_restored(lines: list[str], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(lines) - 1))
    source = "\n".join([*lines[:index], "THE LINE", *lines[index + 1 :]]) + "\n"
    there = patched(source, edit("THE LINE", "one\ntwo"))
    assert "THE LINE" not in there
    if "one\ntwo" not in source:
        assert patched(there, edit("one\ntwo", "THE LINE")) == source


@pytest.mark.parametrize(
    ("patch", "says"),
    [
        (edit("    yield go()", ""), "edit 1: its SEARCH lines occur 2 times"),
        (edit("    yield goo()", ""), "has no line '    yield goo()'; the nearest is '    yield go()'"),
        (edit("    yield use()\ndef run():", ""), "not in the source in this order"),
        (edit("", "x"), "its SEARCH part is empty"),
        ("<<<<<<< SEARCH\n    yield use()\n", "the last edit is not complete"),
        (edit("    yield use()", "") + "def run(): pass\n", "1 lines are outside of the edits"),
        ("<<<<<<< SEARCH\na\n" + edit("    yield use()", ""), "begins before the one before it ended"),
    ],
)
def test_an_edit_that_does_not_fit_the_source_raises_an_error_with_the_reason(patch: str, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        patched(SOURCE, patch)


def test_the_error_lists_the_faults_of_all_edits() -> None:
    with pytest.raises(ValueError, match=r"edit 1: .*; edit 2: ") as caught:
        patched(SOURCE, edit("fly()", "") + edit("swim()", ""))
    assert "'fly()'" in str(caught.value)


def test_source_code_without_edit_markers_is_not_a_patch() -> None:
    assert not is_patch(SOURCE)


def test_twenty_thousand_unclosed_edits_raise_the_same_error_as_one_unclosed_edit() -> None:
    with pytest.raises(ValueError, match="begins before"):
        patched(SOURCE, "<<<<<<< SEARCH\n" * 20_000)
