"""GenericPlugin, which is used for an environment without a plugin."""

import enum
import functools
import pickle
import types
import warnings

import gymnasium
import numpy as np
import pytest
import rlgpt
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from rlgpt.domain import Bundle, CodedAction, Metric, RLSetup, Score, Task, World
from rlgpt.errors import ConfigError, PluginError
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.defaults import SpaceDefaults
from rlgpt.plugin.generic import GenericPlugin
from rlgpt.plugin.observations import ObservationCodec
from rlgpt.plugin.types import Context
from rlgpt.testing.grid import GridEnv, GridPlugin

EVERY = ["CartPole-v1", "Pendulum-v1", "FrozenLake-v1", "Taxi-v4", "Blackjack-v1", "MountainCarContinuous-v0"]


class Play:
    """An episode in which tests call primitives, executed in the same way as for coded actions."""

    def __init__(self, plugin: EnvironmentPlugin, env, task: Task, seed: int = 0) -> None:
        self.plugin, self.env = plugin, env
        observation, info = env.reset(seed=seed)
        self.ctx = Context(task, observation, info, 0, np.random.default_rng(seed), plugin.model(env))

    def call(self, name: str, **args):
        primitive = next(p for p in self.plugin.primitives(self.ctx.task) if p.name == name)
        values = {p.name: p.default for p in primitive.parameters} | args
        run, steps = primitive.run(self.ctx, **values), 0
        while True:
            try:
                action = next(run)
            except StopIteration as end:
                return end.value, steps
            assert action in self.env.action_space
            self.ctx.observation, reward, over, cut, info = self.env.step(action)
            self.ctx.info = {**info, "env_reward": reward}
            self.ctx.step += 1
            steps += 1
            if over or cut:
                return None, steps


@pytest.mark.parametrize("name", EVERY)
def test_generic_plugin_accepts_any_environment(name: str) -> None:
    env = gymnasium.make(name)
    plugin = GenericPlugin.of(env)
    (task,) = plugin.tasks().values()
    assert task.id == f"gymnasium/{name.lower()}"
    assert plugin.name == task.plugin
    play = Play(plugin, env, task)
    view = plugin.view(play.ctx)
    assert list(view) == [k.name for k in plugin.view_keys(task)]
    assert 0 < len(plugin.summarize(view)) <= 1500
    assert plugin.default_setup(task).observation_keys
    assert [p.name for p in plugin.primitives(task)][:2] == ["act", "repeat"]
    assert play.call("act")[1] == 1
    assert pickle.loads(pickle.dumps(plugin)).tasks() == plugin.tasks()


def test_generic_plugin_takes_horizon_and_knowledge_from_the_environment() -> None:
    plugin = GenericPlugin.of(gymnasium.make("CartPole-v1"))
    (task,) = plugin.tasks().values()
    assert task.horizon == 500
    assert "pole" in plugin.knowledge(task)
    assert len(plugin.knowledge(task)) <= 10_000
    bare = GenericPlugin.of(GridEnv(), docs="Mine.", goal="Fetch it.")
    (task,) = bare.tasks().values()
    assert (task.id, task.horizon, task.goal) == ("gymnasium/gridenv", 1000, "Fetch it.")
    assert bare.knowledge(task) == "Mine."


def test_generic_plugin_uses_the_given_labels_and_observation_names() -> None:
    env = gymnasium.make("CartPole-v1")
    (task,) = GenericPlugin.of(env).tasks().values()
    assert GenericPlugin.of(env).labels(task).actions == ("action_0", "action_1")
    named = GenericPlugin.of(env, labels=["left", "right"], observations=["x", "v", "angle", "spin"])
    assert named.primitives(task)[0].parameters[0].choices == ("left", "right")
    assert [k.name for k in named.view_keys(task)] == ["x", "v", "angle", "spin"]
    with pytest.raises(ConfigError, match="2 different labels, got 1"):
        GenericPlugin.of(env, labels=["left"])


def test_generic_plugin_takes_labels_from_get_action_meanings() -> None:
    class Meaning(GridEnv):
        def get_action_meanings(self):
            return ["UP", "DOWN", "LEFT", "RIGHT", "USE!"]

    plugin = GenericPlugin.of(Meaning())
    assert plugin.labels(next(iter(plugin.tasks().values()))).actions == ("up", "down", "left", "right", "use")


class Cells(enum.IntEnum):
    forward = 0
    turn = 1
    pick_up = 2
    noop = 3
    done = 4


class Enumerated(GridEnv):
    actions = Cells
    max_steps = 77


