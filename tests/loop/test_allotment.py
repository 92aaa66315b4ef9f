"""Division of a budget: a share of the steps is for judging (evaluation of code and policy), the other steps are for
training. If too few steps are available, no policy is trained.
"""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rlgpt.agents.build import Agents, build_agents
from rlgpt.domain import (
    ActionPlan,
    Episode,
    Evaluation,
    Iteration,
    RLSetup,
    Steps,
    SubAction,
    Task,
    TrainingRecord,
)
from rlgpt.loop import LoopSettings
from rlgpt.loop.allotment import Allotment
from rlgpt.testing.grid import GridPlugin
from rlgpt.testing.llm import FakeLLM


def task(horizon: int) -> Task:
    plugin = GridPlugin()
    return next(iter(plugin.tasks().values())).model_copy(update={"horizon": horizon})


def agents(kind: str = "slow_fast_critic") -> Agents:
    return build_agents(kind, FakeLLM({}), GridPlugin(), task(1000))


def allotment(horizon: int, kind: str = "slow_fast_critic", **settings: object) -> Allotment:
    return Allotment(LoopSettings.model_validate(settings), task(horizon), agents(kind))


def code(steps: int, decisions: int) -> Evaluation:
    one = Episode(seed=0, success=True, total_reward=0, primitive_steps=steps, decisions=decisions)
    return Evaluation(mode="code", episodes=(one,))


BUDGETS = st.integers(1, 10**6)


@given(
    BUDGETS, st.integers(1, 20_000), st.integers(1, 5), st.sampled_from(["slow_fast_critic", "rl_only"]), st.booleans()
)
def test_steps_for_training_and_judging_are_at_most_the_budget(
    budget: int, horizon: int, iterations: int, kind: str, last: bool
) -> None:
    found = allotment(horizon, kind, budget=budget, iterations=iterations)
    with_code = kind != "rl_only"
    share = found.judging((), Steps(), last=last)
    assert share <= budget / 4
    assert found.code_first(()) <= share
    training = found.training((), Steps(), with_code=with_code, modes=2, last=last)
    assert 1 <= training <= max(1, budget)
    judged_here = min(share, 60 * found.limit) if with_code else min(share, 20 * found.limit)
    assert training + judged_here <= budget + 1
    tuned = found.training((), Steps(), with_code=with_code, modes=2, tuned=True, last=last)
    assert tuned <= training
    assert tuned == 1 or tuned + min(share, judged_here + 30 * found.limit) <= budget + 1
    assert 1 <= found.limit <= horizon


@given(BUDGETS, st.integers(0, 10**5), st.integers(0, 10**5))
@example(100_000, 0, 50_000)  # Code has used more than the steps for judging.
def test_training_gets_only_steps_that_are_not_spent_yet(budget: int, rehearsal: int, judged: int) -> None:
    found, here = allotment(300, budget=budget), Steps(rehearsal=rehearsal, code=judged)
    training = found.training((), here, with_code=True, modes=2, last=True)
    race = 2 * found.limit  # The first seed of the race is played in both modes, whatever code has used.
    assert training == 1 or training + race + here.total <= budget
    assert found.judging((), here) <= max(0, found.judging((), Steps()) - judged)


@given(BUDGETS, st.integers(0, 10**6), st.integers(0, 10**5))
def test_judging_gets_only_steps_that_a_longer_training_has_left(budget: int, trained: int, judged: int) -> None:
    found, here = allotment(300, budget=budget), Steps(training=trained, selection=judged)
    assert found.judging((), here) <= max(0, budget - here.total)


def test_last_iteration_may_judge_with_the_steps_of_iterations_that_do_not_run() -> None:
    found, here = allotment(10, budget=4_000, iterations=4), Steps(code=100)
    assert found.judging((), here) == 150
    assert found.judging((), here, last=True) == 900
    assert found.training((), here, with_code=True, modes=2, last=True) == 4_000 - 100 - 600


def test_run_without_learning_may_spend_the_whole_budget_on_judging() -> None:
    assert allotment(100, "code_only", budget=1000, iterations=2).judging((), Steps()) == 500
    assert allotment(100, "code_only", budget=1000, iterations=2).code_first(()) == 500


@pytest.mark.parametrize(
    ("steps", "decisions", "last", "enough"),
    [(40_000, 2000, False, True), (39_000, 1950, False, False), (4_000, 200, True, True), (3_900, 195, True, False)],
)
def test_allotment_enough_requires_a_minimal_number_of_decisions_for_training(
    steps: int, decisions: int, last: bool, enough: bool
) -> None:
    """The code takes 20 steps per decision. In the last iteration fewer decisions are enough, because no later
    iteration can use the steps.
    """
    assert allotment(1000).enough(steps, code(400, 20), setup(), (), last=last) == (enough, decisions)


def setup(every: int | None = None) -> RLSetup:
    return RLSetup(reward_weights={"env_reward": 1.0}, observation_keys=("agent",), interrupt_every=every)


def past(every: int | None, steps: int, decisions: int) -> Iteration:
    plan = ActionPlan(sub_actions=(SubAction(name="a", description="", kind="code", reason=""),))
    training = TrainingRecord(trainer="ppo", primitive_steps=steps, decisions=decisions, seconds=1)
    return Iteration(
        index=0,
        plan=plan,
        setup=setup(every),
        training=training,
        code_evaluation=code(400, 20),
        evaluation=code(400, 20),
        steps=Steps(),
    )


def test_estimated_number_of_decisions_depends_on_interrupt_every_and_earlier_trainings() -> None:
    """The code has a decision every 20 steps. A policy with interrupt_every=5 has about four times as many
    decisions.
    """
    of = allotment(1000).decisions
    assert of(10_000, (), setup(), code(400, 20)) == 500
    assert of(10_000, (), setup(5), code(400, 20)) == 2000
    assert of(10_000, (), setup(50), code(400, 20)) == 500, "the coded actions end before 50 steps"
    assert of(10_000, (), setup(5)) is None, "there is no evaluation or training to estimate from"
    assert of(10_000, (past(5, 1000, 300),), setup(5)) == 3000, "a training with the same interrupt_every has priority"
    assert of(10_000, (past(5, 1000, 300),), setup()) == 500, "a training with more frequent decisions is not used"
    assert of(10_000, (past(None, 1000, 100),), setup(4)) == 2500


def test_small_budget_reduces_number_and_length_of_selection_episodes_with_a_note() -> None:
    enough = allotment(1000, budget=80_000, iterations=1)
    assert (enough.note(), enough.limit) == ("", 1000)
    fewer = allotment(1000, budget=40_000, iterations=1)
    assert fewer.limit == 1000
    assert "in 5 episodes each, of 1,000 steps, instead of 10" in fewer.note()
    assert "budget=80_001, or a shorter horizon" in fewer.note()
    shorter = allotment(1000, budget=2000, iterations=1)
    assert shorter.limit == 250
    assert "in 1 episode each, of 250 of 1,000 steps" in shorter.note()


def test_code_that_succeeds_so_far_may_use_steps_of_learning_for_its_missing_selection_episodes() -> None:
    of = allotment(1000, budget=16_000, iterations=1)
    here = Steps(code=2000)
    assert of.judging((), here) == 2000
    assert of.confirmation((), here, 8) == 7000, "at most half of the steps that are left"
    assert of.confirmation((), here, 3) == 3000
    assert of.confirmation((), here, 0) == 2000
