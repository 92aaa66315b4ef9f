"""Properties of actions and observations for any Gymnasium space."""

import json
import pickle

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st
from rlgpt.domain import Parameter, Task
from rlgpt.errors import ConfigError
from rlgpt.plugin import pictures
from rlgpt.plugin.actions import RESERVED, ActionCodec, default_labels, names, zero_action
from rlgpt.plugin.observations import ObservationCodec
from rlgpt.plugin.types import Context

TASK = Task(id="any/task", goal="g", horizon=10, success="s")

discretes = st.builds(lambda n, start: spaces.Discrete(n, start=start), st.integers(1, 40), st.integers(-3, 3))
shapes = st.lists(st.integers(1, 3), max_size=2).map(tuple)


@st.composite
def boxes(draw):
    shape = draw(shapes)
    span = st.sampled_from(
        [(-np.inf, np.inf), (-3e38, 3e38), (-np.inf, 1), (0.25, np.inf), (-2, -0.5), (-1, 1), (0.5, 0.5)]
    )
    spans = np.reshape([draw(span) for _ in range(int(np.prod(shape)))], (*shape, 2)).astype(np.float32)
    return spaces.Box(spans[..., 0], spans[..., 1], dtype=np.float32)


leaves = st.one_of(
    discretes,
    boxes(),
    st.lists(st.integers(1, 5), min_size=1, max_size=4).map(spaces.MultiDiscrete),
    st.integers(1, 5).map(spaces.MultiBinary),
)
any_space = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda s: spaces.Tuple(s)),
        st.dictionaries(st.sampled_from(["a", "B c", "steps", "class"]), inner, min_size=1, max_size=3).map(
            lambda d: spaces.Dict(d)
        ),
    ),
    max_leaves=5,
)


def _draw(data, parameter: Parameter):
    if parameter.kind == "choice":
        return data.draw(st.sampled_from(parameter.choices))
    if parameter.kind == "bool":
        return data.draw(st.booleans())
    number = st.integers if parameter.kind == "int" else st.floats
    return data.draw(number(parameter.low, parameter.high))


@given(space=any_space, data=st.data())
def test_action_codec_makes_a_valid_action_from_every_argument_value(space, data) -> None:
    codec = ActionCodec(space, default_labels(space))
    assert codec.action({p.name: _draw(data, p) for p in codec.parameters}) in space
    assert codec.action({p.name: p.default for p in codec.parameters}) in space
    taken = [p.name for p in codec.parameters]
    assert len(set(taken)) == len(taken)
    assert not RESERVED & set(taken)
    assert pickle.loads(pickle.dumps(codec)).parameters == codec.parameters


@given(space=any_space)
def test_zero_action_of_any_space_is_in_the_space(space) -> None:
    assert zero_action(space) in space


@pytest.mark.parametrize("start", [0, 2])
def test_every_value_of_a_discrete_space_is_a_choice(start: int) -> None:
    codec = ActionCodec(spaces.Discrete(3, start=start), ["stay", "left", "right"])
    assert [codec.action({"action": a}) for a in ("stay", "left", "right")] == [start, start + 1, start + 2]


@given(st.lists(st.text(max_size=50), max_size=6))
def test_names_made_from_labels_are_identifiers_and_different(labels) -> None:
    found = names(labels)
    assert len(set(found)) == len(labels)
    for name in found:
        Parameter(name=name, low=0, high=1, default=0)
        assert name.isidentifier()


