"""Laws about reward terms and reset options."""

from __future__ import annotations

import math

from rlgpt.domain import Task
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.testing.contract.causes import PLAYED, SEEDED, VALID, needs
from rlgpt.testing.contract.laws import Laws, same
from rlgpt.testing.stage import Stage


class RewardLaws(Laws):
    """Tests that the values of reward terms stay within their bounds, and that reset options change the start of an
    episode.
    """

    def test_reward_terms_are_documented(self, plugin: EnvironmentPlugin, task: Task) -> None:
        terms = plugin.reward_terms(task)
        names = [t.name for t in terms]
        assert terms, f"{task.id}: reward_terms() is empty. A policy needs at least one reward term to learn."
        assert len(set(names)) == len(names), (
            f"{task.id}: two terms of reward_terms() have the same name: {sorted(names)}."
        )
        for term in terms:
            where = f"{task.id}: reward term {term.name!r}"
            assert term.doc.strip(), f"{where} has no doc. Describe what it rewards."
            assert term.low < term.high, f"{where}: low {term.low} is not below high {term.high}."
            bounded = math.isfinite(term.low) and math.isfinite(term.high)
            assert bounded or term.name == "env_reward", f"{where} has no finite bounds. Set low and high."

    def test_reward_terms_keep_their_bounds(self, plugin: EnvironmentPlugin, task: Task) -> None:
        terms = plugin.reward_terms(task)

        def visit(stage: Stage) -> None:
            for term in terms:
                value = term.value(stage.context)
                assert math.isfinite(value), (
                    f"{task.id}: reward term {term.name!r} is {value} at step {stage.context.step}."
                )
                assert term.low <= value <= term.high, (
                    f"{task.id}: reward term {term.name!r} is {value} at step {stage.context.step}, outside "
                    f"[{term.low}, {term.high}]. Bound it (a tolerance function), or correct low and high."
                )

        self.rollout(plugin, task, visit)

    @needs(PLAYED, SEEDED, VALID)
    def test_reset_options_start_elsewhere(self, plugin: EnvironmentPlugin, task: Task) -> None:
        with Stage(plugin, task) as stage:
            for option in plugin.reset_options(task):
                where = f"{task.id}: reset option {option.name!r}"
                assert option.doc.strip(), f"{where} has no doc. Describe its start."
                starts = []
                for seed in self.effort.seeds:
                    usual = stage.reset(seed)
                    other = stage.reset(seed, option.options)
                    assert other in stage.env.observation_space, f"{where} starts outside the observation space."
                    starts.append(same(usual, other))
                assert not all(starts), (
                    f"{where} has the same start as reset(). Use options={dict(option.options)!r} in reset()."
                )
