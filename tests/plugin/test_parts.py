"""The parts of any observation that policies and code can read. A part that neither can read gives a message."""

import json
import pickle

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import example, given
from hypothesis import strategies as st
from rlgpt.domain import Task
from rlgpt.errors import ConfigError, RlgptError
from rlgpt.plugin.actions import ActionCodec, FreeNames
from rlgpt.plugin.observations import ObservationCodec
from rlgpt.plugin.parts import MOST_NUMBERS, parts, shown, unusable
from rlgpt.plugin.types import Context
from rlgpt.rl.observation import ObservationBuilder
from rlgpt.sandbox.limits import DEFAULT

TASK = Task(id="any/task", goal="g", horizon=10, success="s")


def pixels(*shape: int) -> spaces.Box:
    return spaces.Box(0, 255, shape, np.uint8)


def numbers(*shape: int, low: float = -np.inf, high: float = np.inf) -> spaces.Box:
    return spaces.Box(low, high, shape, np.float32)


ONE = numbers(400)
POSE = numbers(3)

SEEN = {
    "a grey picture": (pixels(84, 84), {"image_observation": (84, 84, 1)}),
    "a picture of shares": (numbers(84, 84, 1, low=0, high=1), {"image_observation": (84, 84, 1)}),
    "channels first": (numbers(3, 64, 64, low=-1, high=1), {"image_observation": (3, 64, 64)}),
    "a stack of colours": (pixels(4, 84, 84, 3), {"image_observation": (84, 84, 12)}),
    "a long vector": (numbers(720), {"obs": (720,)}),
    "many bits": (spaces.MultiBinary(900), {"obs": (900,)}),
    "large whole numbers": (spaces.Box(-(2**63), 2**63 - 1, (500,), np.int64), {"obs": (500,)}),
    "a lidar and a speed": (spaces.Dict(lidar=numbers(720), v=POSE), {"obs": (723,)}),
    "more than a view holds": (spaces.Dict(a=ONE, b=ONE, c=ONE), {"obs": (1200,)}),
    "cameras, nested": (
        spaces.Dict(cam=spaces.Dict(front=pixels(64, 64, 3), back=pixels(48, 48)), v=POSE),
        {"image_cam_front": (64, 64, 3), "image_cam_back": (48, 48, 1), "obs": (3,)},
    ),
    "more than a view holds, nested": (
        spaces.Dict(robot=spaces.Dict(a=ONE, b=ONE, steps=ONE), v=POSE),
        {"obs": (1203,)},
    ),
    "a lidar, nested": (spaces.Dict(robot=spaces.Dict(lidar=numbers(720), v=POSE)), {"obs": (723,)}),
    "a picture in a Tuple": (
        spaces.Tuple([pixels(64, 64, 3), POSE]),
        {"image_observation_0": (64, 64, 3), "obs": (3,)},
    ),
    "a text beside numbers": (spaces.Dict(v=POSE, said=spaces.Text(9000)), {"obs": (3,)}),
}


def policy_of(space: spaces.Space) -> tuple[ObservationCodec, ObservationBuilder]:
    """Return the codec and the builder of the policy's observation with GenericPlugin's default setup."""
    codec = ObservationCodec(space)
    keys = [*codec.alone, *(k.name for k in codec.keys if k.size)]
    return codec, ObservationBuilder(space, codec.keys, keys)


@pytest.mark.parametrize("name", SEEN)
def test_policy_observation_includes_every_part_of_the_environments_observation(name: str) -> None:
    space, expected = SEEN[name]
    assert unusable(space) == []
    codec, builder = policy_of(space)
    space.seed(0)
    observation = space.sample()
    view = pickle.loads(pickle.dumps(codec)).view(Context(TASK, observation, {}, 1, np.random.default_rng(0), None))
    built = builder.build(observation, view)
    assert {key: built[key].shape for key in expected} == expected
    assert set(built) == {*expected, "obs"}
    assert all(built[key] in builder.spaces[key] for key in built)
    assert "time" not in view
    assert len(json.dumps(view, allow_nan=False)) <= DEFAULT.view_bytes


