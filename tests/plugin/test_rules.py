"""Rules of success that are given as text."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st
from rlgpt.errors import ConfigError
from rlgpt.plugin.judged import Judged
from rlgpt.plugin.rules import Moment, lookup, number_of, parse_rule

STEP, LAST, TIME = (False, False), (True, False), (False, True)


def judge(rule: Any, info: dict[str, Any], total: float = 0.0, ends: tuple[bool, bool] = STEP) -> bool:
    return parse_rule(rule)(Moment(info, total, *ends))


@pytest.mark.parametrize(
    ("rule", "info", "total", "ends", "expected"),
    [
        ("is_success", {"is_success": np.bool_(True)}, 0, STEP, True),
        ("is_success", {}, 0, STEP, False),
        ("is_success at the end", {"is_success": True}, 0, STEP, False),
        ("is_success at the end", {"is_success": True}, 0, TIME, True),
        ("terminated and not crashed", {"crashed": False}, 0, LAST, True),
        ("terminated and not crashed", {"crashed": True}, 0, LAST, False),
        ("terminated and not crashed", {"crashed": False}, 0, TIME, False),
        ("truncated", {}, 0, TIME, True),
        ("not terminated", {}, 0, TIME, True),
        ("not terminated", {}, 0, STEP, False),
        ("return >= 200", {}, 200, LAST, True),
        ("return >= 200", {}, 200, STEP, False),
        ("return >= 200 ever", {}, 200, STEP, True),
        (200, {}, 200.5, TIME, True),
        ("return>-1.5e2", {}, -150, LAST, False),
        ("achievements.wood >= 1", {"achievements": {"wood": 1}}, 0, STEP, True),
        ("achievements.wood >= 1", {"achievements": {}}, 0, STEP, False),
        ("info.return >= 3", {"return": 3}, 0, STEP, True),
        ("level/seed == 2", {"level/seed": np.int64(2)}, 0, STEP, True),
        ("distance < 0.1", {"distance": "near"}, 0, STEP, False),
        ("reported", {"success": 1}, 0, STEP, True),
        ("reported at the end", {"is_success": True}, 0, STEP, False),
        ("reported else terminated and return > 0", {}, 1, LAST, True),
        ("reported else terminated and return > 0", {"success": False}, 1, LAST, False),
    ],
)
def test_success_rule_is_true_or_false_for_a_step(rule, info, total, ends, expected) -> None:
    assert judge(rule, info, total, ends) is expected


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("", "'' is not a condition"),
        ("return", "the return needs a number"),
        ("crashed or terminated", "'crashed or terminated' is not a condition"),
        ("not return >= 3", "compares a true-or-false value"),
        ("terminated >= 1", "compares a true-or-false value"),
        ("and", "'and' is not a condition"),
        ("__import__('os')", "is not a condition"),
        (True, "success is True, a bool"),
        (None, "success is None"),
    ],
)
def test_error_about_an_invalid_rule_shows_the_valid_form(rule, says: str) -> None:
    with pytest.raises(ConfigError) as fault:
        parse_rule(rule)
    assert says in str(fault.value)
    assert "'terminated and not crashed'" in str(fault.value)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("reported else terminated and return > 0", "reports as success, or else an episode it ends with a positive"),
        (
            "reported else return >= 200",
            "of at least 200 in the episode, unless the environment itself reports success",
        ),
        (97, "a total reward of at least 97 in the episode"),
        ("terminated and not crashed", "by the environment and the environment's crashed is not true"),
        ("is_success at the end", "is_success is true, at the end of the episode"),
        ("coins >= 3", "the environment's coins >= 3"),
    ],
)
def test_success_rule_is_described_in_words(rule, words: str) -> None:
    assert words in parse_rule(rule).words


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(-1e9, 1e9))
def test_success_given_as_a_number_is_the_minimal_return(least: float, total: float) -> None:
    rule = parse_rule(least)
    assert parse_rule(rule.text) == rule
    if abs(total - least) > 1e-9 * abs(least):
        assert rule(Moment({}, total, True, False)) is (total >= least)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=3),
        lambda inner: st.dictionaries(st.text("ab.", max_size=3), inner),
    )
)
def test_lookup_returns_none_or_a_value_for_any_info(info) -> None:
    found = lookup(info if isinstance(info, dict) else {}, "a.b")
    assert number_of(found) is None or isinstance(number_of(found), float)


class Counts(gymnasium.Env[Any, Any]):
    """An environment with three steps. ``info`` has the number of the step, and a mapping."""

    observation_space, action_space = spaces.Discrete(9), spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return 0, {}

    def step(self, action):
        self.t += 1
        info: dict[str, Any] = {"n": self.t, "got": {"wood": np.float32(self.t)}, "name": "x"}
        return self.t, 1.0, self.t == 3, False, info


def play(env: gymnasium.Env[Any, Any]) -> list[dict[str, Any]]:
    env.reset(seed=0)
    return [env.step(0)[4] for _ in range(3)]


def test_judged_takes_metrics_from_keys_of_info() -> None:
    infos = play(Judged(Counts(), 9, metrics={"got.wood": "wood", "absent": "absent"}))
    assert [info["metrics"] for info in infos] == [{"wood": 1.0}, {"wood": 2.0}, {"wood": 3.0}]
    with pytest.raises(ConfigError, match=r"metrics: info\['name'\] is 'x' at step 1, not a finite number"):
        play(Judged(Counts(), 9, metrics={"name": "name"}))


@pytest.mark.parametrize(
    "success",
    [
        lambda env, info: env.t == 2,
        lambda info, total_reward: total_reward == 2,
        lambda i, r: r == 2,
        lambda observation: observation == 2,
        lambda info, terminated: info["n"] == 2 and not terminated,
        "n == 2",
    ],
)
def test_success_function_gets_arguments_by_parameter_name(success) -> None:
    assert [info["success"] for info in play(Judged(Counts(), 9, success))] == [False, True, False]


@pytest.mark.parametrize("value", [3, True, np.float32(3), np.array([3]), np.array(3.0), np.array([[3]])])
def test_number_of_reads_numbers_and_arrays_with_one_number(value: Any) -> None:
    assert number_of(value) in (1.0, 3.0)


@pytest.mark.parametrize(
    "value", ["3", [3], (3,), {}, None, object(), np.array(["x"]), np.array([1, 2]), 10**400, float("nan"), np.inf]
)
def test_number_of_returns_none_for_values_that_are_not_one_finite_number(value: Any) -> None:
    assert number_of(value) is None
