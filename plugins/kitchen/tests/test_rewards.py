"""Kitchen reward terms are bounded and smooth, and their value is 1 exactly at success."""

from __future__ import annotations

from collections.abc import Callable
from math import dist
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlgpt_kitchen.elements import ELEMENTS, THRESHOLD
from rlgpt_kitchen.plugin import KitchenPlugin

Make = Callable[..., Any]


@given(st.sampled_from(sorted(ELEMENTS)), st.data())
def test_progress_of_a_kitchen_element_is_1_exactly_when_the_element_is_complete(name: str, data: Any) -> None:
    element = ELEMENTS[name]
    joints = tuple(data.draw(st.floats(-2, 2)) for _ in element.goal)
    progress = element.progress(joints)
    assert 0.0 <= progress <= 1.0
    distance = dist(joints, element.goal)
    if abs(distance - THRESHOLD) > 1e-9:
        assert (progress == 1.0) == (distance < THRESHOLD)


@given(st.sampled_from(sorted(ELEMENTS)), st.floats(0, 1), st.floats(0, 1))
def test_progress_of_a_kitchen_element_grows_towards_the_goal(name: str, a: float, b: float) -> None:
    element = ELEMENTS[name]

    def at(share: float) -> float:
        return element.progress(tuple(s + share * (g - s) for s, g in zip(element.start, element.goal, strict=True)))

    assert at(0.0) == 0.0
    assert at(1.0) == 1.0
    assert at(min(a, b)) <= at(max(a, b)) + 1e-12


@pytest.mark.parametrize("name", ["kettle", "sequence_b"])
def test_kitchen_reward_terms_are_bounded_and_continuous(make_player: Make, plugin: KitchenPlugin, name: str) -> None:
    player = make_player(name)
    terms = plugin.reward_terms(player.task)
    assert len({t.name for t in terms}) == len(terms)
    before: dict[str, float] = {}
    for _ in range(60):
        for t in terms:
            value = t.value(player.ctx)
            assert t.low <= value <= t.high, t.name
            if t.kind == "potential" and t.name in before:
                assert abs(value - before[t.name]) < 0.5, t.name
            before[t.name] = value
        player.random(1)


def test_completed_kitchen_element_keeps_its_reward_when_it_moves_back(
    make_player: Make, plugin: KitchenPlugin
) -> None:
    player = make_player("sequence_a")
    terms = {t.name: t for t in plugin.reward_terms(player.task)}
    start = terms["reach_next"].value(player.ctx)
    assert terms["complete_microwave"].value(player.ctx) == 0.0
    player.env.unwrapped.base.data.qpos[22] = -0.7
    player.step(np.zeros(9))
    assert terms["complete_microwave"].value(player.ctx) == 1.0
    assert terms["progress_microwave"].value(player.ctx) == 1.0
    assert terms["success"].value(player.ctx) == 0.0
    assert terms["reach_next"].value(player.ctx) > start
    player.env.unwrapped.base.data.qpos[22] = 0.0
    player.step(np.zeros(9))
    assert terms["progress_microwave"].value(player.ctx) == 1.0, "a completed element keeps its reward"
