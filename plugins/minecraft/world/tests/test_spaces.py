"""The spaces follow Gymnasium's rules. A conformance test of the plugin compares them with MineDojo's spaces."""

from __future__ import annotations

import json

import numpy as np
import pytest
from gymnasium import spaces as gym
from voxeldojo import spaces
from voxeldojo.spaces import TextArray


def test_a_text_array_contains_only_string_arrays_of_its_shape() -> None:
    space = TextArray((2, 3))
    assert space.contains(np.full((2, 3), "oak wood"))
    assert space.contains(np.full((2, 3), ""))
    assert not space.contains(np.full((3, 2), "oak wood"))
    assert not space.contains(np.zeros((2, 3)))
    assert not space.contains([["a"] * 3] * 2)
    assert not space.contains("a")


def test_text_arrays_of_equal_shape_are_equal() -> None:
    assert TextArray((36,)) == TextArray([36])
    assert TextArray((36,)) != TextArray((35,))
    assert TextArray((3,)) != gym.Box(0, 1, (3,))
    assert len({TextArray((36,)), TextArray((36,))}) == 1
    assert repr(TextArray((2, 3))) == "TextArray(2, 3)"


def test_samples_of_a_text_array_depend_on_its_seed() -> None:
    one, other = TextArray((4,), seed=3), TextArray((4,))
    other.seed(3)
    drawn = [one.sample() for _ in range(5)]
    assert all(np.array_equal(sample, other.sample()) for sample in drawn)
    assert len({tuple(sample) for sample in drawn}) == 5
    assert all(sample in one for sample in drawn)
    with pytest.raises(ValueError, match="neither mask"):
        one.sample(mask=np.ones(4))  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", [(4,), (2, 3, 1), (0,)])
def test_samples_of_a_text_array_are_restored_from_json(shape: tuple[int, ...]) -> None:
    space = TextArray(shape, seed=0)
    samples = [space.sample() for _ in range(3)]
    back = space.from_jsonable(json.loads(json.dumps(space.to_jsonable(samples))))
    assert all(np.array_equal(a, b) and b in space for a, b in zip(samples, back, strict=True))


@pytest.mark.filterwarnings("ignore:.*Casting input x")  # Gymnasium warns about its own samples of 0-dimensional boxes
@pytest.mark.parametrize(("image", "box", "rays"), [(None, None, 0), ((8, 9), None, 0), (None, (3, 4, 5), 2)])
def test_observation_space_has_the_requested_keys(
    image: tuple[int, int] | None, box: tuple[int, ...] | None, rays: int
) -> None:
    space = spaces.observation_space(image, box, rays)
    assert ("rgb" in space.spaces) == (image is not None)
    assert ("voxels" in space.spaces) == (box is not None)
    assert ("rays" in space.spaces) == (rays > 0)
    assert space.sample() in space
    assert space == spaces.observation_space(image, box, rays)
    if image is not None:
        assert space["rgb"].shape == (3, *image)
    if box is not None:
        assert space["voxels"]["is_solid"].shape == box  # type: ignore[index]


@pytest.mark.parametrize("interval", [15.0, 10.0, 7.0, 180.0])
def test_the_no_op_action_does_not_turn_the_camera(interval: float) -> None:
    action = spaces.no_op(interval)
    assert action in spaces.action_space(interval)
    if 360 % (2 * interval) == 0:
        assert action[3] * interval - 180 == action[4] * interval - 180 == 0
