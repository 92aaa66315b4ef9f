"""Laws about reward terms and reset options."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rlgpt.domain import Task
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.testing.contract.causes import PLAYED, SEEDED, VALID, cause, needs
from rlgpt.testing.contract.laws import Laws, out_of_bounds, same
from rlgpt.testing.stage import Stage

STEPS_PER_START = 5
"""The bounds of reward terms are checked at one start of an episode for each such number of steps of a random rollout.
"""


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

    @cause
    def test_reward_terms_keep_their_bounds(self, plugin: EnvironmentPlugin, task: Task) -> None:
        """Check the values in random rollouts, and at the starts of more episodes, with and without a reset option.
        (:class:`~rlgpt.testing.contract.primitives.PrimitiveLaws` checks them during the calls of primitives.)
        """
        terms = plugin.reward_terms(task)

        def visit(stage: Stage) -> None:
            fault = out_of_bounds(terms, stage.context)
            assert not fault, f"{task.id}: {fault}"

        self.rollout(plugin, task, visit)
        usual = range(self.effort.steps // STEPS_PER_START)
        starts: list[tuple[int, Mapping[str, Any] | None]] = [(seed, None) for seed in usual]
        starts += [(seed, option.options) for option in plugin.reset_options(task) for seed in self.effort.seeds]
        with Stage(plugin, task) as stage:
            for seed, options in starts:
                stage.reset(seed, options)
                fault, given = out_of_bounds(terms, stage.context), "" if options is None else f", options={options!r}"
                assert not fault, f"{task.id}: {fault} This occurs after reset(seed={seed}{given})."

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