def test_policy_observes_unchanged_pixels() -> None:
    grey = np.arange(84 * 84, dtype=np.int64).reshape(84, 84) % 256
    for space, picture in (
        (pixels(84, 84), grey.astype(np.uint8)),
        (numbers(84, 84, 1, low=0, high=1), (grey[..., None] / 255).astype(np.float32)),
        (numbers(84, 84, 1, low=-1, high=1), (grey[..., None] / 127.5 - 1).astype(np.float32)),
    ):
        image = shown(space)["observation"]
        np.testing.assert_array_equal(image.read(picture)[..., 0], grey)
    colours = np.random.default_rng(0).integers(0, 256, (4, 30, 40, 3)).astype(np.uint8)
    stacked = shown(pixels(4, 30, 40, 3))["observation"].read(colours)
    np.testing.assert_array_equal(stacked[..., 3:6], colours[1])


def test_view_lists_the_shapes_of_float_images_and_of_stacked_colour_frames() -> None:
    picture = np.zeros((40, 30), np.uint8)
    picture[20:23, 10:15] = 255
    expected = [[12, 21, 5, 3, 255]]
    ctx = Context(TASK, (picture[..., None] / 255).astype(np.float32), {}, 0, np.random.default_rng(0), None)
    assert ObservationCodec(numbers(40, 30, 1, low=0, high=1)).view(ctx) == {"observation_shapes": expected}
    empty = np.zeros((40, 30, 3), np.uint8)
    ctx.observation = np.stack([empty, empty, empty, np.repeat(picture[..., None], 3, axis=-1)])
    seen = ObservationCodec(pixels(4, 40, 30, 3)).view(ctx)
    assert (seen["observation_shapes"], seen["observation_moving"]) == ([], [[12, 21, 5, 3, "white", 0, 0]])


def test_view_omits_the_largest_arrays_of_an_observation() -> None:
    space = spaces.Dict(a=numbers(300), b=numbers(500), c=numbers(100))
    assert {p.name: p.kind for p in parts(space)} == {"a": "numbers", "b": "long", "c": "numbers"}
    assert ObservationCodec(space).alone == ("b",)


def test_parts_of_an_observation_with_equal_names_get_different_keys() -> None:
    space = spaces.Dict({"a_b": pixels(64, 64, 3), "a": spaces.Dict(b=pixels(32, 32, 3))})
    assert {name: part.space.shape for name, part in shown(space).items()} == {
        "a_b": (64, 64, 3),
        "a_b_2": (32, 32, 3),
    }


def test_policy_observes_the_parts_of_a_dict_that_is_too_large_for_the_view() -> None:
    space = spaces.Dict(a=spaces.Dict(x=ONE, y=ONE, z=ONE), v=POSE)
    assert list(shown(space)) == ["a", "v"]
    assert list(shown(space, ObservationCodec(space).keys)) == ["a_x", "a_y", "v"]


@pytest.mark.parametrize(
    ("space", "says"),
    [
        (spaces.Graph(POSE, None), "the observation is Graph"),
        (spaces.Sequence(POSE), "the observation is Sequence"),
        (spaces.OneOf([POSE, ONE]), "the observation is OneOf"),
        (spaces.Dict(v=POSE, others=spaces.Sequence(POSE)), "part 'others' is Sequence"),
        (spaces.Text(20), "contains nothing that a policy can observe"),
        (spaces.Dict(said=spaces.Text(20)), "contains nothing that a policy can observe"),
        (numbers(0), "contains nothing that a policy can observe"),
        (numbers(200, 200, 3), "of shape [200, 200, 3] with 120000 numbers"),
        (spaces.Dict(map=numbers(MOST_NUMBERS + 1)), "part 'map' is an array"),
    ],
    ids=str,
)
def test_error_about_an_unusable_observation_part_names_the_part_and_a_wrapper(space: spaces.Space, says: str) -> None:
    (fault,) = unusable(space)
    assert says in fault
    assert "gymnasium.wrappers." in fault


shapes = st.lists(st.integers(1, 30), min_size=0, max_size=4).map(tuple)
boxes = st.one_of(
    shapes.map(lambda s: numbers(*s)),
    shapes.map(lambda s: numbers(*s, low=0, high=1)),
    shapes.map(lambda s: pixels(*s)),
)
nested = st.recursive(
    st.one_of(boxes, st.integers(1, 600).map(spaces.Discrete), st.integers(1, 600).map(spaces.MultiBinary)),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(spaces.Tuple),
        st.dictionaries(st.sampled_from(["a", "a_b", "b"]), inner, min_size=1, max_size=3).map(spaces.Dict),
    ),
    max_leaves=4,
)


