"""The directions of the rays of MineDojo's lidar sensor."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlgpt_minecraft.rays import CENTRE, RAYS, bearing, directions, elevation, look_vector

YAWS = st.floats(-180, 180)
PITCHES = st.floats(-89, 89)


@pytest.mark.parametrize(
    ("yaw", "pitch", "expected"),
    [
        (0, 0, (0, 0, 1)),  # South.
        (90, 0, (-1, 0, 0)),  # West.
        (180, 0, (0, 0, -1)),
        (-90, 0, (1, 0, 0)),  # East.
        (0, 90, (0, -1, 0)),  # Down.
        (90, -45, (-math.sqrt(0.5), math.sqrt(0.5), 0)),
    ],
)
def test_look_vector_follows_yaw_and_pitch(yaw: float, pitch: float, expected: tuple[float, float, float]) -> None:
    assert look_vector(yaw, pitch) == pytest.approx(expected, abs=1e-12)


@given(yaw=YAWS, pitch=PITCHES)
def test_ray_directions_are_unit_vectors_and_the_central_ray_is_the_look_direction(yaw: float, pitch: float) -> None:
    found = directions(yaw, pitch)
    assert found.shape == (len(RAYS), 3)
    assert np.linalg.norm(found, axis=1) == pytest.approx(1.0)
    assert found[CENTRE] == pytest.approx(look_vector(yaw, pitch))


@given(yaw=YAWS, pitch=PITCHES)
def test_bearing_and_elevation_invert_look_vector(yaw: float, pitch: float) -> None:
    vector = np.array(look_vector(yaw, pitch))
    assert bearing(vector, yaw) == pytest.approx(0.0, abs=1e-6)
    assert elevation(vector) == pytest.approx(-pitch, abs=1e-6)


def test_positive_yaw_turns_a_ray_left_for_every_heading() -> None:
    """The sign is that of the game's ``rotateYaw``. In MineDojo the lidar is therefore mirrored."""
    which = next(i for i, (pitch, yaw, _) in enumerate(RAYS) if pitch == 0 and yaw == pytest.approx(math.radians(28)))
    for heading in (-120.0, 0.0, 45.0, 90.0):
        assert bearing(directions(heading, 0.0)[which], heading) == pytest.approx(-28.0)


def test_pitch_of_a_ray_depends_on_the_heading() -> None:
    which = next(i for i, (pitch, yaw, _) in enumerate(RAYS) if yaw == 0 and pitch == pytest.approx(math.radians(18)))
    found = [elevation(directions(heading, 0.0)[which]) for heading in (0.0, 180.0, -90.0)]
    assert found == pytest.approx([18.0, -18.0, 0.0], abs=1e-9)


def test_lidar_rays_are_distinct_and_40_blocks_long() -> None:
    assert len({(round(p, 9), round(y, 9)) for p, y, _ in RAYS}) == len(RAYS)
    assert all(distance == 40 for _, _, distance in RAYS)
