"""The flat view: an action space that any trainer accepts, in which actions have the same effect."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from rlgpt import extend, flat_view
from rlgpt.domain import CodedAction, Parameter
from rlgpt.errors import ConfigError
from rlgpt.rl.codec import ActionCodec
from rlgpt.testing.grid import TASKS, GridPlugin


def still(name: str, parameter: bool = False) -> CodedAction:
    declared = (Parameter(name="amount", low=0.0, high=10.0, default=2.5),) if parameter else ()
    arguments = "amount=2.5" if parameter else ""
    return CodedAction(name=name, doc="", source=f"def run({arguments}):\n    yield observe()\n", parameters=declared)


class Spaces(gym.Env[Any, Any]):
    """An environment with the given action space, which stores its last action."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self, space: spaces.Space) -> None:
        self.action_space = space
        self.observation_space = spaces.Box(-1, 1, (1,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.last = action
        return np.zeros(1, np.float32), 0.0, False, False, {}


def test_largest_score_chooses_the_branch_of_a_flat_box() -> None:
    base = spaces.Box(np.array([-2.0, 0.0], np.float32), np.array([2.0, 5.0], np.float32))
    env = extend(Spaces(base), [still("x"), still("y", True)], trace=True)
    flat = flat_view(env)
    assert flat.action_space.shape == (3 + 2 + 1,)
    assert np.array_equal(flat.action_space.high, np.array([1, 1, 1, 2, 5, 1], np.float32))
    flat.reset(seed=0)
    flat.step(np.array([0.9, 0.1, 0.2, -1.5, 4.0, 0.0], np.float32))
    assert np.allclose(env.env.last, [-1.5, 4.0])
    info = flat.step(np.array([0.1, 0.1, 0.2, 0.0, 0.0, 0.5], np.float32))[4]
    assert info["action"] == "y"
    assert info["decision"].parameters == {"amount": pytest.approx(7.5)}


@pytest.mark.parametrize("residual", [0.0, 0.5])
@pytest.mark.parametrize("coded", [[still("x", True)], [still("x"), still("y", True)], [still("x"), still("z")]])
def test_flat_view_of_a_box_without_base_actions_keeps_parameters_and_correction(
    coded: list[CodedAction], residual: float
) -> None:
    extended = extend(Spaces(spaces.Box(-3, 3, (2,))), coded, base_actions=(), residual=residual, trace=True)
    parameters = any(action.parameters for action in coded)
    flat = flat_view(extended)
    flat.reset(seed=0)
    flat.action_space.seed(0)
    if not parameters and not residual:
        assert flat.action_space == spaces.Discrete(2)
        assert flat.step(1)[4]["action"] == "z"
        return
    scores = len(coded) if len(coded) > 1 else 0
    assert flat.action_space == spaces.Box(-1, 1, (scores + parameters + 2 * bool(residual),))
    for chosen, action in enumerate(coded):
        given = flat.action_space.sample()
        given[:scores], given[scores:] = np.eye(len(coded))[chosen][:scores], 0.5
        decision = flat.step(given)[4]["decision"]
        assert decision.action == action.name
        assert decision.parameters == ({"amount": pytest.approx(7.5)} if action.parameters else {})


def test_flat_view_of_a_discrete_space_uses_the_default_parameters_of_actions() -> None:
    for base, expected in (
        (spaces.Discrete(3), spaces.Discrete(5)),
        (spaces.MultiDiscrete([3, 4]), spaces.MultiDiscrete([3, 3, 4])),
    ):
        flat = flat_view(extend(Spaces(base), [still("x"), still("y", True)], trace=True))
        assert flat.action_space == expected
        flat.reset(seed=0)
        chosen = 4 if isinstance(base, spaces.Discrete) else np.array([2, 0, 0])
        assert flat.step(chosen)[4]["decision"].parameters == {"amount": 2.5}


@pytest.mark.parametrize(
    "base",
    [spaces.MultiDiscrete([3, 4], start=[5, -7]), spaces.Tuple([spaces.Discrete(3, start=5), spaces.Discrete(4)])],
)
def test_flat_view_passes_valid_actions_to_discrete_spaces_with_any_start(base: spaces.Space) -> None:
    """Every action that the base environment receives is in its space."""
    env = extend(Spaces(base), [still("x")])
    codec = ActionCodec(env.action_space, env.layout)
    flat = flat_view(env)
    assert flat.action_space == spaces.MultiDiscrete([2, 3, 4])
    for chosen in (env, flat):
        chosen.reset(seed=0)
        chosen.action_space.seed(0)
        for _ in range(20):
            action = chosen.action_space.sample()
            chosen.step(action)
            assert base.contains(env.env.last), action
    env.step(codec.decode((0, 2, 3)))
    flat_reached = env.env.last
    flat.step(np.array([0, 2, 3]))
    assert np.array_equal(env.env.last, flat_reached)
    assert base.contains(flat_reached)


def test_base_actions_of_a_multi_discrete_space_keep_their_start_values() -> None:
    base = spaces.MultiDiscrete([3, 4, 2], start=[5, -7, 1])
    env = extend(Spaces(base), base_actions=["action_1", "action_2"])
    assert env.action_space == spaces.MultiDiscrete([4, 2], start=[-7, 1])
    env.reset(seed=0)
    env.step(np.array([-4, 2]))
    assert np.array_equal(env.env.last, [5, -4, 2])


def test_flat_view_returns_an_environment_with_a_flat_space_unchanged() -> None:
    env = extend(Spaces(spaces.Discrete(3)), [still("x")])
    assert flat_view(env) is env


def test_flat_view_accepts_a_wrapper_of_an_extended_environment() -> None:
    wrapped = gym.wrappers.RecordEpisodeStatistics(extend(Spaces(spaces.Box(-1, 1, (2,))), [still("x", True)]))
    flat = flat_view(wrapped)
    assert flat.env is wrapped
    assert flat.action_space.shape == (2 + 2 + 1,)
    flat.reset(seed=0)
    assert flat.step(np.array([0, 1, 0, 0, 0], np.float32))[4]["action"] == "x"
    with pytest.raises(ConfigError, match=r"needs an environment from extend\(\)"):
        flat_view(gym.make("CartPole-v1"))
    changed = gym.wrappers.TransformAction(wrapped, lambda a: a, spaces.Discrete(2))
    with pytest.raises(ConfigError, match=r"make the flat view first"):
        flat_view(changed)


def test_flat_view_refuses_a_tuple_of_one_box_without_coded_actions() -> None:
    alone = extend(Spaces(spaces.Tuple([spaces.Box(-1, 1, (1,), np.float32)])))
    assert alone.layout.selector is None
    with pytest.raises(ConfigError, match=r"no flat view"):
        flat_view(alone)


def test_flat_view_refuses_a_tuple_of_discrete_and_box() -> None:
    mixed = spaces.Tuple([spaces.Discrete(2), spaces.Box(-1, 1, (1,), np.float32)])
    with pytest.raises(ConfigError, match=r"no flat view"):
        flat_view(extend(Spaces(mixed), [still("x")]))


def test_stable_baselines3_checker_accepts_the_flat_view() -> None:
    from stable_baselines3.common.env_checker import check_env

    plugin, task = GridPlugin(), TASKS["grid/key"]
    check_env(flat_view(extend(plugin.make_env(task, seed=0), [still("x", True)], plugin=plugin, task=task)))
    pendulum = flat_view(extend(gym.make("Pendulum-v1"), [still("x", True)]))
    with pytest.warns(UserWarning, match=r"symmetric"):
        check_env(pendulum)


def test_every_info_of_a_gymnasium_vector_has_the_duration_of_its_decision() -> None:
    """In the step after the end of an episode, a vector only resets its environments."""
    source = "def run():\n    for _ in range(50):\n        yield act(torque=0.0)\n"
    turns = [CodedAction(name=name, doc="", source=source) for name in ("one", "two")]
    vector = gym.vector.SyncVectorEnv(
        [lambda: flat_view(extend(gym.make("Pendulum-v1"), turns, labels=["torque"], base_actions=()))] * 2
    )
    infos = [vector.reset(seed=0)[1], *(vector.step(np.zeros(2, np.int64))[4] for _ in range(6))]
    assert [info["duration"].tolist() for info in infos] == [[0, 0], *[[50, 50]] * 4, [0, 0], [50, 50]]
    assert [bool(info["total_reward"].any()) for info in infos] == [False, *[True] * 4, False, True]