@given(space=nested)
@example(space=spaces.Dict({"a_b": numbers(), "a": spaces.Dict(b=numbers(2))}))
@example(space=spaces.Dict({"a_b": spaces.Dict(c=numbers(3)), "a": spaces.Dict(b=numbers(2))}))
def test_every_accepted_part_of_an_observation_is_usable_by_policy_and_view(space: spaces.Space) -> None:
    if unusable(space):
        return
    codec, builder = policy_of(space)
    observation = space.sample()
    view = codec.view(Context(TASK, observation, {}, 0, np.random.default_rng(0), None))
    built = builder.build(observation, view)
    assert all(built[key] in entry for key, entry in builder.spaces.items())
    assert "time" not in view
    told = sum(int(np.prod(p.space.shape)) for p in parts(space) if p.kind != "discrete")
    images = sum(v.size for k, v in built.items() if k != "obs")
    assert built["obs"].size + images >= told
    assert len(json.dumps(view)) <= DEFAULT.view_bytes


def test_free_names_needs_a_number_of_lookups_proportional_to_the_number_of_names() -> None:
    """Every environment names the parts of its observation when it starts, and a few have thousands of parts."""
    lookups = 0

    class Taken(set[str]):
        def __contains__(self, name: object) -> bool:
            nonlocal lookups
            lookups += 1
            return super().__contains__(name)

    taken = Taken()
    free = FreeNames(taken)
    for _ in range(1000):
        taken.add(free.next("same"))
    assert len(taken) == 1000
    assert {"same", "same_2", "same_1000"} <= taken
    assert lookups < 3 * 1000 + 3


ROBOT = spaces.Dict(
    goal=spaces.Box(-1, 1, (3,)),
    inner=spaces.Dict(joints=spaces.Box(-np.inf, np.inf, (2,))),
    mode=spaces.Discrete(3),
)


def test_observations_argument_names_the_parts_of_a_dict() -> None:
    told = {"goal": {"x": "m", "y": "m", "z": ""}, "inner_joints": {"knee": "rad", "hip": "rad"}, "mode": "the gear"}
    codec = ObservationCodec(ROBOT, told)
    keys = {key.name: (key.doc, key.size) for key in codec.keys}
    assert keys["goal_x"] == ("m, -1 to 1", 1)
    assert keys["goal_z"] == ("z, -1 to 1", 1)
    assert keys["inner_joints_hip"] == ("rad", 1)
    assert keys["mode"][0].startswith("the gear; one of 3 states")
    seen = {"goal": np.array([1, 2, 3.0]), "inner": {"joints": np.array([4, 5.0])}, "mode": 1}
    view = codec.view(Context(TASK, seen, {}, 0, np.random.default_rng(0), None))
    assert [view[k] for k in ("goal_x", "goal_z", "inner_joints_knee", "inner_joints_hip", "mode")] == [1, 3, 4, 5, 1]
    assert [key.name for key in ObservationCodec(ROBOT, {"mode": ""}).keys] == [
        k.name for k in ObservationCodec(ROBOT).keys
    ]


@pytest.mark.parametrize(
    ("told", "says"),
    [
        (["x"], "Give part -> meaning"),
        ({"gaol": "m"}, "unknown part 'gaol' of the observation. Did you mean 'goal'"),
        ({"goal": {"x": ""}}, "needs 3 different observation labels for 'goal', got 1"),
        ({"mode": {"x": ""}}, "only the numbers of a one-dimensional Box have names"),
    ],
)
def test_observation_codec_refuses_names_that_do_not_fit_the_space(told, says: str) -> None:
    with pytest.raises(RlgptError) as fault:
        ObservationCodec(ROBOT, told)
    assert says in str(fault.value)


def test_labels_argument_names_the_numbers_of_an_action_part() -> None:
    space = spaces.Tuple([spaces.Discrete(3), spaces.Box(-1, 1, (2,))])
    codec = ActionCodec(space, {"tool": "which tool", "arm": {"dx": "m", "dy": "m, up"}})
    assert [(p.name, p.doc) for p in codec.parameters] == [("tool", "which tool"), ("arm_dx", "m"), ("arm_dy", "m, up")]
    action = codec.action({"tool": 2, "arm_dx": 0.5, "arm_dy": -1.0})
    assert action in space
    assert action[1].tolist() == [0.5, -1.0]
    with pytest.raises(ConfigError, match=r"labels\['arm'\] has 1 names"):
        ActionCodec(space, {"tool": "", "arm": {"dx": "m"}})
