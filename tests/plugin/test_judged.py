"""The success of an environment without a plugin comes from its return, its info, or the user's function."""

import functools

import gymnasium
import numpy as np
import pytest
import rlgpt
from gymnasium import spaces
from rlgpt.domain import CodedAction
from rlgpt.errors import ConfigError, PluginError
from rlgpt.plugin.generic import GenericPlugin
from rlgpt.plugin.judged import OVER, Judged
from rlgpt.plugin.rules import Moment, parse_rule


class Ends(gymnasium.Env):
    """An environment whose episodes have three steps. ``pay`` is the reward of each step, or a tuple with one reward
    per step. ``info`` is the info of each step.
    """

    def __init__(self, pay, info: dict) -> None:
        self.observation_space, self.action_space = spaces.Discrete(9), spaces.Discrete(2)
        self.pay, self.info = pay, info

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return 0, {}

    def step(self, action):
        self.t += 1
        pay = self.pay[self.t - 1] if isinstance(self.pay, tuple) else self.pay
        return self.t, pay, self.t == 3, False, dict(self.info)


@pytest.mark.parametrize(
    ("pay", "info", "success", "expected"),
    [
        (1.0, {}, None, [False, False, True]),
        (-1.0, {}, None, [False, False, False]),
        (1.0, {"success": False}, None, [False] * 3),
        (-1.0, {"success": np.bool_(True)}, None, [True] * 3),
        (-1.0, {"is_success": 1}, None, [True] * 3),
        (1.0, {"success": False}, lambda info, total: total >= 2, [False, True, True]),
    ],
)
def test_judged_reports_success_by_return_info_or_function(
    pay: float, info: dict, success, expected: list[bool]
) -> None:
    env = Judged(Ends(pay, info), 10, success)
    for _ in range(2):
        _, reset_info = env.reset(seed=0)
        assert reset_info["success"] is False
        found = [env.step(0)[4]["success"] for _ in range(3)]
        assert found == expected
        assert all(type(s) is bool for s in found)


@pytest.mark.parametrize(
    ("info", "cause"),
    [
        ({"crashed": True, "late": np.bool_(True), "speed": 3.0, "success": False}, "crashed, late"),
        ({"arrived": True, "success": True}, None),
        ({"crashed": True, "cause": "hit a wall"}, "hit a wall"),
        ({"crashed": False}, None),
    ],
)
def test_judged_gives_the_cause_of_an_episode_that_the_environment_ended(info: dict, cause: str | None) -> None:
    env = Judged(Ends(1.0, info), 10)
    env.reset(seed=0)
    infos = [env.step(0)[4] for _ in range(3)]
    assert infos[-1].get("cause") == cause
    assert all("cause" not in before for before in infos[:-1] if "cause" not in info)


@pytest.mark.parametrize(("horizon", "truncated"), [(2, [False, True]), (3, [False, False, False])])
def test_judged_truncates_exactly_at_the_horizon(horizon: int, truncated: list[bool]) -> None:
    env = Judged(Ends(1.0, {}), horizon)
    env.reset(seed=0)
    assert [env.step(0)[3] for _ in truncated] == truncated


def _landed(info, total_reward) -> bool:
    """Both legs
    on the ground."""
    return total_reward > 5


@pytest.mark.parametrize(
    ("name", "success", "told", "at"),
    [
        ("CartPole-v1", None, "at least 475", 475),
        ("CartPole-v1", 8, "at least 8 in the episode", 12),
        ("CartPole-v1", _landed, "Both legs on the ground.", 6),
        ("CartPole-v1", lambda info, total: total >= 9, "what the goal says", 9),
        ("Blackjack-v1", None, "ends with a positive total reward", None),
    ],
)
def test_task_of_a_generic_plugin_describes_and_applies_its_success_rule(
    name: str, success, told: str, at: int | None
) -> None:
    plugin = GenericPlugin.of(functools.partial(gymnasium.make, name), success=success, horizon=12)
    (task,) = plugin.tasks().values()
    assert told in task.success
    if at is not None and at < 100:
        env = plugin.make_env(task, seed=0)
        env.reset(seed=0)
        found = [env.step(i % 2)[4]["success"] for i in range(at)]
        assert found == [False] * (at - 1) + [True]


def test_success_reported_by_the_environment_has_priority_over_the_return() -> None:
    rule = parse_rule("reported else return >= 10")

    def judge(info: dict, total: float, over: bool) -> bool:
        return rule(Moment(info, total, terminated=False, truncated=over))

    assert [judge({}, 9.0, True), judge({}, 10.0, True), judge({}, 10.0, False)] == [False, True, False]
    assert [judge({"success": 0.0}, 99.0, True), judge({"is_success": True}, 0.0, False)] == [False, True]
    assert parse_rule(10)(Moment({"success": False}, 10.0, True, False))


