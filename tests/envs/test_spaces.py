"""Descriptions of spaces as JSON give an equal space again, and invalid descriptions are refused."""

from __future__ import annotations

import ast
import json
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from rlgpt.envs import Recipe, TextArray, worker
from rlgpt.envs.spaces import build
from rlgpt.envs.worker.layout import layouts
from rlgpt.envs.worker.spaces import Unusable, describe

SHAPES = st.lists(st.integers(0, 4), max_size=3).map(tuple)
FLOATS = st.sampled_from([np.float16, np.float32, np.float64])


@st.composite
def boxes(draw: st.DrawFn) -> spaces.Space[Any]:
    shape, dtype = draw(SHAPES), draw(FLOATS)
    low = np.array(draw(st.lists(st.floats(-9, 9), min_size=1, max_size=1)), dtype)
    wide = draw(st.sampled_from([0.0, 2.0, np.inf]))
    return spaces.Box(np.full(shape, low[0]), np.full(shape, dtype(low[0] + wide)), dtype=dtype)


LEAVES = st.one_of(
    boxes(),
    st.integers(1, 9).map(lambda n: spaces.Discrete(n, start=3 - n)),
    st.lists(st.integers(1, 9), min_size=1, max_size=4).map(lambda v: spaces.MultiDiscrete(v)),
    st.sampled_from([spaces.MultiBinary(3), spaces.MultiBinary([2, 2]), spaces.Box(0, 255, (2, 2), np.uint8)]),
    st.integers(1, 9).map(lambda n: spaces.Text(n, min_length=0)),
    SHAPES.map(TextArray),
    boxes().map(spaces.Sequence),
)
SPACES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.dictionaries(st.text(max_size=5), inner, max_size=4).map(spaces.Dict),
        st.lists(inner, max_size=4).map(lambda parts: spaces.Tuple(parts)),
    ),
    max_leaves=8,
)


def same(a: Any, b: Any) -> bool:
    """Return whether both values are equal in type, dtype, shape and content."""
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, np.ndarray) and a.dtype.kind == "U":
        return bool(a.shape == b.shape and b.dtype.kind == "U" and (a == b).all())
    if isinstance(a, np.ndarray | np.generic):
        return bool(np.shape(a) == np.shape(b) and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=True))
    return bool(a == b)


@settings(max_examples=150)
@given(SPACES, SPACES, st.integers(0, 2**31))
def test_spaces_and_values_are_transferred_unchanged_through_json_and_shared_memory(
    seen: spaces.Space[Any], done: spaces.Space[Any], seed: int
) -> None:
    described = [json.loads(json.dumps(describe(space))) for space in (seen, done)]
    assert [build(d, LIMIT) for d in described] == [seen, done]
    sees, acts, size = layouts(*described)
    memory = bytearray(size)
    values = []
    for space, place in ((seen, sees), (done, acts)):
        place.attach(memory)
        space.seed(seed)
        inline: list[Any] = []
        values.append((space.sample(), place, inline))
        place.write(values[-1][0], inline)
    for value, place, inline in values:
        assert same(value, place.read(iter(json.loads(json.dumps(inline)))))


def test_observation_read_from_shared_memory_is_a_copy() -> None:
    place, _, size = layouts(describe(spaces.Box(0, 1, (2,))), describe(spaces.Discrete(2)))
    memory = bytearray(size)
    place.attach(memory)
    place.write(np.ones(2, np.float32), [])
    kept = place.read(iter([]))
    place.write(np.zeros(2, np.float32), [])
    assert kept.tolist() == [1, 1]


LIMIT = Recipe(factory="a:b").space_bytes
BOX: dict[str, Any] = {"kind": "box", "dtype": "<f4", "shape": [2], "low": "AAAAAA==", "high": "AACAPw=="}


