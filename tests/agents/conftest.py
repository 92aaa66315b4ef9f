"""Fixtures: the brief of a task in the grid world, and values like those that a run stores."""

from __future__ import annotations

import pytest
from rlgpt.agents.base import Brief, Outcome
from rlgpt.agents.brief import make_brief
from rlgpt.domain import (
    ActionPlan,
    CodedAction,
    Critique,
    CurvePoint,
    Decision,
    Episode,
    Evaluation,
    Finding,
    Iteration,
    Parameter,
    PrimitiveCall,
    Rehearsal,
    Review,
    RLSetup,
    Steps,
    SubAction,
    Task,
    Trace,
    TrainingRecord,
    Verdict,
)
from rlgpt.plugin.library import library_of
from rlgpt.sandbox import Library
from rlgpt.testing.grid import TASKS, GridPlugin

SOURCE = 'def run(cells=1.0):\n    outcome = yield go(direction="up", cells=round(cells))\n    yield use()\n'


@pytest.fixture(scope="session")
def plugin() -> GridPlugin:
    return GridPlugin()


@pytest.fixture(scope="session")
def task() -> Task:
    return TASKS["grid/door"]


@pytest.fixture(scope="session")
def brief(plugin: GridPlugin, task: Task) -> Brief:
    return make_brief(plugin, task)


@pytest.fixture(scope="session")
def library(plugin: GridPlugin, task: Task) -> Library:
    return library_of(plugin, task)


@pytest.fixture
def plan() -> ActionPlan:
    return ActionPlan(
        thoughts="fetch, then open",
        sub_actions=(
            SubAction(name="fetch_key", description="walk to the key, pick it up", kind="code", reason="geometry"),
            SubAction(name="finish", description="all the rest of the way", kind="rl", reason="to be learnt"),
        ),
    )


@pytest.fixture
def action() -> CodedAction:
    cells = Parameter(name="cells", low=1, high=6, default=1.0, unit="cells", doc="how far")
    return CodedAction(name="fetch_key", doc="go up, use", source=SOURCE, parameters=(cells,), max_steps=20)


@pytest.fixture
def trace() -> Trace:
    calls = (
        PrimitiveCall(name="go", args={"direction": "up", "cells": 3}, steps=2, outcome={"moved": 2, "blocked": True}),
        PrimitiveCall(name="use", args={}, steps=1, outcome={"changed": False, "holding": False}),
    )
    before = {"agent": [2, 3], "key": [0, 4], "holding": False}
    decision = Decision(
        action="fetch_key",
        parameters={"cells": 3.0},
        duration=3,
        reward=0.25,
        ended="returned",
        before=before,
        after={**before, "agent": [0, 3]},
        calls=calls,
    )
    return Trace(seed=7, success=False, total_reward=0.25, primitive_steps=3, decisions=(decision,))


@pytest.fixture
def rehearsal(action: CodedAction, trace: Trace) -> Rehearsal:
    finding = Finding(action="fetch_key", problem="it stopped 1 column short", suggestion="walk right as well")
    return Rehearsal(attempt=0, action=action, trace=trace, review=Review(works=False, findings=(finding,)))


@pytest.fixture
def evaluation(trace: Trace) -> Evaluation:
    verdict = Verdict(kind="error", action="fetch_key", message="KeyError: no key 'x'", line=2)
    episodes = tuple(
        Episode(
            seed=i, success=i == 0, total_reward=i, primitive_steps=40, decisions=9, reward_terms={"near_key": 0.5 * i}
        )
        for i in range(4)
    )
    return Evaluation(
        mode="sampled",
        episodes=episodes,
        usage={"fetch_key": 0.75, "up": 0.25},
        traces=(trace,),
        verdicts=(verdict, verdict),
    )


@pytest.fixture
def setup() -> RLSetup:
    return RLSetup(
        reward_weights={"env_reward": 5.0, "near_key": 1.0},
        observation_keys=("agent", "key", "holding"),
        coded_actions=("fetch_key",),
    )


@pytest.fixture
def training() -> TrainingRecord:
    curve = tuple(
        CurvePoint(
            primitive_steps=1000 * i,
            episodes=5,
            success=0.1 * i,
            total_reward=0.5 * i,
            decisions=100 * i,
            reward_terms={"near_key": 0.05 * i},
            usage={"fetch_key": 0.5},
        )
        for i in range(1, 11)
    )
    return TrainingRecord(trainer="ppo", primitive_steps=10_000, decisions=1_000, seconds=1.0, curve=curve)


@pytest.fixture
def iteration(
    plan: ActionPlan,
    action: CodedAction,
    rehearsal: Rehearsal,
    evaluation: Evaluation,
    setup: RLSetup,
    training: TrainingRecord,
) -> Iteration:
    critique = Critique(
        summary="It never reaches the key's column.",
        for_slow=(Finding(action="finish", problem="SLOW-PROBLEM", suggestion="split it"),),
        for_fast=(Finding(action="fetch_key", problem="FAST-PROBLEM", suggestion="go right"),),
    )
    return Iteration(
        index=0,
        plan=plan,
        rehearsals={"fetch_key": (rehearsal,)},
        actions=(action,),
        setup=setup,
        training=training,
        evaluation=evaluation,
        critique=critique,
        steps=Steps(rehearsal=3, training=10_000, selection=160),
    )


@pytest.fixture
def outcome(iteration: Iteration) -> Outcome:
    return Outcome(
        plan=iteration.plan,
        actions=iteration.actions,
        setup=iteration.setup,
        code_evaluation=None,
        training=iteration.training,
        evaluation=iteration.evaluation,
        frames=("data:image/png;base64,AAAA",),
    )