@pytest.mark.parametrize(
    ("name", "pays"), [("MountainCar-v0", -1.0), ("Acrobot-v1", -1.0), ("Pendulum-v1", -16.3)], ids=str
)
def test_negative_return_threshold_is_judged_when_the_episode_is_over(name: str, pays: float) -> None:
    """The first steps have no cost, so the return exceeds the threshold until later costs reduce it."""
    success = -200.0 if name == "Pendulum-v1" else None
    plugin = GenericPlugin.of(functools.partial(gymnasium.make, name), success=success, horizon=150)
    (task,) = plugin.tasks().values()
    env = plugin.make_env(task, seed=0)
    env.reset(seed=0)
    total, found, over = 0.0, [], False
    while not over:
        _, reward, terminated, truncated, info = env.step(env.action_space.sample() * 0)
        total, over = total + float(reward), terminated or truncated
        found.append(info["success"])
    assert total >= pays * len(found)
    assert total < -110
    assert not any(found)


@pytest.mark.parametrize(
    ("pays", "threshold", "expected"),
    [
        ((5.0, 5.0, -9.0), 5.0, False),
        ((-9.0, 5.0, 9.0), 5.0, True),
        ((0.0, 0.0, -1.0), 0.0, False),
        ((0.0, 0.0, 0.0), 0.0, True),
        ((-1.0, -1.0, -1.0), -3.0, True),
        ((-1.0, -1.0, -2.0), -3.0, False),
    ],
)
@pytest.mark.parametrize("cut", [False, True], ids=["terminated", "truncated"])
def test_success_by_return_is_judged_at_the_end_of_the_episode(
    pays, threshold: float, expected: bool, cut: bool
) -> None:
    env = Judged(Ends(pays, {}), 2 if cut else 3, threshold)
    env.reset(seed=0)
    steps = pays[:2] if cut else pays
    found = [env.step(0)[4]["success"] for _ in steps]
    assert found == [False] * (len(steps) - 1) + [sum(steps) >= threshold if cut else expected]


def test_info_for_a_success_function_states_whether_the_episode_is_over() -> None:
    seen: list[bool] = []
    env = Judged(Ends(1.0, {}), 2, lambda info, total: bool(seen.append(info[OVER])))
    env.reset(seed=0)
    assert [OVER in env.step(0)[4] for _ in range(2)] == [False, False]
    assert seen == [False, True]


@pytest.mark.parametrize("reward", [float("nan"), float("inf"), None, "much"])
def test_reward_that_is_not_a_finite_number_raises_a_plugin_error(reward) -> None:
    env = Judged(Ends((1.0, reward, 1.0), {}), 10)
    env.reset(seed=0)
    env.step(0)
    with pytest.raises(PluginError, match=r"the environment gave the reward .* at step 2 of its episode"):
        env.step(0)


def test_reward_that_is_not_finite_during_a_coded_action_raises_a_plugin_error() -> None:
    source = "def run():\n    yield act()\n"
    env = rlgpt.extend(Ends(float("nan"), {}), actions=[CodedAction(name="go", doc="g", source=source)])
    env.reset(seed=0)
    with pytest.raises(PluginError, match="the environment gave the reward nan at step 1"):
        env.step(env.extension.write("go"))


def test_success_function_must_return_a_bool() -> None:
    env = Judged(Ends(1.0, {}), 10, lambda info, total: total)
    env.reset(seed=0)
    with pytest.raises(ConfigError, match=r"returned 1\.0, a float; it must return True or False"):
        env.step(0)


def test_judged_replaces_metrics_in_info_that_are_not_a_mapping() -> None:
    class Own(gymnasium.Wrapper):
        def step(self, action):
            *rest, info = self.env.step(action)
            return *rest, {**info, "metrics": [1, 2], "far": 3.0}

    env = Judged(Own(gymnasium.make("CartPole-v1")), 10, metrics={"far": "far"})
    env.reset(seed=0)
    assert env.step(0)[4]["metrics"] == {"far": 3.0}


def test_infinite_reward_threshold_of_a_spec_defines_no_success_rule() -> None:
    env = gymnasium.make("CartPole-v1")
    env.unwrapped.spec.reward_threshold = float("inf")
    assert (
        rlgpt.extend(env).task.success == GenericPlugin.of(gymnasium.make("Pendulum-v1")).tasks().popitem()[1].success
    )


@pytest.mark.parametrize(
    ("success", "says"),
    [
        (lambda x: True, r"success is a function with the parameters \(x\)\. Its parameters can be env"),
        (lambda: True, r"success is a function with the parameters \(\)\. Its parameters can be env"),
        (lambda env: env.foo, r"success\(\) raised AttributeError: .*foo.* It was called with env\. "),
        (
            lambda done, total: done["no"],
            r"success\(\) raised KeyError: 'no'\. It was called with info and total_reward",
        ),
    ],
    ids=["one parameter", "no parameter", "attribute", "key"],
)
def test_error_of_a_success_function_names_the_function_and_its_possible_parameters(success, says: str) -> None:
    def play() -> None:
        env = Judged(Ends(1.0, {}), 10, success)
        env.reset(seed=0)
        env.step(0)

    with pytest.raises(ConfigError, match=says):
        play()