@pytest.mark.parametrize(
    ("space", "labels", "text"),
    [
        (spaces.Discrete(2), ["a"], "needs 2 different labels, got 1"),
        (spaces.Box(-1, 1, (2,)), ["a", "a"], "needs 2 different labels, got 2"),
        (spaces.Text(5), [], "Wrap the environment"),
        (spaces.Tuple([spaces.Sequence(spaces.Discrete(2))]), ["a"], "Wrap the environment"),
    ],
)
def test_action_codec_refuses_labels_that_do_not_fit_the_space(space, labels, text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        ActionCodec(space, labels)


def _context(observation, step=0) -> Context:
    return Context(TASK, observation, {}, step, np.random.default_rng(0), None)


def _count(value) -> int:
    return sum(map(_count, value)) if isinstance(value, list) else 1


@given(space=any_space, seed=st.integers(0, 9))
def test_view_of_any_space_is_a_json_value_of_the_documented_size(space, seed: int) -> None:
    space.seed(seed)
    codec = pickle.loads(pickle.dumps(ObservationCodec(space)))
    view = codec.view(_context(space.sample()))
    assert json.loads(json.dumps(view, allow_nan=False)) == view
    assert list(view) == [k.name for k in codec.keys]
    for key in codec.keys:
        assert key.size in (0, _count(view[key.name]))
    assert any(k.size for k in codec.keys) or codec.alone


def test_view_contains_the_numbers_of_a_vector_observation() -> None:
    space = spaces.Box(-1, 1, (3,), np.float64)
    assert ObservationCodec(space).view(_context(np.array([0.1, -0.2, 1.0]))) == {"observation": [0.1, -0.2, 1.0]}
    named = ObservationCodec(space, ["x", "Y pos", "x 2"])
    assert named.view(_context(np.array([0.1, -0.2, 1.0]))) == {"x": 0.1, "y_pos": -0.2, "x_2": 1.0}


def test_view_replaces_nan_and_infinite_numbers() -> None:
    codec = ObservationCodec(spaces.Box(-np.inf, np.inf, (3,)))
    assert codec.view(_context(np.array([np.nan, np.inf, -np.inf]))) == {"observation": [0.0, 1e30, -1e30]}


def test_view_contains_every_number_of_a_small_byte_array() -> None:
    codec = ObservationCodec(spaces.Dict({"image": spaces.Box(0, 255, (2, 2, 3), np.uint8)}))
    cells = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    assert codec.view(_context({"image": cells})) == {"image_grid": cells.tolist()}
    assert {k.name: k.size for k in codec.keys} == {"image_grid": 12}
    assert codec.alone == ()


def _square(left: int, top: int) -> np.ndarray:
    picture = np.full((40, 30), 90, np.uint8)
    picture[top : top + 3, left : left + 5] = 200
    picture[39, :] = 0
    return picture


def test_view_of_an_image_lists_its_regions_of_one_colour() -> None:
    colours = np.repeat(_square(10, 20)[..., None], 3, axis=-1)
    codec = pickle.loads(pickle.dumps(ObservationCodec(spaces.Box(0, 255, (40, 30, 3), np.uint8))))
    seen = codec.view(_context(colours))
    assert seen["observation_shapes"] == [[14, 39, 30, 1, "black"], [12, 21, 5, 3, "white"]]
    assert seen.keys() == {"observation_shapes", "observation_moving", "observation_map"}
    assert codec.alone == ("observation",)
    floor, square = [14, 39, 30, 1, 0], [12, 21, 5, 3, 200]
    stack = ObservationCodec(spaces.Box(0, 255, (4, 40, 30), np.uint8))
    frames = np.stack([_square(0, 0), _square(0, 0), _square(10, 19), _square(10, 20)])
    assert stack.view(_context(frames)) == {
        "observation_shapes": [floor, square],
        "observation_shapes_before": [floor, [12, 20, 5, 3, 200]],
    }


def _components(standing: np.ndarray) -> list[tuple[int, int, int, int]]:
    """Find the regions by flood fill. Return top, left, height and width of each region, in pixels."""
    left, found = {(int(r), int(c)) for r, c in np.argwhere(standing)}, []
    while left:
        queue = [left.pop()]
        region = list(queue)
        while queue:
            r, c = queue.pop()
            for cell in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
                if cell in left:
                    left.remove(cell)
                    queue.append(cell)
                    region.append(cell)
        rows, columns = zip(*region, strict=True)
        found.append((min(rows), min(columns), max(rows) - min(rows) + 1, max(columns) - min(columns) + 1))
    return sorted(found)


@given(st.lists(st.lists(st.sampled_from([0, 0, 0, 200]), min_size=7, max_size=7), min_size=5, max_size=5))
def test_shapes_of_an_image_are_its_connected_regions(rows) -> None:
    grey = np.vstack([np.zeros((3, 7), np.int64), np.array(rows), np.zeros((8, 7), np.int64)])
    boxes = [((y - (h - 1) // 2), (x - (w - 1) // 2), h, w) for x, y, w, h, _ in pictures.shapes(grey)]
    assert sorted(boxes) == _components(grey > 0)


def test_view_of_a_vector_of_512_numbers_is_smaller_than_8192_bytes() -> None:
    values = np.random.default_rng(0).normal(size=512) * 1e-3
    view = ObservationCodec(spaces.Box(-np.inf, np.inf, (512,))).view(_context(values))
    assert len(json.dumps(view)) < 8192
    np.testing.assert_allclose(view["observation"], values, rtol=1e-4)


def test_discrete_observation_is_a_number_for_code_and_one_hot_for_a_policy() -> None:
    codec = ObservationCodec(spaces.Discrete(3, start=5))
    assert codec.view(_context(6)) == {"observation": 6, "observation_onehot": [0, 1, 0]}


def test_observation_codec_refuses_labels_that_do_not_fit_the_space() -> None:
    with pytest.raises(ConfigError, match="needs 2 different observation labels, got 1"):
        ObservationCodec(spaces.Box(0, 1, (2,)), ["a"])
    with pytest.raises(ConfigError, match="Box, or for the parts of a Dict; this observation is Discrete"):
        ObservationCodec(spaces.Discrete(2), ["a"])
