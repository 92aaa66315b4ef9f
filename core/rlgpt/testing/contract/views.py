"""Laws about views, summaries of views and the default setup."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from rlgpt.domain import Task
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.defaults import reward_terms_of
from rlgpt.plugin.parts import shown
from rlgpt.sandbox.limits import DEFAULT
from rlgpt.testing.contract.causes import KEYS, PLAYED, SEEDED, VIEWED, cause, needs
from rlgpt.testing.contract.laws import Laws, plain, same
from rlgpt.testing.stage import Stage


class ViewLaws(Laws):
    """Tests that views consist of documented JSON values, and that calls of ``view()`` have no effects."""

    @cause
    def test_view_keys_are_documented(self, plugin: EnvironmentPlugin, task: Task) -> None:
        keys = plugin.view_keys(task)
        names = [k.name for k in keys]
        assert len(set(names)) == len(names), f"{task.id}: two keys of view_keys() have the same name: {sorted(names)}."
        for key in keys:
            assert key.doc.strip(), f"{task.id}: view key {key.name!r} has no doc. Describe its meaning."
            assert key.size or not key.alone, (
                f"{task.id}: view key {key.name!r} is only for a policy and has size 0. Set its size."
            )

    @cause
    @needs(PLAYED, KEYS)
    def test_the_view_matches_its_keys(self, plugin: EnvironmentPlugin, task: Task) -> None:
        keys = {k.name: k for k in plugin.view_keys(task) if not k.alone}

        def visit(stage: Stage) -> None:
            view = plugin.view(stage.context)
            assert set(view) == set(keys), (
                f"{task.id}: view() and view_keys() differ in {sorted(set(view) ^ set(keys))}. Document every key, and "
                "give every documented key at every step."
            )
            for name, value in view.items():
                fault = plain(value)
                assert not fault, f"{task.id}: view key {name!r} is {value!r}: {fault}. Use float(), int(), list()."
                size = keys[name].size
                assert not size or size == _count(value), (
                    f"{task.id}: view key {name!r} has size {size} and a value of {_count(value)} numbers: {value!r}. "
                    "Correct ViewKey.size (0: only for code)."
                )

        self.rollout(plugin, task, visit)

    def test_the_policy_view_matches_its_keys(self, plugin: EnvironmentPlugin, task: Task) -> None:
        sizes = {k.name: k.size for k in plugin.view_keys(task) if k.alone}

        def visit(stage: Stage) -> None:
            numbers = {name: np.asarray(value, np.float64) for name, value in plugin.policy_view(stage.context).items()}
            assert set(numbers) == set(sizes), (
                f"{task.id}: policy_view() gives {sorted(numbers)}; view_keys() marks {sorted(sizes)} as `alone`. Make "
                "them the same."
            )
            for name, array in numbers.items():
                assert array.size == sizes[name], (
                    f"{task.id}: policy key {name!r} has size {sizes[name]} and a value of {array.size} numbers."
                )
                assert np.isfinite(array).all(), f"{task.id}: policy key {name!r} contains NaN or infinity."

        self.rollout(plugin, task, visit)

    @cause
    @needs(PLAYED, VIEWED)
    def test_the_view_fits_the_sandbox(self, plugin: EnvironmentPlugin, task: Task) -> None:
        def visit(stage: Stage) -> None:
            size = len(json.dumps(plugin.view(stage.context)).encode())
            assert size <= DEFAULT.view_bytes, (
                f"{task.id}: the view has {size} bytes at step {stage.context.step}; the sandbox "
                f"accepts at most {DEFAULT.view_bytes}. Remove or round values that code does not need."
            )

        self.rollout(plugin, task, visit)

    @needs(PLAYED, SEEDED)
    def test_views_and_reward_terms_have_no_side_effects(self, plugin: EnvironmentPlugin, task: Task) -> None:
        with Stage(plugin, task) as viewed, Stage(plugin, task) as other:
            for seed in self.effort.seeds:
                viewed.reset(seed)
                other.reset(seed)
                for action in other.random(self.effort.steps // 2):
                    first = plugin.view(viewed.context)
                    assert same(first, plugin.view(viewed.context)), (
                        f"{task.id}: two calls of view() in the same state differ."
                    )
                    numbers = plugin.policy_view(viewed.context)
                    twice = [viewed.context, viewed.context]
                    assert same([dict(view) for view in plugin.views(twice)], [first, first]), (
                        f"{task.id}: views() differs from view()."
                    )
                    assert same([dict(row) for row in plugin.policy_views(twice)], [dict(numbers), dict(numbers)]), (
                        f"{task.id}: policy_views() differs from policy_view()."
                    )
                    for term in plugin.reward_terms(task):
                        term.value(viewed.context)
                    viewed.step(action)
                assert same(viewed.context.observation, other.context.observation), (
                    f"{task.id}: a call of view() or of a reward term changes the episode. Both must only read."
                )

    def test_summaries_are_short(self, plugin: EnvironmentPlugin, task: Task) -> None:
        def visit(stage: Stage) -> None:
            words = plugin.summarize(plugin.view(stage.context))
            assert isinstance(words, str), f"{task.id}: summarize() gives {type(words).__name__}; it must give text."
            assert 0 < len(words) <= 1500, f"{task.id}: summarize() gives {len(words)} characters; valid: 1 to 1,500."

        self.rollout(plugin, task, visit)

    def test_the_default_setup_uses_existing_names(self, plugin: EnvironmentPlugin, task: Task) -> None:
        setup = plugin.default_setup(task)
        env = plugin.make_env(task, seed=0)
        keys = plugin.view_keys(task)
        observable = {k.name for k in keys if k.size} | set(shown(env.observation_space, keys))
        env.close()
        _known("observation key", setup.observation_keys, observable, task)
        _known("reward term", setup.reward_weights, {t.name for t in reward_terms_of(plugin, task)}, task)
        _known("base action", setup.base_actions or (), set(plugin.labels(task).actions), task)
        options = {o.name for o in plugin.reset_options(task)}
        _known("reset option", [setup.reset_option] if setup.reset_option else [], options, task)
        assert setup.observation_keys, f"{task.id}: default_setup() has no observation keys. Add at least one."
        assert any(setup.reward_weights.values()), f"{task.id}: all reward weights of default_setup() are 0. Set one."
        assert not setup.coded_actions, f"{task.id}: default_setup() has coded actions. Leave coded_actions empty."


def _count(value: Any) -> int:
    if isinstance(value, list):
        return sum(map(_count, value))
    return 1 if isinstance(value, bool | int | float) else -(10**6)


def _known(kind: str, used: Any, valid: set[str], task: Task) -> None:
    unknown = sorted(set(used) - valid)
    assert not unknown, f"{task.id}: default_setup() has unknown {kind} {unknown}; valid: {sorted(valid)}."
