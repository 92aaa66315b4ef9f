"""The view of code for observations that are colour images."""

from __future__ import annotations

import json
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st
from rlgpt import CodedAction, extend
from rlgpt.domain import Task
from rlgpt.plugin import colours
from rlgpt.plugin.observations import ObservationCodec
from rlgpt.plugin.types import Context

TASK = Task(id="test/pictures", goal="", horizon=9, success="it ends")
INDEX = {name: i for i, name in enumerate(colours.COLOURS.values())}


def context(observation: Any, previous: Any = None, step: int = 1) -> Context:
    return Context(TASK, observation, {}, step, np.random.default_rng(0), None, previous=previous)


@pytest.mark.parametrize(
    ("rgb", "name"),
    [
        ((0, 0, 0), "black"), ((142, 142, 142), "grey"), ((255, 255, 255), "white"), ((204, 0, 0), "red"),
        ((102, 204, 102), "green"), ((0, 0, 255), "blue"), ((252, 252, 84), "yellow"), ((213, 130, 74), "orange"),
        ((144, 72, 17), "brown"), ((0, 200, 200), "cyan"), ((200, 0, 200), "magenta"), ((255, 0, 20), "red"),
    ],
)  # fmt: skip
def test_pixels_have_the_names_of_common_colours(rgb: tuple[int, int, int], name: str) -> None:
    assert colours.named(np.array([[rgb]], np.uint8))[0, 0] == INDEX[name]


def flood(picture: np.ndarray) -> list[tuple[int, int, int, int, str]]:
    """Return the connected regions of one colour, found pixel by pixel."""
    background, left = (
        np.bincount(picture.reshape(-1)).argmax(),
        {tuple(map(int, at)) for at in np.argwhere(picture >= 0)},
    )
    found = []
    while left:
        queue = [left.pop()]
        region = list(queue)
        while queue:
            r, c = queue.pop()
            for cell in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
                if cell in left and picture[cell] == picture[r, c]:
                    left.remove(cell)
                    queue.append(cell)
                    region.append(cell)
        if picture[region[0]] == background:
            continue
        (top, bottom), (start, stop) = ((min(axis), max(axis)) for axis in zip(*region, strict=True))
        name = list(INDEX)[picture[region[0]]]
        found.append(((start + stop) // 2, (top + bottom) // 2, stop - start + 1, bottom - top + 1, name))
    return sorted(found)


@given(st.lists(st.lists(st.sampled_from([0, 0, 0, 3, 9]), min_size=6, max_size=6), min_size=1, max_size=7))
def test_image_regions_are_the_connected_pixels_of_one_colour(rows: list[list[int]]) -> None:
    picture = np.array(rows, np.uint8)
    assert sorted(colours.regions(picture)) == flood(picture)


def scene(*squares: tuple[int, int, tuple[int, int, int]]) -> np.ndarray:
    picture = np.full((40, 60, 3), 142, np.uint8)
    for x, y, colour in squares:
        picture[y - 2 : y + 3, x - 2 : x + 3] = colour
    return picture


RED, BLUE = (200, 30, 30), (30, 30, 200)
CODEC = ObservationCodec(spaces.Box(0, 255, (40, 60, 3), np.uint8))


def test_view_of_an_image_lists_unmoved_and_moved_shapes() -> None:
    before, now = (
        scene((10, 10, RED), (30, 20, BLUE), (50, 30, BLUE)),
        scene((13, 9, RED), (30, 20, BLUE), (48, 30, BLUE)),
    )
    seen = CODEC.view(context(now, before))
    assert seen["observation_shapes"] == [[30, 20, 5, 5, "blue"]]
    assert seen["observation_moving"] == [[13, 9, 5, 5, "red", 3, -1], [48, 30, 5, 5, "blue", -2, 0]]
    first = CODEC.view(context(now))
    assert first["observation_moving"] == []
    assert len(first["observation_shapes"]) == 3


def test_map_in_the_view_of_an_image_shows_the_most_common_colour_of_each_cell() -> None:
    picture = scene()
    picture[20:, :30] = (102, 204, 102)
    (upper, lower) = set(CODEC.view(context(picture))["observation_map"])
    assert {upper, lower} == {"s" * 15, "g" * 7 + "s" * 8}


@pytest.mark.parametrize("channels_first", [False, True])
def test_view_of_stacked_colour_frames_uses_the_frame_before_for_movement(channels_first: bool) -> None:
    if channels_first:
        codec = ObservationCodec(spaces.Box(0, 255, (3, 40, 60), np.uint8))
        seen = codec.view(context(np.moveaxis(scene((12, 10, RED)), -1, 0), np.moveaxis(scene((10, 10, RED)), -1, 0)))
    else:
        codec = ObservationCodec(spaces.Box(0, 255, (2, 40, 60, 3), np.uint8))
        seen = codec.view(context(np.stack([scene((10, 10, RED)), scene((12, 10, RED))])))
    assert seen["observation_moving"] == [[12, 10, 5, 5, "red", 2, 0]]


@given(st.integers(0, 2**32 - 1))
def test_view_of_any_image_has_a_bounded_size(seed: int) -> None:
    rng = np.random.default_rng(seed)
    now, before = (rng.integers(0, 256, (40, 60, 3), np.uint8) for _ in range(2))
    assert len(json.dumps(CODEC.view(context(now, before)))) < 4000


class Slider(gym.Env):
    """An environment in which a red square moves two pixels to the right at each step."""

    observation_space = spaces.Box(0, 255, (40, 60, 3), np.uint8)
    action_space = spaces.Discrete(2)

    def __init__(self, *, in_place: bool = False) -> None:
        self.in_place, self.picture = in_place, scene()

    def _now(self) -> np.ndarray:
        if not self.in_place:
            return scene((self.x, 10, RED))
        self.picture[:] = scene((self.x, 10, RED))
        return self.picture

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self.x = 10
        return self._now(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        self.x += 2
        return self._now(), 0.0, False, self.x > 40, {}


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("looks", [(1, 2, 3), (3,)])
def test_movement_in_the_view_does_not_depend_on_earlier_views(looks: tuple[int, ...], in_place: bool) -> None:
    env = extend(Slider(in_place=in_place), [CodedAction(name="a", doc="", source="def run():\n    yield act()\n")])
    env.reset(seed=0)
    assert env.view()["observation_moving"] == []
    for step in (1, 2, 3):
        env.step(0)
        if step in looks:
            seen = env.view()
    moved = [] if in_place else [[16, 10, 5, 5, "red", 2, 0]]
    assert seen["observation_moving"] == moved, "movement is relative to the previous step"
    env.reset(seed=0)
    assert env.view()["observation_moving"] == []
