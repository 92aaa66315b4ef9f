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
    CodedAction,
    Episode,
    Evaluation,
    Iteration,
    Metric,
    Parameter,
    RLSetup,
    Score,
    SearchRecord,
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


def test_evaluations_of_an_iteration_contain_each_evaluation_once() -> None:
    policy, code = evaluation(episode()), evaluation(episode(), mode="code")
    assert iteration(0, code, code.model_copy()).evaluations == (code,)
    assert iteration(0, policy, code).evaluations == (code, policy)


def test_iteration_keeps_code_instead_of_the_policy_only_when_the_code_has_a_better_score() -> None:
    score = Score(maximize=False)
    low, high = (evaluation(episode(score=value), score=score) for value in (1.0, 2.0))
    assert iteration(0, high, low).kept is low
    assert iteration(0, low, high).kept is low
    assert iteration(0, high, high.model_copy(update={"mode": "code"})).kept is high


def played(mode: str, wins: str) -> Evaluation:
    """An evaluation with an episode for each character of ``wins``; ``1`` is a success."""
    episodes = tuple(episode(w == "1").model_copy(update={"seed": seed}) for seed, w in enumerate(wins))
    return evaluation(*episodes, mode=mode)


@pytest.mark.parametrize(
    ("code", "tuned", "policy", "kept"),
    [
        ("100", "110", "100", "tuned"),
        ("110", "110", "100", "code"),  # Code and tuned code are equal.
        ("100", "110", "011", "greedy"),  # Tuned code and policy are equal.
        ("110", "110", "110", "greedy"),
        ("111", "110", "100", "code"),
        ("1", "10", "0", "code"),
        ("10", "11000000", "10", "tuned"),  # Later failures do not count where the others have left the race.
        ("1000", "1101", "11", "greedy"),  # Tuned code is better than code, and equal to the policy on two seeds.
    ],
)
def test_iteration_keeps_tuned_code_that_is_better_on_the_seeds_that_both_played(
    code: str, tuned: str, policy: str, kept: str
) -> None:
    found = iteration(0, played("greedy", policy), played("code", code))
    assert found.model_copy(update={"tuned_evaluation": played("tuned", tuned)}).kept.mode == kept


@pytest.mark.parametrize(
    ("code", "policy", "kept"),
    [
        (14 * "1" + "00", "1", "code"),
        (14 * "1" + "00", 9 * "1", "greedy"),
        (10 * "1" + 20 * "0", "111", "greedy"),
        (10 * "1", 10 * "1", "greedy"),
        ("111" + 7 * "0", "110", "code"),  # The seeds that the policy played are the easy ones.
    ],
)
def test_policy_with_few_episodes_is_kept_only_if_it_is_clearly_better(code: str, policy: str, kept: str) -> None:
    assert iteration(0, played("greedy", policy), played("code", code)).kept.mode == kept


def test_best_iteration_is_the_one_with_more_evidence_among_equal_success_rates() -> None:
    few, many = iteration(0, played("greedy", "1")), iteration(1, played("code", 21 * "1"))
    assert best_of((few, many)) is many
    assert best_of((many.model_copy(update={"index": 0}), few.model_copy(update={"index": 1}))).index == 0


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.data())
def test_cautious_rank_orders_equal_numbers_of_episodes_by_success_rate(ours: list[bool], data: st.DataObject) -> None:
    theirs = data.draw(st.lists(st.booleans(), min_size=len(ours), max_size=len(ours)))
    one, other = (played("code", "".join("01"[won] for won in results)) for results in (ours, theirs))
    assert (one.cautious_rank > other.cautious_rank) == (sum(ours) > sum(theirs))
    assert 0 <= one.cautious_rank[0] <= one.success_rate


@pytest.mark.parametrize("maximize", [True, False])
def test_cautious_rank_of_a_score_is_one_standard_error_worse_than_the_mean(maximize: bool) -> None:
    score = Score(maximize=maximize)
    sign = 1 if maximize else -1
    many = evaluation(*(episode(score=sign * x) for x in (16.0, 20.0, 18.0, 18.0)), score=score)
    assert many.cautious_rank[1] == pytest.approx(18 - math.sqrt(8 / 3) / 2)
    single = evaluation(episode(score=sign * 25.0), score=score)
    assert single.rank > many.rank
    assert single.cautious_rank < many.cautious_rank


def test_defaults_of_a_coded_action_stay_in_range_and_ignore_differences_of_rounding() -> None:
    one, two = (Parameter(name=name, low=0.06, high=0.13, default=0.1) for name in ("gap", "power"))
    action = CodedAction(name="strike", doc="", source="", parameters=(one, two))
    other = CodedAction(name="strike_far", doc="", source="", parameters=(one,))
    search = {"strike.gap": 0.12, "strike.power": 0.1 + 1e-9, "strike_far.gap": 0.13 + 1e-6}

    def tuned(**found: float) -> list[float]:
        changed = SearchRecord(episodes=1, successes=0, found={f"strike.{k}": v for k, v in found.items()}).tuned(
            (action,)
        )
        return [float(p.default) for a in changed for p in a.parameters]

    both = SearchRecord(episodes=1, successes=0, found=search).tuned((action, other))
    assert [[p.default for p in a.parameters] for a in both] == [[0.12, 0.1], [0.13]]
    assert all(CodedAction.model_validate_json(a.model_dump_json()) == a for a in both)
    assert tuned(gap=0.05999999865889549) == [0.06, 0.1], "a single-precision number just below the range"
    assert tuned(gap=math.nan, power=math.inf, unknown=1.0) == [0.1, 0.13]
    assert SearchRecord(episodes=1, successes=0, found={"strike.gap": 0.1 + 1e-9}).tuned((action,)) == (action,)


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