def test_generic_plugin_takes_labels_from_a_mapping_of_its_action_type() -> None:
    env = gymnasium.make("FrozenLake-v1")
    env.unwrapped.action_type = types.SimpleNamespace(actions={0: "LANE_LEFT", 1: "IDLE", 2: "FASTER", 3: "SLOWER"})
    plugin = GenericPlugin.of(env)
    (task,) = plugin.tasks().values()
    assert plugin.labels(task).actions == ("lane_left", "idle", "faster", "slower")
    assert plugin.idle(env.action_space) == 1
    assert "labels" not in plugin.unnamed
    env.unwrapped.action_type.actions = {1: "a", 2: "b", 3: "c", 4: "d"}
    other = GenericPlugin.of(env)
    assert other.labels(task).actions[0] == "action_0"
    assert other.unnamed == {"labels": "action_0 to action_3"}


def test_generic_plugin_takes_labels_from_an_action_enum_and_horizon_from_max_steps() -> None:
    env = Enumerated()
    plugin = GenericPlugin.of(env)
    (task,) = plugin.tasks().values()
    assert plugin.labels(task).actions == ("forward", "turn", "pick_up", "noop", "done")
    assert task.horizon == 77
    assert GenericPlugin.of(env, horizon=12).tasks()[task.id].horizon == 12
    ctx = Context(task, None, {}, 0, np.random.default_rng(0), None)
    assert plugin.noop(env.action_space, ctx) == Cells.noop
    assert plugin.noop(spaces.Discrete(5, start=2), ctx) == Cells.noop + 2
    assert GenericPlugin.of(env, labels=list("abcde")).noop(env.action_space, ctx) == 0


def test_meanings_of_labels_appear_in_the_description_of_only_one_primitive() -> None:
    env = gymnasium.make("CartPole-v1")
    labels = {"left": "pushes the cart to the left by 10 N", "right": "pushes the cart to the right by 10 N"}
    seen = {"x": "position of the cart, m", "v": "its velocity, m/s", "angle": "of the pole, rad", "spin": "rad/s"}
    plugin = GenericPlugin.of(env, labels=labels, observations=seen)
    (task,) = plugin.tasks().values()
    docs = [p.parameters[0].doc for p in plugin.primitives(task)]
    assert (
        docs[0] == "what to do (left: pushes the cart to the left by 10 N; right: pushes the cart to the right by 10 N)"
    )
    assert docs[1:] == ["as of act"] * 2
    assert [k.doc for k in plugin.view_keys(task)][:2] == ["position of the cart, m, -4.8 to 4.8", "its velocity, m/s"]
    assert plugin.world == World(labels=labels, observations=seen)
    assert GenericPlugin.of(env).world == World()
    pendulum = GenericPlugin.of(gymnasium.make("Pendulum-v1"), labels={"torque": "Nm, positive counter-clockwise"})
    (task,) = pendulum.tasks().values()
    assert pendulum.primitives(task)[1].parameters[0].doc == "Nm, positive counter-clockwise"


def test_default_setup_of_an_image_observation_observes_the_image() -> None:
    class Pixels(GridEnv):
        def __init__(self) -> None:
            super().__init__()
            self.observation_space = spaces.Box(0, 255, (48, 40, 3), np.uint8)

    plugin = GenericPlugin.of(Pixels())
    (task,) = plugin.tasks().values()
    assert plugin.default_setup(task).observation_keys == ("observation",)
    assert [k.name for k in plugin.view_keys(task)] == [f"observation_{kind}" for kind in ("shapes", "moving", "map")]


class Sees(EnvironmentPlugin):
    """A plugin with only the required methods. Its observation is an image and a long vector."""

    name = "sees"

    def tasks(self):
        return {"sees/it": Task(id="sees/it", goal="g", horizon=5, success="s")}

    def make_env(self, task, *, seed, render_mode=None):
        env = GridEnv()
        env.observation_space = spaces.Dict(eye=spaces.Box(0, 255, (48, 40), np.uint8), ear=spaces.Box(-1, 1, (900,)))
        return env


def test_default_setup_uses_the_observation_of_a_plugin_without_a_view() -> None:
    plugin = Sees()
    setup = plugin.default_setup(plugin.tasks()["sees/it"])
    assert setup.observation_keys == ("eye", "ear")


