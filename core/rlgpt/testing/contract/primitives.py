"""Laws about primitives. A primitive affects the environment only by actions, ends, reports what it did, and solves no
task by itself.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rlgpt.domain import Plain, Task
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.library import library_of
from rlgpt.plugin.types import Primitive, RewardTerm
from rlgpt.sandbox.limits import DEFAULT
from rlgpt.testing.contract.causes import BOUNDED, DOCUMENTED, ENDED, KEYS, LABELLED, PLAYED, SEEDED, cause, needs
from rlgpt.testing.contract.laws import Effort, Laws, out_of_bounds, plain, same
from rlgpt.testing.stage import Call, Stage, arguments

SOLUTION_SHARE = 0.1
"""Maximal share of episodes in which a single call of a primitive may succeed. A call with a larger share counts as a
solution of the task.
"""

EPISODES = 20


@dataclass(frozen=True)
class Played:
    """The record of one call of a primitive.

    :ivar begun: number of random steps in the episode before the call of the primitive.
    :ivar observation: the observation after the call.
    :ivar out_of_bounds: the first value of a reward term that was out of its bounds during the call, as text; empty if
        all values were within their bounds.
    """

    primitive: Primitive
    args: dict[str, Plain]
    call: Call
    begun: int
    observation: Any
    out_of_bounds: str

    @property
    def where(self) -> str:
        return f"{self.primitive.name}({_text(self.args)})"


class _Checked(Stage):
    """A stage that checks the bounds of reward terms after each step."""

    def __init__(self, plugin: EnvironmentPlugin, task: Task, terms: Sequence[RewardTerm]) -> None:
        self.terms, self.out_of_bounds = terms, ""
        super().__init__(plugin, task)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        result = super().step(action)
        self.out_of_bounds = self.out_of_bounds or out_of_bounds(self.terms, self.context)
        return result


class PrimitiveLaws(Laws):
    """Tests that primitives are general, that their calls end, and that their outcomes are documented.

    :cvar played: a dict from (task id, effort) to the calls of primitives that several laws check. Each call is played
        only once.
    """

    played: ClassVar[dict[tuple[str, Effort], list[Played]]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.played = {}

    @cause
    @needs(PLAYED, LABELLED, KEYS)
    def test_primitives_are_documented(self, plugin: EnvironmentPlugin, task: Task) -> None:
        library_of(plugin, task)
        for p in plugin.primitives(task):
            where = f"{task.id}: primitive {p.name!r}"
            lines = len(p.doc.strip().splitlines())
            assert 1 <= lines <= 5, f"{where} has a doc of {lines} lines; valid: 1 to 5. Say what it does, with units."
            assert p.max_steps >= 1, f"{where} has max_steps {p.max_steps}; it must be 1 or more."
            for key, meaning in p.outcome.items():
                assert meaning.strip(), f"{where}: outcome {key!r} has no meaning. Say what it is, with its unit."

    @cause
    @needs(PLAYED, LABELLED, DOCUMENTED)
    def test_primitives_yield_valid_actions_and_end(self, plugin: EnvironmentPlugin, task: Task) -> None:
        with Stage(plugin, task) as stage:
            space = plugin.low_level_space(stage.env)
        for played in self._calls(plugin, task):
            p, call = played.primitive, played.call
            where = f"{task.id}: {played.where}"
            assert not call.overran, f"{where} does not end within max_steps = {p.max_steps}. Return earlier."
            assert not call.invalid, (
                f"{where} yields {call.invalid[0]!r}, which is not in {space}. Clip it, and use the space's dtype."
            )

    @needs(PLAYED, LABELLED, DOCUMENTED, BOUNDED, ENDED)
    def test_primitives_keep_reward_terms_in_their_bounds(self, plugin: EnvironmentPlugin, task: Task) -> None:
        for played in self._calls(plugin, task):
            assert not played.out_of_bounds, f"{task.id}: {played.out_of_bounds} This occurs in {played.where}."

    @needs(PLAYED, LABELLED, DOCUMENTED, ENDED)
    def test_outcomes_are_as_documented(self, plugin: EnvironmentPlugin, task: Task) -> None:
        for played in self._calls(plugin, task):
            p, call = played.primitive, played.call
            if call.outcome is None:
                continue
            where = f"{task.id}: {played.where}"
            outcome = dict(call.outcome)
            assert set(outcome) == set(p.outcome), (
                f"{where} returns the keys {sorted(outcome)}, but documented are {sorted(p.outcome)}. Make them equal."
            )
            assert not plain(outcome), (
                f"{where} returns {outcome!r}: {plain(outcome)}. Use float(), int(), bool(), list()."
            )
            size = len(repr(outcome))
            assert size <= DEFAULT.reply_bytes, f"{where} returns {size} bytes; at most {DEFAULT.reply_bytes}."

    @needs(PLAYED, LABELLED, DOCUMENTED, ENDED, SEEDED)
    def test_primitives_act_through_actions_only(self, plugin: EnvironmentPlugin, task: Task) -> None:
        with Stage(plugin, task) as replay:
            for played in self._calls(plugin, task):
                replay.reset(0)
                replay.random(played.begun)
                for action in played.call.actions:
                    replay.step(action)
                assert same(played.observation, replay.context.observation), (
                    f"{task.id}: {played.where} changes the environment other than by the actions that it yields. A "
                    "primitive must only read ctx.model, and must draw random numbers from ctx.rng."
                )

    @needs(PLAYED, LABELLED, DOCUMENTED, ENDED)
    def test_no_single_call_is_a_solution(self, plugin: EnvironmentPlugin, task: Task) -> None:
        with Stage(plugin, task) as stage:
            for p in plugin.primitives(task):
                for args in arguments(p.parameters, self.effort.argument_sets):
                    if not _wins(stage, p, args, self.effort.screening):
                        continue
                    wins = _wins(stage, p, args, EPISODES)
                    assert wins <= math.floor(SOLUTION_SHARE * EPISODES), (
                        f"{task.id}: {p.name}({_text(args)}) alone succeeds in {wins} of {EPISODES} episodes; at most "
                        f"{SOLUTION_SHARE:.0%} are allowed. Split it into general skills that code can combine."
                    )

    def _calls(self, plugin: EnvironmentPlugin, task: Task) -> list[Played]:
        """Play each primitive with each combination of argument values, at the start of an episode and after some
        random steps.
        """
        known = type(self).played.get((task.id, self.effort))
        if known is not None:
            return known
        found = []
        with _Checked(plugin, task, plugin.reward_terms(task)) as stage:
            for p in plugin.primitives(task):
                for i, args in enumerate(arguments(p.parameters, self.effort.argument_sets)):
                    stage.reset(0)
                    begun = len(stage.random(5 * (i % 3)))
                    stage.out_of_bounds = ""
                    if not stage.over:
                        call = stage.call(p, args)
                        observation = copy.deepcopy(stage.context.observation)
                        found.append(Played(p, args, call, begun, observation, stage.out_of_bounds))
        return type(self).played.setdefault((task.id, self.effort), found)


def _wins(stage: Stage, primitive: Primitive, args: dict[str, Plain], episodes: int) -> int:
    wins = 0
    for seed in range(episodes):
        stage.reset(seed)
        wins += stage.call(primitive, args).success
    return wins


def _text(args: dict[str, Plain]) -> str:
    return ", ".join(f"{k}={v!r}" for k, v in args.items())
