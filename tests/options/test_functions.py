"""Coded features, reward terms and predicates in an extended environment and in the training of a policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from rlgpt import extend
from rlgpt.domain import Bundle, CodedFeatures, CodedPredicate, CodedReward, Output
from rlgpt.errors import PluginError, SandboxError, UnknownNameError
from rlgpt.options import load_bundle, save_bundle
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.policy_env import build
from rlgpt.rl.ppo import PPO
from rlgpt.testing.counting import action
from rlgpt.testing.grid import TASKS, GridPlugin, grid_plugin

TASK = TASKS["grid/key"]

DISTANCE = CodedFeatures(
    name="geometry",
    source="""
def features(view, memory):
    memory["steps"] = memory.get("steps", -1) + 1
    rows, columns = (abs(a - k) for a, k in zip(view["agent"], view["key"]))
    return {"distance": rows + columns, "steps": memory["steps"]}
""",
    outputs=(Output(name="distance", low=0, high=12, unit="cells"), Output(name="steps", low=0, high=100)),
)
NEARER = CodedReward(
    name="nearer", source="def reward(view, memory):\n    return -view['distance']\n", low=-12.0, high=0.0
)
THERE = CodedPredicate(name="there", source="def done(view, memory):\n    return view['distance'] == 0\n")
FUNCTIONS = (NEARER, THERE, DISTANCE)
WALK = action(
    "walk",
    """
def run():
    view = yield observe()
    while view["distance"]:
        axis = 0 if view["agent"][0] != view["key"][0] else 1
        names = (("up", "down"), ("left", "right"))[axis]
        yield go(direction=names[view["key"][axis] > view["agent"][axis]], cells=1)
        view = yield observe()
""",
)


def opened(*actions: Any, functions: Any = FUNCTIONS, **more: Any) -> Any:
    plugin = GridPlugin()
    return extend(plugin.make_env(TASK, seed=0), actions, plugin=plugin, task=TASK, functions=functions, **more)


def cells(env: Any) -> int:
    grid = env.unwrapped
    return abs(grid.agent[0] - grid.key[0]) + abs(grid.agent[1] - grid.key[1])


def test_coded_action_reads_features_and_info_contains_predicates() -> None:
    env = opened(WALK)
    _, info = env.reset(seed=1)
    assert info["predicates"] == {"there": False}
    assert env.view()["distance"] == (far := cells(env))
    _, _, _, _, info = env.step(env.extension.write("walk"))
    assert info["duration"] == far, "each step reduces the distance, because the coded action reads the current feature"
    assert info["predicates"] == {"there": True}
    assert env.view()["steps"] == far
    _, info = env.reset(seed=1)
    assert env.view()["steps"] == 0


def test_coded_reward_of_kind_potential_gives_the_change_of_its_value() -> None:
    env = opened(WALK, reward_weights={"nearer": 2.0}, gamma=1.0)
    env.reset(seed=1)
    far = cells(env)
    _, reward, _, _, info = env.step(env.extension.write("walk"))
    assert reward == 2.0 * far
    assert info["reward_terms"] == {"nearer": 2.0 * far}


def test_policy_observes_coded_features() -> None:
    setup = GridPlugin().default_setup(TASK).model_copy(update={"observation_keys": ("distance", "holding")})
    env = build(EnvSpec(TASK, setup, factory=grid_plugin, functions=FUNCTIONS), seed=0)
    seen, _ = env.reset(seed=1)
    assert env.observation_names[0].startswith("distance")
    assert seen["obs"][0] == cells(env)
    env.close()


def test_function_that_fails_in_three_episodes_is_quarantined_and_its_outputs_are_0() -> None:
    broken = CodedFeatures(
        name="broken",
        source="def features(view, memory):\n    return {'z': 1 / (view['agent'][0] - view['agent'][0])}\n",
        outputs=(Output(name="z", low=-1, high=1),),
    )
    env = opened(functions=(broken, *FUNCTIONS))
    kinds = []
    for seed in range(4):
        _, info = env.reset(seed=seed)
        kinds.append([v.kind for v in info.get("verdicts", ())])
        assert env.view()["z"] == 0.0
        _, _, _, _, info = env.step(0)
        assert "verdicts" not in info, "an episode reports the verdict once"
        assert env.view()["distance"] == cells(env), "the outputs of the other functions are unchanged"
    assert kinds == [["error"]] * 3 + [[]]


def test_quarantine_accepts_function_names_and_refuses_unknown_names() -> None:
    env = opened()
    env.quarantine(["geometry"])
    env.reset(seed=1)
    assert env.view()["distance"] == 0.0
    with pytest.raises(UnknownNameError, match="nowhere"):
        env.quarantine(["nowhere"])


def test_extended_environment_without_functions_has_no_predicates_and_no_additional_view_keys() -> None:
    plain, other = opened(WALK, functions=()), opened(WALK, functions=())
    for env in (plain, other):
        env.reset(seed=3)
    assert "predicates" not in plain.reset(seed=3)[1]
    assert plain.view().keys() == {k.name for k in GridPlugin().view_keys(TASK)}


def test_extend_uses_the_functions_of_a_bundle(tmp_path: Path) -> None:
    save_bundle(Bundle(actions=(WALK,), functions=FUNCTIONS), tmp_path / "bundle")
    assert (tmp_path / "bundle/functions/geometry.py").read_text() == DISTANCE.source
    bundle = load_bundle(tmp_path / "bundle")
    assert bundle.functions == FUNCTIONS
    plugin = GridPlugin()
    env = extend(plugin.make_env(TASK, seed=0), tmp_path / "bundle", plugin=plugin, task=TASK)
    env.reset(seed=1)
    assert env.view()["distance"] == cells(env)


def test_view_with_many_function_outputs_does_not_exceed_the_size_limit_of_the_sandbox() -> None:
    def many(i: int) -> CodedFeatures:
        names = [f"a_long_name_of_an_output_{i}_{k}" for k in range(32)]
        source = f"def features(view, memory):\n    return dict.fromkeys({names!r}, 1 / 3)\n"
        return CodedFeatures(name=f"f{i}", source=source, outputs=[Output(name=n, low=0, high=1) for n in names])

    look = action("look", "def can_start(view):\n    return True\n\ndef run():\n    yield observe()\n")
    env = opened(look, functions=(*map(many, range(8)), *FUNCTIONS))
    _, info = env.reset(seed=1)
    assert "verdicts" not in info
    _, _, _, _, info = env.step(env.extension.write("look"))
    assert "verdicts" not in info
    assert info["ended"] == "returned"


@pytest.mark.parametrize("name", ["near_key", "walk"])
def test_extend_refuses_a_function_with_the_name_of_a_reward_term_or_action(name: str) -> None:
    with pytest.raises(SandboxError, match=f"{name}: .* already have these names"):
        opened(WALK, functions=(DISTANCE, NEARER.model_copy(update={"name": name})))


def test_extend_refuses_a_function_output_with_the_name_of_a_view_key() -> None:
    hides = DISTANCE.model_copy(update={"outputs": (Output(name="agent", low=0, high=1),)})
    with pytest.raises(SandboxError, match="used twice: agent"):
        opened(functions=(hides,))


def test_training_uses_coded_features_and_reward_terms(tmp_path: Path) -> None:
    """The environment's own reward is sparse. The coded potential gives a reward at each step."""
    setup = (
        GridPlugin()
        .default_setup(TASK)
        .model_copy(update={"reward_weights": {"nearer": 1.0}, "observation_keys": ("agent", "key", "distance")})
    )
    spec = EnvSpec(TASK, setup, factory=grid_plugin, functions=(DISTANCE, NEARER))
    settings = Hyperparameters(num_envs=2, num_steps=16, minibatch_size=32, update_epochs=2, hidden=(16,))
    record = PPO().train(spec, budget=200, seed=0, folder=tmp_path, hyperparameters=settings)
    assert record.verdicts == ()
    assert all("nearer" in point.reward_terms for point in record.curve)
    observation, _ = build(spec, seed=0).reset(seed=5)
    acted = PPO().load(tmp_path, spec).act(observation, greedy=True, rng=np.random.default_rng(0))
    assert 0 <= int(acted) < 5