class Walk(gymnasium.Env):
    """An environment with a position in [-5, 5]. Each step adds the action, and the reward is the position."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-5, 5, (2,), np.float64)
        self.action_space = spaces.Box(-1, 1, (1,), np.float64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = 0.0
        return np.array([0.0, self.x]), {}

    def step(self, action):
        self.x = float(np.clip(self.x + action[0], -5, 5))
        return np.array([0.0, self.x]), self.x, False, False, {}


def test_act_repeat_and_act_until_end_as_documented() -> None:
    plugin, env = GenericPlugin.of(Walk()), Walk()
    (task,) = plugin.tasks().values()
    play = Play(plugin, env, task)
    assert play.call("act", action_0=0.5) == ({"reward": 0.5}, 1)
    assert play.call("repeat", action_0=1.0, steps=3) == ({"reward": 1.5 + 2.5 + 3.5}, 3)
    until = {"key": "observation[1]", "relation": "below", "threshold": 2.0, "steps": 5}
    assert play.call("act_until", action_0=-1.0, **until) == ({"reached": True, "value": 1.5, "reward": 4.0}, 2)
    assert play.call("act_until", action_0=-1.0, **until) == ({"reached": True, "value": 1.5, "reward": 0.0}, 0)
    above = until | {"relation": "above", "threshold": 4.0, "steps": 2}
    assert play.call("act_until", action_0=1.0, **above) == ({"reached": False, "value": 3.5, "reward": 6.0}, 2)


class Counts(GenericPlugin):
    """A plugin that counts the views that it builds."""

    views = 0

    def view(self, ctx):
        self.views += 1
        return super().view(ctx)


def test_act_until_has_a_path_to_each_number_of_a_nested_array() -> None:
    class Rows(gymnasium.Env):
        observation_space, action_space = spaces.Box(-9, 9, (2, 2)), spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            self.t = 0
            return np.zeros((2, 2), np.float32), {}

        def step(self, action):
            self.t += 1
            return np.array([[0, 0], [self.t, 0]], np.float32), 0.0, False, False, {}

    env = Rows()
    plugin = GenericPlugin.of(env)
    (task,) = plugin.tasks().values()
    play = Play(plugin, env, task)
    outcome, steps = play.call("act_until", key="observation[1][0]", threshold=2.5)
    assert (outcome["value"], steps) == (3.0, 3)
    until = next(p for p in plugin.primitives(task) if p.name == "act_until")
    (key,) = [p for p in until.parameters if p.name == "key"]
    assert key.choices == ("observation[0][0]", "observation[0][1]", "observation[1][0]", "observation[1][1]")


def test_act_until_builds_no_view_unless_the_plugin_overrides_view(monkeypatch: pytest.MonkeyPatch) -> None:
    until = {"action_0": 1.0, "key": "observation[1]", "threshold": 2.5, "steps": 9}
    owner = Counts.of(Walk())
    (task,) = owner.tasks().values()
    assert Play(owner, Walk(), task).call("act_until", **until)[0]["value"] == 3.0
    assert owner.views == 4
    plugin = GenericPlugin.of(Walk())
    monkeypatch.setattr(ObservationCodec, "view", None)
    assert Play(plugin, Walk(), task).call("act_until", **until)[0]["value"] == 3.0


def test_extend_accepts_labels_and_observation_names_for_an_environment_without_a_plugin() -> None:
    env, names = gymnasium.make("CartPole-v1"), ["x", "v", "angle", "spin"]
    source = (
        "def run():\n    view = yield observe()\n"
        "    yield repeat(action='left' if view['angle'] < 9 else 'right', steps=2)\n"
    )
    go = CodedAction(name="go", doc="g", source=source)
    extended = rlgpt.extend(env, [go], labels={"left": "10 N", "right": ""}, observations=names)
    extended.reset(seed=0)
    assert extended.layout.branches == ("left", "right", "go")
    assert extended.step(2)[4]["duration"] == 2
    assert list(extended.view()) == names
    bundle = Bundle(actions=(go,), world=World(labels={"a": "", "b": ""}))
    renamed = rlgpt.extend(env, bundle, labels=["left", "right"])
    assert renamed.layout.branches == ("left", "right", "go")
    with pytest.raises(ConfigError, match="2 different labels, got 1"):
        rlgpt.extend(env, [go], labels=["left"])
    with pytest.raises(ConfigError, match="labels cannot be given together with plugin='gymnasium'"):
        rlgpt.extend(env, [go], plugin=GenericPlugin.of(env), labels=["left", "right"])


class Half(GridPlugin):
    primitives = EnvironmentPlugin.primitives
    default_setup = EnvironmentPlugin.default_setup


def test_default_primitives_and_setup_of_a_plugin_use_its_labels_and_view_keys() -> None:
    plugin, task = Half(), GridPlugin().tasks()["grid/key"]
    act, _, until = plugin.primitives(task)
    assert act.parameters[0].choices == ("up", "down", "left", "right", "use")
    keys = next(p for p in until.parameters if p.name == "key").choices
    assert keys == ("agent[0]", "agent[1]", "key[0]", "key[1]", "door[0]", "door[1]", "holding")
    assert plugin.default_setup(task) == RLSetup(
        reward_weights={"env_reward": 1.0}, observation_keys=("agent", "key", "door", "holding")
    )
    play = Play(plugin, plugin.make_env(task, seed=0), task)
    outcome, steps = play.call("act_until", action="down", key="agent[0]", relation="above", threshold=5.5, steps=6)
    assert outcome["reached"]
    assert steps <= 6
    pickle.loads(pickle.dumps(plugin))


def test_warning_about_a_newer_version_is_not_repeated_for_each_environment_of_a_run() -> None:
    make = functools.partial(gymnasium.make, "CartPole-v0")
    with pytest.warns(DeprecationWarning, match="out of date"):
        make()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plugin = GenericPlugin.of(make)
        plugin.make_env(*plugin.tasks().values(), seed=0)


def test_generic_plugin_makes_environments_from_a_function() -> None:
    plugin = GenericPlugin.of(GridEnv)
    (task,) = plugin.tasks().values()
    env = plugin.make_env(task, seed=3)
    check_env(env.unwrapped, skip_render_check=True)
    env.reset(seed=0)
    assert env.step(env.action_space.sample())[4]["success"] is False
    assert plugin.make_env(task, seed=3, render_mode="rgb_array").render_mode == "rgb_array"
    with pytest.raises(PluginError, match=r"GenericPlugin\.of\(make_env\)"):
        GenericPlugin.of(gymnasium.make("CartPole-v1")).make_env(task, seed=0)


def test_summarize_rounds_numbers_and_bounds_the_length() -> None:
    plugin = GenericPlugin.of(gymnasium.make("CartPole-v1"))
    assert plugin.summarize({"a": 0.123456, "b": [1, 2], "c": True, "d": {"x": 1.0}}) == (
        "a: 0.1235; b: [1, 2]; c: true; d: x 1"
    )
    assert len(plugin.summarize({f"key_{i}": list(range(99)) for i in range(99)})) == 1500


class Slow(EnvironmentPlugin):
    """A plugin that gives the spaces of its simulator without starting the simulator."""

    name = "slow"

    def tasks(self):
        return {"slow/task": Task(id="slow/task", goal="g", horizon=10, success="s")}

    def make_env(self, task, *, seed, render_mode=None):
        raise AssertionError("the simulator started")

    def defaults(self, task):
        return SpaceDefaults(spaces.Discrete(2), spaces.Box(-1, 1, (3,)), labels=("left", "right"))


def test_plugin_defaults_from_given_spaces_start_no_simulator() -> None:
    plugin = Slow()
    (task,) = plugin.tasks().values()
    assert plugin.labels(task).actions == ("left", "right")
    assert [p.name for p in plugin.primitives(task)] == ["act", "repeat", "act_until"]
    assert plugin.default_setup(task).observation_keys == ("observation",)


class Sized(EnvironmentPlugin):
    """A plugin whose action space depends on a setting."""

    name = "sized"

    def tasks(self):
        return {"sized/task": Task(id="sized/task", goal="g", horizon=10, success="s", settings={"size": 2})}

    def make_env(self, task, *, seed, render_mode=None):
        env = gymnasium.make("CartPole-v1")
        env.action_space = spaces.Discrete(task.settings["size"])
        return env


def test_plugin_defaults_depend_on_the_settings_of_the_task() -> None:
    plugin = Sized()
    (task,) = plugin.tasks().values()
    for size in (2, 3, 2):
        assert len(plugin.labels(task.model_copy(update={"settings": {"size": size}})).actions) == size


@pytest.mark.parametrize(
    ("world", "told"),
    [
        (World(score=Score(metric="nowhere")), "the score names the metric 'nowhere'; valid: return"),
        (World(metrics={"a": Metric(name="x"), "b": Metric(name="x")}), "names of metrics must differ"),
    ],
)
def test_extend_refuses_a_bundle_with_contradicting_success_and_score(world: World, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        rlgpt.extend(gymnasium.make("CartPole-v1"), Bundle(actions=(), world=world))
