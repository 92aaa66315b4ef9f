"""The extended action spaces in the table of ``rlgpt.options.space``, and the meaning of their actions."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st
from rlgpt.domain import CodedAction, Parameter
from rlgpt.errors import ConfigError, UnknownNameError
from rlgpt.options import ExtendedSpace


def coded(name: str, parameters: int = 0) -> CodedAction:
    declared = tuple(Parameter(name=f"p{i}", low=-2.0, high=4.0, default=1.0) for i in range(parameters))
    return CodedAction(name=name, doc="", source="def run():\n    yield noop()\n", parameters=declared)


BOX = spaces.Box(-1.0, 1.0, (3,), np.float32)
MULTI = spaces.MultiDiscrete([3, 2, 5])
TUPLE = spaces.Tuple([spaces.Discrete(3), spaces.Box(-1.0, 1.0, (2,), np.float32)])


@pytest.mark.parametrize(
    ("base", "labels", "parameters", "expected"),
    [
        (spaces.Discrete(3), "abc", (0, 0), spaces.Discrete(5)),
        (
            spaces.Discrete(3),
            "abc",
            (0, 2),
            spaces.Tuple([spaces.Discrete(5), spaces.Box(-2.0, 4.0, (2,), np.float32)]),
        ),
        (BOX, "abc", (0,), spaces.Tuple([spaces.Discrete(2), BOX])),
        (BOX, "abc", (1,), spaces.Tuple([spaces.Discrete(2), BOX, spaces.Box(-2.0, 4.0, (1,), np.float32)])),
        (MULTI, "abc", (0,), spaces.Tuple([spaces.Discrete(2), *(spaces.Discrete(n) for n in (3, 2, 5))])),
        (TUPLE, "ab", (0,), spaces.Tuple([spaces.Discrete(2), *TUPLE.spaces])),
    ],
)
def test_extended_spaces_match_the_documented_table(
    base: spaces.Space, labels: str, parameters: tuple[int, ...], expected: spaces.Space
) -> None:
    actions = [coded(f"x{i}", n) for i, n in enumerate(parameters)]
    assert ExtendedSpace(base, actions, tuple(labels), filler=base.sample()).space == expected


@pytest.mark.parametrize("base", [spaces.Discrete(4), spaces.Discrete(4, start=-2), BOX, MULTI, TUPLE])
def test_extended_space_without_coded_actions_is_the_base_space(base: spaces.Space) -> None:
    labels = tuple("abcd") if isinstance(base, spaces.Discrete) else ("ab" if base is TUPLE else "abc")
    space = ExtendedSpace(base, (), tuple(labels), filler=base.sample())
    assert space.space is base
    action = base.sample()
    assert space.read(action).base is action


@given(st.integers(0, 4), st.lists(st.integers(0, 3), min_size=1, max_size=4), st.integers(0, 2**32 - 1))
def test_numbers_of_other_choices_have_no_effect_on_the_chosen_action(
    box: int, parameters: list[int], seed: int
) -> None:
    """An extended action has numbers for every choice. Only the numbers of the chosen branch have an effect."""
    base = spaces.Box(-1.0, 1.0, (box + 1,), np.float64)
    actions = [coded(f"x{i}", n) for i, n in enumerate(parameters)]
    space = ExtendedSpace(base, actions, tuple(str(i) for i in range(box + 1)), filler=np.zeros(box + 1))
    space.space.seed(seed)
    one, other = space.space.sample(), space.space.sample()
    branch = int(one[0])
    owned = space.layout.owner[branch]
    mixed, at = [one[0]], 0
    for head, a, b in zip(space.layout.heads, one[1:], other[1:], strict=True):
        mixed.append(np.where(owned[at : at + head.components], a, b))
        at += head.components
    first, second = space.read(one), space.read(tuple(mixed))
    assert first.parameters == second.parameters
    assert np.array_equal(first.base, second.base) if branch == 0 else second.coded is actions[branch - 1]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.data())
def test_extended_space_reads_back_a_written_action(parameters: list[int], data: st.DataObject) -> None:
    actions = [coded(f"x{i}", n) for i, n in enumerate(parameters)]
    chosen = data.draw(st.sampled_from(actions))
    values = {p.name: data.draw(st.floats(-2, 4, width=32)) for p in chosen.parameters}
    for base, labels in ((spaces.Discrete(3), "abc"), (BOX, "abc"), (MULTI, "abc"), (TUPLE, "ab")):
        space = ExtendedSpace(base, actions, tuple(labels), filler=base.sample())
        written = space.write(chosen.name, values)
        assert space.space.contains(written)
        choice = space.read(written)
        assert choice.coded is chosen
        assert choice.parameters == pytest.approx(values)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["kept", "all"]), st.integers(0, 2))
def test_extended_space_reads_back_a_written_base_action(seed: int, keep: str, parameters: int) -> None:
    for base, labels in ((spaces.Discrete(3, start=5), "abc"), (BOX, "abc"), (MULTI, "abc"), (TUPLE, "ab")):
        base.seed(seed)
        filler, action = base.sample(), base.sample()
        space = ExtendedSpace(base, [coded("x", parameters)], tuple(labels), ("b",) if keep == "kept" else None, filler)
        written = space.write_base(action)
        if written is None:
            assert keep == "kept"
            assert base is not BOX
            continue
        assert space.space.contains(written)
        choice = space.read(written)
        assert choice.coded is None
        assert spaces.flatten(base, choice.base) == pytest.approx(spaces.flatten(base, action))


def test_base_action_that_the_policy_cannot_choose_is_not_written() -> None:
    one = ExtendedSpace(spaces.Discrete(4, start=10), [coded("x")], tuple("abcd"), keep=("b", "d"), filler=10)
    assert [one.write_base(action) for action in (10, 11, 12, 13, 99, "no")] == [None, 0, None, 1, None, None]
    parts = ExtendedSpace(MULTI, [coded("x")], tuple("abc"), keep=("b",), filler=[2, 0, 4])
    assert parts.write_base([2, 1, 4]) == (0, 1)
    assert parts.write_base([0, 1, 4]) is parts.write_base([2, 1]) is None
    box = ExtendedSpace(BOX, [coded("x")], tuple("abc"), filler=np.zeros(3))
    assert box.write_base(np.zeros(2)) is None
    assert list(box.write_base([9.0, 0.0, -9.0])[1]) == [1.0, 0.0, -1.0]
    assert ExtendedSpace(BOX, [coded("x"), coded("y")], tuple("abc"), (), np.zeros(3)).write_base(np.zeros(3)) is None


def test_omitted_parameters_of_a_written_action_have_their_defaults() -> None:
    space = ExtendedSpace(BOX, [coded("x", 2)], tuple("abc"), filler=np.zeros(3))
    assert space.read(space.write("x", {"p1": 3.0})).parameters == {"p0": 1.0, "p1": 3.0}


def test_subset_of_discrete_base_actions_keeps_their_values() -> None:
    space = ExtendedSpace(spaces.Discrete(4, start=10), [coded("x")], tuple("abcd"), keep=("b", "d"), filler=10)
    assert space.layout.branches == ("b", "d", "x")
    assert [space.read(i).base for i in (0, 1)] == [11, 13]


def test_dropped_parts_of_a_base_action_have_the_values_of_the_filler_action() -> None:
    space = ExtendedSpace(MULTI, [coded("x")], tuple("abc"), keep=("b",), filler=[2, 0, 4])
    assert space.space == spaces.Tuple([spaces.Discrete(2), spaces.Discrete(2)])
    assert list(space.read((0, 1)).base) == [2, 1, 4]
    alone = ExtendedSpace(MULTI, (), tuple("abc"), keep=("a", "c"), filler=[2, 1, 4])
    assert alone.space == spaces.MultiDiscrete([3, 5])
    assert list(alone.read(np.array([0, 3])).base) == [0, 1, 3]
    mixed = ExtendedSpace(TUPLE, [coded("x")], tuple("ab"), keep=("b",), filler=(2, np.zeros(2, np.float32)))
    assert mixed.read((0, np.ones(2, np.float32))).base[0] == 2


def test_empty_base_actions_drop_a_box_action_as_a_whole() -> None:
    space = ExtendedSpace(BOX, [coded("x"), coded("y", 1)], tuple("abc"), keep=(), filler=np.zeros(3))
    assert space.layout.branches == ("x", "y")
    assert space.space == spaces.Tuple([spaces.Discrete(2), spaces.Box(-2.0, 4.0, (1,), np.float32)])
    assert not space.layout.owner[0].any()
    assert space.layout.owner[1].all()


def test_extended_space_errors_state_the_given_and_the_valid_values() -> None:
    with pytest.raises(UnknownNameError, match=r"'q'.*a, b, c"):
        ExtendedSpace(BOX, [coded("x")], tuple("abc"), keep=("q",), filler=np.zeros(3))
    with pytest.raises(ConfigError, match=r"at least two choices"):
        ExtendedSpace(BOX, [coded("x")], tuple("abc"), keep=(), filler=np.zeros(3))
    with pytest.raises(ConfigError, match=r"different names"):
        ExtendedSpace(spaces.Discrete(2), [coded("x")], ("x", "y"), filler=0)
    with pytest.raises(ConfigError, match=r"cannot be extended.*MultiDiscrete"):
        ExtendedSpace(spaces.Dict({"a": BOX}), [coded("x")], ("a",), filler={})
    with pytest.raises(UnknownNameError, match=r"coded action"):
        ExtendedSpace(BOX, [coded("x")], tuple("abc"), filler=np.zeros(3)).write("y")
