"""The library of primitives and view keys: invalid names, and its text for a language model (the stub)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from rlgpt.domain import Parameter
from rlgpt.sandbox import Library, SandboxLimits, Signature, ViewDoc
from rlgpt.sandbox.stub import render

GOLDEN = Path(__file__).with_name("stub.golden.py.txt")
TEXT = st.text(max_size=60)


def test_stub_of_a_library_equals_the_committed_text(library: Library) -> None:
    assert render(library) == GOLDEN.read_text()


def test_stub_of_a_library_shows_the_sandbox_limits(library: Library) -> None:
    stub = render(library, SandboxLimits(yields=7, requests=3, source_bytes=999))
    assert "may yield 7 times (max_steps times where that is more), at most 3 requests\n  each. Then it" in stub
    assert "at most 999 bytes" in stub


def test_outcome_keys_of_all_primitives_are_described_once_in_the_stub() -> None:
    signatures = tuple(
        Signature(name=n, outcome={"steps": "primitive steps", n: "of this one"}) for n in ("go", "turn")
    )
    stub = render(Library(primitives=signatures))
    assert stub.count('outcome["steps"]: primitive steps') == 1
    assert stub.index('# outcome["steps"]') < stub.index("def go()")
    assert stub.count("of this one") == 2


@given(TEXT, TEXT, TEXT, st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_stub_of_any_texts_is_valid_python(doc: str, unit: str, choice: str, low: float, span: float) -> None:
    number = Parameter(name="x", low=low, high=low + span + 1, default=low, unit=unit, doc=doc)
    word = Parameter(name="w", kind="choice", choices=(choice,), default=choice, doc=doc)
    signature = Signature(name="act", doc=doc, parameters=(number, word), outcome={"done": doc})
    other = Signature(name="wait", outcome={"done": doc})
    stub = render(Library(primitives=(signature, other), view=(ViewDoc(name="k", doc=doc, unit=unit),)))
    tree = ast.parse(stub)
    functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    assert list(functions) == ["act", "wait", "observe"]
    arguments = functions["act"].args
    assert [a.arg for a in arguments.args] == ["x", "w"]
    defaults = [ast.literal_eval(d) for d in arguments.defaults]
    assert defaults[0] == pytest.approx(low, rel=1e-4)
    assert defaults[1] == choice


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (["grasp", "grasp"], "must differ"),
        (["observe"], "reserved: \\['observe'\\]"),
        (["run"], "reserved: \\['run'\\]"),
        (["vec"], "reserved: \\['vec'\\]"),
        (["pass"], "keyword of Python"),
    ],
)
def test_library_refuses_reserved_and_repeated_names(names: list[str], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Library(primitives=tuple(Signature(name=n) for n in names))


def test_library_refuses_invalid_parameter_and_key_names() -> None:
    x = Parameter(name="x", kind="bool", default=False)
    with pytest.raises(ValidationError, match="parameters of 'act' must differ"):
        Library(primitives=(Signature(name="act", parameters=(x, x)),))
    with pytest.raises(ValidationError, match=r"'from' \(of 'act'\) is a keyword of Python"):
        Library(primitives=(Signature(name="act", parameters=(x.model_copy(update={"name": "from"}),)),))
    with pytest.raises(ValidationError, match="keys of the view must differ"):
        Library(primitives=(), view=(ViewDoc(name="k"), ViewDoc(name="k")))
