"""Repairs as search-and-replace blocks."""

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


def test_edits_apply_in_order() -> None:
    patch = edit("    yield use()", "    yield use()\n    return") + edit(
        "    return\n    yield go()", "    yield stop()"
    )
    assert is_patch(patch)
    assert patched(SOURCE, patch) == "def run():\n    yield go()\n    yield use()\n    yield stop()\n"


@given(LINES, st.data())
def test_a_line_that_occurs_once_can_be_replaced_and_put_back(lines: list[str], data: st.DataObject) -> None:
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
def test_edits_that_do_not_fit_are_told(patch: str, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        patched(SOURCE, patch)


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(ValueError, match=r"edit 1: .*; edit 2: ") as caught:
        patched(SOURCE, edit("fly()", "") + edit("swim()", ""))
    assert "'fly()'" in str(caught.value)


def test_a_source_is_no_patch() -> None:
    assert not is_patch(SOURCE)


def test_many_unclosed_edits_take_linear_time() -> None:
    with pytest.raises(ValueError, match="begins before"):
        patched(SOURCE, "<<<<<<< SEARCH\n" * 20_000)