@pytest.mark.parametrize(
    "described",
    [
        None,
        {},
        {"kind": "box"},
        {"kind": "pickle"},
        {**BOX, "dtype": "O"},
        {**BOX, "dtype": "<M8[s]"},
        {**BOX, "shape": [-1]},
        {**BOX, "shape": [1] * 40},
        {**BOX, "shape": [1 << 40]},
        {**BOX, "low": "!"},
        {**BOX, "low": "AAAA"},
        {**BOX, "low": "AAAAAAAAAAAAAAAA"},
        {**BOX, "low": "AAAAQA==", "high": "AACAPw=="},
        {**BOX, "more": 1},
        {"kind": "discrete", "dtype": "<i8", "shape": [], "n": 0, "start": 0},
        {"kind": "discrete", "dtype": "<i8", "shape": [], "n": 1 << 70, "start": 0},
        {"kind": "discrete", "dtype": "<i8", "shape": [3], "n": 2, "start": 0},
        {"kind": "multi_discrete", "dtype": "<i8", "shape": [3], "nvec": [2, 2], "start": [0, 0]},
        {"kind": "multi_discrete", "dtype": "<i8", "shape": [2], "nvec": ["a", {}], "start": [0, 0]},
        {"kind": "multi_binary", "dtype": "|i1", "shape": [3], "n": 2},
        {"kind": "text", "low": 5, "high": 2, "characters": "ab"},
        {"kind": "sequence", "of": {"kind": "text", "low": 0, "high": 2, "characters": "ab"}, "stack": False},
        {"kind": "tuple", "parts": [{"kind": "tuple", "parts": [None]}]},
        {"kind": "dict", "parts": [["a"]]},
    ],
)
def test_build_refuses_an_invalid_description_of_a_space(described: Any) -> None:
    with pytest.raises(Unusable):
        build(described, LIMIT)


LARGE = {
    "a box": {**BOX, "shape": [1 << 28]},
    "a box of no possible size": {**BOX, "shape": [1 << 30] * 32},
    "a box in a sequence": {"kind": "sequence", "of": {**BOX, "shape": [1 << 28]}, "stack": True},
    "an array of text": {"kind": "text_array", "shape": [1 << 28]},
    "many parts": {"kind": "tuple", "parts": [BOX] * 20_000},
    "large parts": {"kind": "dict", "parts": [[str(i), {**BOX, "shape": [1 << 20]}] for i in range(20)]},
}


@pytest.mark.parametrize("described", LARGE.values(), ids=LARGE)
def test_large_space_is_refused_before_memory_is_allocated(described: Any) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(Unusable, match=r"at most 67,108,864.*raise space_bytes in its Recipe"):
            build(described, LIMIT)
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()


def test_space_that_exceeds_the_byte_limit_is_accepted_with_a_higher_limit() -> None:
    described = {**BOX, "shape": [2, 1000]}
    with pytest.raises(Unusable, match="a value of its space has 8,000 bytes"):
        build(described, 7_999)
    assert build(described, 8_000).shape == (2, 1000)


def test_error_about_an_unsupported_space_names_the_space() -> None:
    with pytest.raises(Unusable, match=r"gymnasium.spaces.graph.Graph.*Valid: Dict"):
        describe(spaces.Tuple([spaces.Graph(spaces.Box(0, 1, (1,)), None)]))
    with pytest.raises(Unusable, match="key 3"):
        describe(spaces.Dict([(3, spaces.Discrete(2))]))  # type: ignore[list-item]


@pytest.mark.parametrize("path", sorted(Path(worker.__file__).parent.glob("*.py")), ids=lambda p: p.name)
def test_worker_modules_are_valid_python_3_8_and_import_only_numpy(path: Path) -> None:
    tree = ast.parse(path.read_text(), feature_version=(3, 8))
    roots = {a.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    roots |= {str(n.module).split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and not n.level}
    assert roots <= sys.stdlib_module_names | {"numpy"}
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    assert not [k for c in calls if isinstance(c.func, ast.Name) and c.func.id == "zip" for k in c.keywords]
    evaluated = [n.value for n in ast.walk(tree) if isinstance(n, ast.Assign) and isinstance(n.value, ast.Subscript)]
    builtin = {"dict", "list", "tuple", "set", "type"}
    assert not [n for n in evaluated if isinstance(n.value, ast.Name) and n.value.id in builtin]
