"""``extend()`` raises an error with advice for arguments that it cannot use."""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlgpt import extend
from rlgpt.domain import Bundle, CodedAction, Parameter, Provenance, RLSetup, Verdict, World
from rlgpt.errors import BundleError, ConfigError, UnknownNameError
from rlgpt.options import BrokenActionWarning, flat_view, save_bundle
from rlgpt.options.sharing import pack
from rlgpt.plugin.generic import GenericPlugin
from rlgpt.plugin.idle import idle_action, plain_idle
from rlgpt.sandbox import Guest, Sandbox, SandboxLimits

PUSH = CodedAction(name="push", doc="", source="def run():\n    yield act(action='action_1')\n")


def cartpole() -> gym.Env[Any, Any]:
    return gym.make("CartPole-v1")


@pytest.mark.parametrize(
    ("actions", "says"),
    [
        (PUSH, r"one CodedAction, 'push'.*put it into a list"),
        (["x"], r"contains 'x' \(of type str\).*CodedAction\(name="),
        ([PUSH, None], r"contains None \(of type NoneType\)"),
        (5, r"actions is 5 \(of type int\)"),
        ({"push": PUSH}, r"\(of type dict\).*a list of CodedAction"),
    ],
)
def test_extend_refuses_invalid_actions(actions: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        extend(cartpole(), actions)


def test_extend_accepts_any_iterable_of_actions() -> None:
    assert extend(cartpole(), iter([PUSH])).layout.branches == ("action_0", "action_1", "push")


def test_extend_refuses_an_object_that_is_not_an_environment() -> None:
    with pytest.raises(ConfigError, match=r"got 'CartPole-v1'.*extend\(gymnasium\.make\('CartPole-v1'\), \.\.\.\)"):
        extend("CartPole-v1", [PUSH])  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"got <function cartpole.*Make it first"):
        extend(cartpole, [PUSH])  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"a vector of environments\. Use extend_vector"):
        extend(gym.vector.SyncVectorEnv([cartpole]), [PUSH])  # type: ignore[arg-type]


@pytest.mark.parametrize("argument", ["quarantined", "base_actions", "labels", "observations"])
@pytest.mark.parametrize(("names", "says"), [("push", "is the text 'push'"), (5, "is 5"), ([0], r"is \[0\]")])
def test_extend_refuses_names_that_are_not_a_list_of_texts(argument: str, names: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=rf"{argument} {says}.*give a list of names"):
        extend(cartpole(), [PUSH], **{argument: names})


@pytest.mark.parametrize(
    ("argument", "values", "says"),
    [
        ("gamma", (1.5, 0, "0.9", [1], math.nan, True), r"a discount per primitive step in \(0, 1\]"),
        ("horizon", ("5", 0, -3, 2.5, True), "at least 1 primitive step, or None"),
        ("interrupt_every", ("5", 0, 2.5), "at least 1 primitive step, or None"),
        ("residual", ("5", 2), r"a share of half the action's range, in \[0, 1\]"),
        ("reward_weights", (len, ["env_reward"], {"env_reward": "1"}, {"env_reward": math.nan}), "a CodedReward in"),
        ("functions", (len, [len]), "a list of CodedFeatures, CodedReward and CodedPredicate"),
        ("plugin", ("minecraft",), "an EnvironmentPlugin"),
        ("task", (5,), "a Task of the plugin, or its id"),
        ("on_step", (3, "print"), "a function, or None"),
        ("trace", ("no", 1), "True or False"),
    ],
)
def test_extend_names_the_argument_with_an_invalid_value(argument: str, values: Any, says: str) -> None:
    for value in values:
        with pytest.raises(ConfigError, match=rf"{argument}.* (is|contains) .*[vV]alid: .*{says}"):
            extend(cartpole(), [PUSH], **{argument: value})


def test_extend_names_actions_that_have_the_name_of_another_action() -> None:
    for actions, labels in (([PUSH, PUSH], None), ([PUSH], ["pull", "push"])):
        with pytest.raises(ConfigError, match=r"got push more than once in .*Rename the coded actions"):
            extend(cartpole(), actions, labels=labels)


def test_extend_refuses_a_task_of_another_plugin() -> None:
    with pytest.raises(UnknownNameError, match=r"task 'nonsense/x'.*Valid: \S*cartpole\S*.*or give the plugin"):
        extend(cartpole(), [PUSH], task="nonsense/x")
    env = extend(cartpole(), [PUSH])
    assert extend(cartpole(), [PUSH], task=env.task.id).task == env.task