def test_error_about_an_unknown_reward_weight_lists_coded_terms() -> None:
    with pytest.raises((UnknownNameError, PluginError), match="nearer"):
        opened(reward_weights={"nearest": 1.0})


def test_extend_refuses_a_function_output_with_the_name_of_an_observation_key() -> None:
    output = CodedFeatures(name="a", source=DISTANCE.source, outputs=[Output(name="observation", low=0, high=1)])
    with pytest.raises(SandboxError, match="observation: parts of the observation already have these names"):
        extend(gymnasium.make("CartPole-v1"), functions=[output], observations=["x", "v", "angle", "turn"])


def test_view_is_built_once_per_step_for_functions_code_and_policy() -> None:
    class Counting(GridPlugin):
        built = 0

        def view(self, ctx: Any) -> Any:
            self.built += 1
            return super().view(ctx)

    plugin = Counting()
    setup = plugin.default_setup(TASK).model_copy(update={"observation_keys": ("distance", "agent", "holding")})
    env = build(EnvSpec(TASK, setup, factory=lambda task: plugin, functions=FUNCTIONS), seed=0)
    env.reset(seed=1)
    assert plugin.built == 1
    env.step(0)
    assert plugin.built == 2
    changed = env.extended.view()
    changed["agent"] = None
    assert env.extended.view()["agent"] is not None
    env.close()


def test_reward_term_of_weight_0_is_recorded_and_gives_no_reward() -> None:
    env = opened(WALK, reward_weights={"nearer": 0.0, "env_reward": 1.0}, gamma=1.0)
    env.reset(seed=1)
    far = cells(env)
    _, reward, _, _, info = env.step(env.extension.write("walk"))
    assert info["reward_terms"]["nearer"] == far, "the recorded value has no weight"
    assert reward == info["reward_terms"]["env_reward"]


def test_evaluation_environment_gives_the_default_reward_and_records_the_terms_of_the_setup() -> None:
    plugin = GridPlugin()
    own = plugin.default_setup(TASK)
    setup = own.model_copy(update={"reward_weights": {"nearer": 3.0}})
    env = build(EnvSpec(TASK, setup, (WALK,), grid_plugin, functions=FUNCTIONS), seed=0, evaluation=True)
    env.reset(seed=1)
    _, reward, _, _, info = env.step(0)
    terms = info["reward_terms"]
    assert terms.keys() == {"nearer", *own.reward_weights}
    assert terms["nearer"] in (-1.0, 0.0, 1.0)
    assert reward == pytest.approx(sum(terms[name] for name in own.reward_weights))
    env.close()
