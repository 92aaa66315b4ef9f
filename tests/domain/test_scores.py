"""Success, score, and the ranking of evaluations and iterations by both."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from rlgpt.domain import (
    RETURN,
    ActionPlan,
    Episode,
    Evaluation,
    Iteration,
    Metric,
    RLSetup,
    Score,
    Steps,
    SubAction,
    Task,
    best_of,
)

scores = st.floats(-1e6, 1e6)


def episode(success: bool = False, score: float | None = None, reward: float = 0.0) -> Episode:
    return Episode(seed=0, success=success, total_reward=reward, primitive_steps=1, decisions=1, score=score)


def evaluation(*episodes: Episode, score: Score | None = None, mode: str = "sampled") -> Evaluation:
    return Evaluation(mode=mode, episodes=episodes, score=score)  # type: ignore[arg-type]


def iteration(index: int, policy: Evaluation, code: Evaluation | None = None) -> Iteration:
    plan = ActionPlan(sub_actions=(SubAction(name="all", description="", kind="rl", reason=""),))
    setup = RLSetup(reward_weights={}, observation_keys=())
    return Iteration(index=index, plan=plan, setup=setup, code_evaluation=code, evaluation=policy, steps=Steps())


@given(scores, scores, st.booleans())
def test_evaluation_with_the_better_score_ranks_higher_for_maximized_and_minimized_scores(
    a: float, b: float, maximize: bool
) -> None:
    score = Score(maximize=maximize)
    one, other = (evaluation(episode(score=value), score=score) for value in (a, b))
    assert (one.rank > other.rank) == ((a > b) if maximize else (a < b))


@given(scores, scores)
def test_rank_of_an_evaluation_compares_the_success_rate_before_the_score(a: float, b: float) -> None:
    score = Score()
    assert evaluation(episode(True, a), score=score).rank > evaluation(episode(False, b), score=score).rank


@given(scores)
def test_evaluation_without_episodes_or_scores_ranks_below_every_evaluation_with_a_score(value: float) -> None:
    score = Score(maximize=False)
    scored = evaluation(episode(score=value), score=score)
    assert scored.rank > evaluation(mode="code").rank
    assert scored.rank > evaluation(episode(), score=score).rank


def test_iteration_keeps_code_instead_of_the_policy_only_when_the_code_has_a_better_score() -> None:
    score = Score(maximize=False)
    low, high = (evaluation(episode(score=value), score=score) for value in (1.0, 2.0))
    assert iteration(0, high, low).kept is low
    assert iteration(0, low, high).kept is low
    assert iteration(0, high, high.model_copy(update={"mode": "code"})).kept is high


def test_best_iteration_has_the_best_score_and_among_equal_scores_the_higher_return() -> None:
    score = Score()
    first = iteration(0, evaluation(episode(score=2.0, reward=0.0), score=score))
    second = iteration(1, evaluation(episode(score=2.0, reward=1.0), score=score))
    third = iteration(2, evaluation(episode(score=1.0, reward=9.0), score=score))
    assert best_of((first, second, third)) is second


def test_task_without_a_success_and_without_a_score_is_invalid() -> None:
    with pytest.raises(ValidationError, match="needs a success in words, or a score"):
        Task(id="a/b", goal="", horizon=1)
    assert Task(id="a/b", goal="", horizon=1, score=Score()).success == ""


def test_score_of_a_task_must_name_the_return_or_a_metric_of_the_task() -> None:
    coins = Metric(name="coins", reduce="sum")
    assert Task(id="a/b", goal="", horizon=1, score=Score(metric="coins"), metrics=(coins,))
    with pytest.raises(ValidationError, match=r"'coin'; valid: return, coins"):
        Task(id="a/b", goal="", horizon=1, score=Score(metric="coin"), metrics=(coins,))
    with pytest.raises(ValidationError, match="names of metrics must differ"):
        Task(id="a/b", goal="", horizon=1, score=Score(), metrics=(coins, coins))
    with pytest.raises(ValidationError, match="give the metric another name"):
        Metric(name=RETURN)


@pytest.mark.parametrize(("maximize", "mean", "reached"), [(True, 2, True), (True, 1, False), (False, 1, True)])
def test_target_is_reached_from_below_for_a_maximized_and_from_above_for_a_minimized_score(
    maximize: bool, mean: float, reached: bool
) -> None:
    assert Score(maximize=maximize, target=1.5).reached(mean) is reached
    assert not Score(maximize=maximize).reached(mean)
    assert not Score(maximize=maximize, target=1.5).reached(None)


def test_evaluation_record_of_an_earlier_version_has_a_success_rate_and_no_score() -> None:
    old = {"mode": "greedy", "episodes": [{"seed": 1, "success": True, "total_reward": 1.0, "primitive_steps": 3}]}
    old["episodes"][0]["decisions"] = 1  # type: ignore[index]
    read = Evaluation.model_validate(old)
    assert read.has_success
    assert read.rank == (1.0, 0.0)
    assert read.mean_score is None
    assert not math.isnan(read.mean_reward)