def test_extended_environment_raises_an_error_for_a_step_before_reset() -> None:
    for actions in ((), [PUSH]):
        with pytest.raises(gym.error.ResetNeeded, match=r"call env\.reset\(\) first"):
            extend(cartpole(), actions).step(0)


def test_extend_warns_once_for_each_source_that_cannot_be_loaded() -> None:
    broken = [CodedAction(name=n, doc="", source=s) for n, s in (("cut", "def run(:"), ("zero", "\n1 / 0"))]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        env = extend(cartpole(), [broken[0], PUSH, broken[1]])
    assert [w.category for w in caught] == [BrokenActionWarning] * 2
    assert [w.filename for w in caught] == [__file__] * 2
    told = [str(w.message) for w in caught]
    assert "'cut' cannot be loaded, line 1: SyntaxError: " in told[0]
    assert "'zero' cannot be loaded, line 2: ZeroDivisionError: division by zero. Fix its source" in told[1]
    assert {n: v.kind for n, v in env.load_verdicts.items()} == {"cut": "load", "zero": "load"}


def test_timeout_at_the_first_load_of_a_source_keeps_its_can_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a busy machine delays the first load of the source, later episodes still use its ``can_start``."""
    source = "import random\ndef can_start(view):\n    return random.random() > 1\n\n" + PUSH.source
    shut = PUSH.model_copy(update={"source": source})
    load = Guest.load
    slow = Verdict(kind="wall", action="push", message="it ran too long by the wall clock")
    monkeypatch.setattr(Guest, "load", lambda guest, name: slow)
    env = extend(cartpole(), [shut])
    assert not env.load_verdicts
    _, info = env.reset(seed=0)
    assert (info["action_mask"][-1], info["verdicts"]) == (0, (slow,))
    monkeypatch.setattr(Guest, "load", load)
    _, info = env.reset(seed=0)
    assert info["action_mask"][-1] == 0
    assert "verdicts" not in info


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (
            "def run():\n    yield observe()\n    act(action='action_1')\n",
            r"line 3: `act\(\.\.\.\)` does nothing unless",
        ),
        (
            "def run():\n    yield act()\n\ndef can_start(view):\n    yield True\n",
            r"line 4: `can_start\(view\)` is a plain",
        ),
        (
            "def run():\n    yield act()\n\ndef can_start(view):\n    view\n",
            r"line 4: `can_start\(view\)` returns nothing",
        ),
        ("def run():\n    act()\n", r"line 1: `run` is not a generator.* And 1 more"),
        ("def run():\n    yield fly()\n", r"line 2: there is no 'fly' to call"),
        ("def run():\n    yield act('north')\n", r"line 2: 'action' of act must be one of 'action_0', 'action_1', got"),
        ("def run():\n    yield repeat(action=0)\n", r"line 2: 'action' of repeat must be one of .*, got 0"),
        ("def run():\n    yield repeat(steps=2.5)\n", r"line 2: 'steps' of repeat must be a whole number, got 2\.5"),
    ],
)
def test_extend_warns_of_mistakes_in_sources_and_continues(source: str, says: str) -> None:
    silent = CodedAction(name="silent", doc="", source=source)
    with pytest.warns(BrokenActionWarning, match=rf"'silent' has a fault, {says}") as caught:
        assert [a.name for a in extend(cartpole(), [PUSH, silent]).actions] == ["push", "silent"]
    assert [w.filename for w in caught] == [__file__]


FLY = CodedAction(name="fly", doc="", source="def run():\n    yield take_off()\n")


def test_extend_warns_about_the_broken_actions_of_a_bundle() -> None:
    tested = Provenance(task="sky/up", success_rate=1.0, episodes=5)
    with pytest.warns(BrokenActionWarning, match=r"'fly' of the bundle for sky/up .*there is no 'take_off' to call"):
        extend(cartpole(), Bundle(actions=(FLY, PUSH), tested_on=tested))
    same = Provenance(task=extend(cartpole()).task.id, success_rate=1.0, episodes=5)
    with pytest.warns(BrokenActionWarning, match="there is no 'take_off' to call"):
        extend(cartpole(), Bundle(actions=(FLY,), tested_on=same))


def test_extend_refuses_a_bundle_for_another_task_whose_actions_are_all_broken() -> None:
    cut = CodedAction(name="cut", doc="", source="def run(:")
    bundle = Bundle(actions=(FLY, cut), tested_on=Provenance(task="sky/up", success_rate=1.0, episodes=5))
    with pytest.raises(BundleError, match=r"for the task sky/up, and all .* broken in gymnasium/cartpole.*plugin="):
        extend(cartpole(), bundle)


def test_extend_reads_a_bundle_from_a_run_and_from_an_archive(tmp_path: Path) -> None:
    run, bundle = tmp_path / "run", Bundle(actions=(PUSH,))
    run.mkdir()
    (run / "run.json").write_text("{}")
    with pytest.raises(BundleError, match=r"no bundle at .*run/bundle.*the folder of a finished run"):
        extend(cartpole(), run)
    save_bundle(bundle, run / "bundle")
    for path in (run, str(run), run / "bundle", pack(bundle, tmp_path / "bundle.zip")):
        assert extend(cartpole(), path).actions[0].name == "push"
    with pytest.raises(BundleError, match=r"there is no bundle at .*nowhere\.zip.*or an archive"):
        extend(cartpole(), tmp_path / "nowhere.zip")


def test_extend_accepts_a_bundle_without_coded_actions_whose_setup_has_a_correction() -> None:
    env = gym.make("Pendulum-v1")
    setup = RLSetup(reward_weights={}, observation_keys=(), residual=0.2, interrupt_every=5)
    assert extend(env, Bundle(actions=(), setup=setup)).action_space == env.action_space


def test_extend_warns_of_a_part_of_the_observation_that_code_cannot_read() -> None:
    space = gym.spaces.Dict({"seen": gym.spaces.Box(-9, 9, (4,)), "more": gym.spaces.Sequence(gym.spaces.Discrete(2))})
    env = gym.wrappers.TransformObservation(cartpole(), lambda seen: {"seen": seen, "more": ()}, space)
    with pytest.warns(UserWarning, match=r"part 'more' is Sequence.*its view leaves it out\. .*Transform") as caught:
        extended = extend(env, [PUSH])
    assert [w.filename for w in caught] == [__file__]
    assert [key.name for key in extended.view_keys] == ["seen"]
    extend(env)


def test_extend_does_not_warn_of_code_that_may_be_correct() -> None:
    source = "def run(force=1):\n    try:\n        import numpy\n    except ImportError:\n        yield act()\n"
    extend(cartpole(), [CodedAction(name="careful", doc="", source=source)])
    source = "def turn(action):\n    yield repeat(action, steps=999)\n\ndef run():\n    yield from turn('action_1')\n"
    extend(cartpole(), [CodedAction(name="clipped", doc="", source=source)])


def box(**more: Any) -> gym.Env[Any, Any]:
    return gym.make("Pendulum-v1", **more)


GO = CodedAction(
    name="go",
    doc="",
    source="def run(force=0.0):\n    yield act()\n",
    parameters=(Parameter(name="force", low=-1.0, high=1.0, default=0.0),),
)


@pytest.mark.parametrize(
    "action",
    [
        *([1, 1, 1], 0, [7, [0.0], [0.0]], [-1, [0.0], [0.0]], None, "go", [math.nan, 0, 0], [0.7, [0.0], [0.0]]),
        *([0, [math.nan], [0.0]], [0, [0.0, 1.0], [0.0]], [1, [0.0], [math.nan]], [1, [0.0], []]),
    ],
)
def test_step_refuses_an_action_outside_the_space(action: Any) -> None:
    env = extend(box(), [GO])
    env.reset(seed=0)
    if action == [1, 1, 1]:
        env = extend(cartpole(), [GO])
        env.reset(seed=0)
    with pytest.raises(ConfigError, match=r"is not in the extended space Tuple.*env\.extension\.write"):
        env.step(action)


@pytest.mark.parametrize("action", [5, -1])
def test_step_refuses_an_action_of_an_unknown_branch(action: int) -> None:
    env = extend(cartpole(), [PUSH])
    env.reset(seed=0)
    with pytest.raises(ConfigError, match=rf"the action {action} is not in the extended space Discrete\(3\)"):
        env.step(action)


@pytest.mark.parametrize("force", [9, -1.5, math.nan, math.inf])
def test_extension_write_requires_parameters_in_their_ranges(force: float) -> None:
    extension = extend(cartpole(), [GO]).extension
    with pytest.raises(ConfigError, match=r"'force' of 'go' is .*; give a number from -1 to 1"):
        extension.write("go", {"force": force})
    assert extension.write("go", {"force": 1})[1].tolist() == [1.0]


def test_extension_write_requires_numeric_parameters_by_name() -> None:
    extension = extend(cartpole(), [GO]).extension
    with pytest.raises(ConfigError, match=r"parameters of 'go' are 3\.0; give them by name"):
        extension.write("go", 3.0)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"parameter 'force' of 'go' is 'hard'; give a number"):
        extension.write("go", {"force": "hard"})  # type: ignore[dict-item]


@pytest.mark.parametrize(("actions", "given"), [([GO], [0.0] * 3), ([GO], 1), ([PUSH], [[0.0, 0.0, 0.0]])])
def test_flat_view_error_about_an_action_states_the_expected_space(actions: list[CodedAction], given: Any) -> None:
    env = flat_view(extend(box(), [a.model_copy(update={"source": GO.source}) for a in actions]))
    env.reset(seed=0)
    with pytest.raises(ConfigError, match=r"has shape \(.*the flat view's actions are Box"):
        env.step(given)
    env = flat_view(extend(gym.make("CartPole-v1"), [GO]))
    env.reset(seed=0)
    with pytest.raises(ConfigError, match=r"has shape \(2,\); the flat view's actions are Discrete\(3\)"):
        env.step([1, 1])


def test_extend_accepts_a_sandbox_as_limits_or_as_a_dict_of_limits() -> None:
    three = CodedAction(name="three", doc="", source="def run():\n    yield [act()] * 3\n")
    for limits in ({"requests": 2}, SandboxLimits(requests=2), Sandbox(SandboxLimits(requests=2))):
        env = extend(cartpole(), [three], sandbox=limits)
        env.reset(seed=0)
        *_, info = env.step(2)
        assert [v.kind for v in info["verdicts"]] == ["type"]
    with pytest.raises(UnknownNameError, match=r"Did you mean 'sandbox\.yields'"):
        extend(cartpole(), [PUSH], sandbox={"yield": 3})
    with pytest.raises(ConfigError, match=r"sandbox is 3 \(of type int\)\. Valid: a Sandbox, SandboxLimits"):
        extend(cartpole(), [PUSH], sandbox=3)  # type: ignore[arg-type]


def test_view_keeps_the_key_names_of_a_dict_observation() -> None:
    space = gym.spaces.Dict({"state": gym.spaces.Box(-1, 1, (2,)), "goal": gym.spaces.Box(-1, 1, (2,))})
    env = gym.wrappers.TransformObservation(cartpole(), lambda seen: {"state": seen[:2], "goal": seen[2:]}, space)
    named = extend(env, [PUSH], observations={"state": "position", "goal": ["x", "y"]})
    named.reset(seed=0)
    assert list(named.view()) == ["goal_x", "goal_y", "state"]
    with pytest.raises(UnknownNameError, match=r"unknown part 'x' of the observation.* Give part -> meaning"):
        extend(env, [PUSH], observations=["x", "y"])
    picture = gym.spaces.Box(0, 255, (9, 9), np.uint8)
    grid = gym.wrappers.TransformObservation(cartpole(), lambda seen: np.zeros((9, 9), np.uint8), picture)
    with pytest.raises(ConfigError, match=r"code sees it as .*\. Leave the names out; .* goes into docs"):
        extend(grid, [PUSH], observations={"state": "position"})


@pytest.mark.parametrize("success", ["x or y", [1]])
def test_generic_plugin_refuses_an_invalid_success_rule_with_advice(success: Any) -> None:
    with pytest.raises(ConfigError, match=r"success.* Write conditions joined by 'and'"):
        GenericPlugin.of(cartpole, success=success)


@pytest.mark.parametrize(("idle", "plays"), [("right", 1), (1, 1), (None, 0)])
def test_argument_idle_of_extend_sets_the_idle_action(idle: Any, plays: int) -> None:
    shut = PUSH.model_copy(update={"source": "def can_start(view):\n    return False\n\ndef run():\n    yield act()\n"})
    bare, env = cartpole(), extend(cartpole(), [shut], labels=["left", "right"], idle=idle)
    bare.reset(seed=0)
    env.reset(seed=0)
    seen, *_, info = env.step(2)
    assert info["ended"] == "masked"
    assert seen.tolist() == bare.step(plays)[0].tolist()


def test_extend_uses_the_idle_action_of_a_bundle_unless_idle_is_given() -> None:
    shut = PUSH.model_copy(update={"source": "def can_start(view):\n    return False\n\ndef run():\n    yield act()\n"})
    world = GenericPlugin.of(cartpole, labels=["left", "right"], idle="right").world
    bundle = Bundle.model_validate_json(Bundle(actions=(shut,), world=world).model_dump_json())
    for more, plays in (({}, 1), ({"idle": "left"}, 0), ({"idle": 0}, 0)):
        bare, env = cartpole(), extend(cartpole(), bundle, **more)
        bare.reset(seed=0)
        env.reset(seed=0)
        assert env.step(2)[0].tolist() == bare.step(plays)[0].tolist()


NESTED = gym.spaces.Dict(
    {
        "arm": gym.spaces.Box(-1, 1, (2, 2)),
        "hand": gym.spaces.Tuple([gym.spaces.Discrete(3, start=-1), gym.spaces.MultiBinary(3)]),
        "keys": gym.spaces.MultiDiscrete([2, 5]),
    }
)


@given(seed=st.integers(0, 2**32 - 1))
def test_idle_action_of_any_space_is_unchanged_after_json(seed: int) -> None:
    NESTED.seed(seed)
    action = NESTED.sample()
    again = idle_action(NESTED, (), json.loads(json.dumps(plain_idle(action))))
    assert NESTED.contains(again)
    assert gym.spaces.flatten(NESTED, again).tolist() == gym.spaces.flatten(NESTED, action).tolist()


def test_idle_action_accepts_another_dtype_but_not_another_value() -> None:
    assert GenericPlugin.of(box(), idle=np.zeros(1)).world.idle == [0.0]
    assert idle_action(gym.spaces.MultiDiscrete([2, 5]), (), np.array([1.0, 4.0])).tolist() == [1, 4]
    for space, wrong in ((gym.spaces.MultiDiscrete([2, 5]), [0.9, 1]), (gym.spaces.MultiBinary(2), [2, 0])):
        with pytest.raises(ConfigError, match="not an action of"):
            idle_action(space, (), wrong)


def test_extend_refuses_an_idle_action_outside_the_space() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown label 'rest'.*Valid: left, right\. The idle action must be"):
        extend(cartpole(), [PUSH], labels=["left", "right"], idle="rest")
    with pytest.raises(ConfigError, match=r"idle is 2, not an action of Discrete\(2\)"):
        extend(cartpole(), [PUSH], idle=2)
    assert extend(box(), [GO], idle=[0.5]).extension.write("go")[1].tolist() == [0.5]
    with pytest.raises(ConfigError, match=r"idle cannot be given together with plugin="):
        extend(cartpole(), [PUSH], plugin=GenericPlugin.of(cartpole), idle=1)


def test_extend_error_names_the_bundle_as_the_source_of_unsuitable_labels() -> None:
    bundle = Bundle(actions=(GO,), world=World(labels={"force": "", "brake": "", "gear": ""}))
    with pytest.raises(ConfigError, match=r"needs 2 different labels, got 3.*those of the bundle.*another environment"):
        extend(cartpole(), bundle)


@pytest.mark.parametrize("name", ["Go There", "1st", "", "a" * 41])
def test_coded_action_error_about_an_invalid_name_states_the_rule(name: str) -> None:
    with pytest.raises(ValueError, match=r"lower case letters, digits and underscores, a letter first.*got") as caught:
        CodedAction(name=name, doc="", source="")
    assert "pattern" not in str(caught.value)


def test_all_coded_actions_can_call_shared_code_and_use_the_same_memory() -> None:
    count = "def run(memory):\n    count(memory)\n    yield act()\n"
    both = [CodedAction(name=name, doc="", source=count) for name in ("one", "two")]
    tell = CodedAction(name="tell", doc="", source="def run(memory):\n    raise ValueError(memory)\n    yield act()\n")
    env = extend(cartpole(), [*both, tell], shared="def count(memory):\n    memory['n'] = memory.get('n', 0) + 1\n")
    for _ in range(2):
        env.reset(seed=0)
        env.step(2)
        env.step(3)
        *_, info = env.step(4)
        assert info["verdicts"][0].message == "ValueError: {'n': 2}", "a reset empties the memory"
    with pytest.raises(ConfigError, match="shared is 3"):
        extend(cartpole(), both, shared=3)  # type: ignore[arg-type]
