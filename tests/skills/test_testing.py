"""A test of a skill repeats its recorded episodes in the real environment and sandbox, and reports why it fails."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rlgpt.domain import Bundle, CodedAction, CodedPredicate, RLSetup, Task
from rlgpt.options import ExtendedEnv, extend
from rlgpt.plugin.origin import Origin
from rlgpt.plugin.types import Primitive
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.evaluation import evaluate, evaluate_code
from rlgpt.rl.ppo import PPO
from rlgpt.rl.sac import SAC
from rlgpt.skills import Skill, SkillLibrary, SkillTest, Start, retest
from rlgpt.skills.library import weights_of
from rlgpt.skills.testing import starts_of
from rlgpt.testing.grid import FETCH, TASKS, GridPlugin, grid_plugin
from shelf import PLUGIN, made

KEY = TASKS["grid/key"]
SEEDS = range(40, 60)


class Renamed(GridPlugin):
    """A later version of the plugin, in which the primitive ``use`` has another name."""

    def primitives(self, task: Task) -> Sequence[Primitive]:
        go, use = super().primitives(task)
        return go, Primitive("apply", use.doc, use.run, use.parameters, use.outcome, use.max_steps)


class Slippery(GridPlugin):
    """A later version of the plugin, in which most moves fail."""

    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> Any:
        return super().make_env(task.model_copy(update={"settings": {"slip": 0.9}}), seed=seed, render_mode=render_mode)


def renamed(task: Task) -> Renamed:
    return Renamed()


def slippery(task: Task) -> Slippery:
    return Slippery()


def again(skill: Skill, plugin: GridPlugin = PLUGIN, factory: Any = grid_plugin, **more: Any) -> SkillTest:
    return retest(skill, plugin, TASKS[skill.record.task], factory, Origin("grid-plugin", "9"), **more)


@pytest.fixture
def fetch(library: SkillLibrary) -> Skill:
    bundle, record = made("fetch")
    spec = EnvSpec(KEY, PLUGIN.default_setup(KEY), bundle.actions, grid_plugin)
    starts = starts_of(evaluate_code(spec, bundle.actions, seeds=SEEDS))
    return library.load(library.add(bundle, record.model_copy(update={"starts": starts})))


def test_skill_test_repeats_the_recorded_episodes_exactly_in_an_unchanged_plugin(fetch: Skill) -> None:
    done = again(fetch, episodes=7)
    assert done.failure == ""
    assert done.starts == fetch.record.starts[:7]
    assert (done.plugin, done.version_of_plugin) == ("grid-plugin", "9")


def test_skill_test_compares_with_the_recorded_result_of_the_same_episodes(library: SkillLibrary) -> None:
    """The first recorded episodes fail, and fail again: the skill is as good as its record."""
    bundle, record = made("fetch")
    spec = EnvSpec(KEY, PLUGIN.default_setup(KEY), bundle.actions, slippery)
    starts = sorted(starts_of(evaluate_code(spec, bundle.actions, seeds=range(40))), key=lambda s: s.success)
    failures = sum(not s.success for s in starts)
    assert 20 <= failures < len(starts)
    skill = library.load(library.add(bundle, record.model_copy(update={"starts": tuple(starts)})))
    done = again(skill, Slippery(), slippery, episodes=failures)
    assert done.starts == tuple(starts[:failures])
    assert done.failure == ""


@pytest.mark.parametrize(
    ("plugin", "factory", "why"),
    [(Renamed(), renamed, "there is no 'use' to call"), (Slippery(), slippery, "worse than the recorded")],
)
def test_skill_test_fails_in_a_changed_plugin_and_names_the_reason(
    fetch: Skill, plugin: GridPlugin, factory: Any, why: str
) -> None:
    done = again(fetch, plugin, factory, episodes=6)
    assert why in done.failure


def test_skill_test_begins_in_the_recorded_state_and_uses_the_recorded_predicate(
    library: SkillLibrary,
) -> None:
    """The skill opens the door and begins where the key is held; the task itself is never solved by it in grid/key."""
    there = "def done(view, memory):\n    return view['holding'] and view['agent'] == view['door']\n"
    source = FETCH.replace('view["key"]', 'view["door"]')
    bundle = Bundle(
        actions=(CodedAction(name="to_door", doc="walk to the door", source=source),),
        functions=(CodedPredicate(name="at_door", source=there),),
    )
    _, record = made("to_door", task="grid/door")
    starts = []
    env: ExtendedEnv = extend(
        PLUGIN.make_env(TASKS["grid/door"], seed=0),
        [CodedAction(name="fetch", doc="", source=FETCH)],
        plugin=PLUGIN,
        task=TASKS["grid/door"],
    )
    for seed in SEEDS:
        env.reset(seed=seed)
        env.step(env.extension.write("fetch"))
        starts.append(Start(seed=seed, state=env.save_episode(), success=True, steps=9))
    env.close()
    record = record.model_copy(update={"starts": tuple(starts), "predicate": "at_door"})
    skill = library.load(library.add(bundle, record))
    assert skill.record.starts == tuple(starts), "states are read back"
    done = again(skill, episodes=8)
    assert done.failure == ""
    assert all(s.success for s in done.starts)
    assert all(s.state is None for s in done.starts)
    elsewhere = skill.record.model_copy(update={"starts": tuple(s.model_copy(update={"state": None}) for s in starts)})
    failed = again(library.load(library.add(bundle, elsewhere)), episodes=8)
    assert failed.failure.startswith("its result in 8 episodes is 0 ["), "at the task's own start the key is not held"


@pytest.mark.parametrize("trainer", [PPO(segments=1), SAC(segments=1, first_update=50, width=8)])
def test_skill_test_plays_the_stored_policy_of_a_skill_that_has_one(
    trainer: PPO, library: SkillLibrary, tmp_path: Path
) -> None:
    bundle, record = made("fetch")
    setup = RLSetup(reward_weights={"env_reward": 1.0}, observation_keys=("agent", "key"), coded_actions=("fetch",))
    spec = EnvSpec(KEY, setup, bundle.actions, grid_plugin)
    small = Hyperparameters(num_envs=1, num_steps=16, minibatch_size=16, hidden=(8,))
    trainer.train(spec, budget=200, seed=0, folder=tmp_path / "train", hyperparameters=small)
    policy = trainer.load(tmp_path / "train", spec)
    starts = starts_of(evaluate(policy, spec, seeds=SEEDS, greedy=False))
    record = record.model_copy(update={"mode": "sampled", "starts": starts})
    weights = weights_of(tmp_path / "train")
    assert weights is not None
    skill = library.load(library.add(bundle.model_copy(update={"setup": setup}), record, policy=weights))
    done = again(skill, episodes=20)
    assert done.failure == ""
    assert done.starts == starts
    assert skill.policy is not None
    (skill.policy / "best.pt").write_bytes(b"no checkpoint")
    assert "best.pt cannot be read" in again(skill, episodes=1).failure
