"""Evaluation of policies and code: results depend only on the seed, traces have a bounded length, and each frame comes
with the name of the active action.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlgpt.domain import Decision, Episode, Evaluation, Score, Trace
from rlgpt.errors import ConfigError
from rlgpt.rl.acting import by_code, by_policy, code_spec
from rlgpt.rl.base import EnvSpec, Hyperparameters, Policy
from rlgpt.rl.evaluation import Judge, evaluate, evaluate_code, together
from rlgpt.rl.play import TRACED, Limits, Recorder, shortened
from rlgpt.rl.ppo import PPO
from rlgpt.testing.counting import BROKEN, TASK, TO_ROW, WANDER, action, counted, grid_spec
from rlgpt.testing.grid import FETCH, TASKS

TO_COLUMN = action(
    "to_column",
    """
def run():
    view = yield observe()
    right = view["key"][1] - view["agent"][1]
    if right:
        yield go(direction="right" if right > 0 else "left", cells=abs(right))
    yield use()
""",
)
NEVER = action("never", "def can_start(view):\n    return False\n\ndef run():\n    yield use()\n")


class Always(Policy):
    """A policy that repeats the given actions in order."""

    def __init__(self, actions: Sequence[Any]) -> None:
        self.actions, self.at = actions, -1

    def act(
        self,
        observation: dict[str, np.ndarray],
        *,
        greedy: bool,
        rng: np.random.Generator,
        sharpness: float = 1.0,
    ) -> Any:
        self.at += 1
        return self.actions[self.at % len(self.actions)]


def untrained(spec: EnvSpec) -> Policy:
    return PPO().untrained(spec, seed=0, hyperparameters=Hyperparameters())


@pytest.mark.parametrize("greedy", [True, False])
def test_evaluated_episode_depends_only_on_its_seed(greedy: bool, tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", TO_ROW)
    policy = untrained(spec)
    forward = evaluate(policy, spec, seeds=range(6), greedy=greedy)
    backward = evaluate(policy, spec, seeds=range(5, -1, -1), greedy=greedy)
    assert forward.episodes == backward.episodes[::-1]
    assert forward.mode == ("greedy" if greedy else "sampled")


def test_evaluation_reports_every_primitive_step_and_usage_per_decision(tmp_path: Path) -> None:
    counter = tmp_path / "count"
    spec = grid_spec(counter, WANDER)
    found = evaluate(Always([5, 5, 5, 0]), spec, seeds=(0, 1), greedy=True)
    assert found.primitive_steps == counted(counter)
    total = sum(e.decisions for e in found.episodes)
    assert found.usage["wander"] * total == pytest.approx(round(found.usage["wander"] * total))
    assert found.usage["wander"] == pytest.approx(0.75, abs=0.1)
    assert sum(found.usage.values()) == pytest.approx(1)


def test_trace_of_an_evaluated_episode_has_its_steps_and_rewards(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", TO_ROW, WANDER)
    found = evaluate(untrained(spec), spec, seeds=range(4), greedy=False, traces=2)
    assert len(found.traces) == 2
    episodes = {episode.seed: episode for episode in found.episodes}
    for trace in found.traces:
        episode = episodes[trace.seed]
        assert trace.success == episode.success
        assert len(trace.decisions) + trace.omitted == episode.decisions
        if not trace.omitted:
            assert sum(d.duration for d in trace.decisions) == episode.primitive_steps
            assert sum(d.reward for d in trace.decisions) == pytest.approx(episode.total_reward)
        assert trace.decisions[0].before != {}


def test_traces_of_an_evaluation_are_those_of_the_worst_and_the_best_episode(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", TO_ROW, WANDER)
    found = evaluate(untrained(spec), spec, seeds=range(12), greedy=False, traces=2)
    ranked = sorted(found.episodes, key=lambda e: (e.success, e.total_reward))
    assert {t.seed for t in found.traces} == {ranked[0].seed, ranked[-1].seed}


def test_trace_of_a_stuck_episode_is_kept_before_those_of_other_failures() -> None:
    def played(seed: int, total: float, *, stuck: bool) -> Evaluation:
        episode = Episode(seed=seed, success=False, total_reward=total, primitive_steps=1, decisions=1)
        trace = Trace(seed=seed, success=False, total_reward=total, primitive_steps=1, decisions=(), stuck=stuck)
        return Evaluation(mode="code", episodes=(episode,), traces=(trace,))

    parts = [played(0, 1.0, stuck=False), played(1, 5.0, stuck=True), played(2, 7.0, stuck=False)]
    assert [trace.seed for trace in together(parts, 1).traces] == [1]
    assert [trace.seed for trace in together(parts, 2).traces] == [1, 2]


def test_long_trace_of_an_evaluation_keeps_its_first_and_its_last_decision(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", task=TASKS["grid/door"])
    (trace,) = evaluate(Always([0]), spec, seeds=(0,), greedy=True, traces=1).traces
    assert len(trace.decisions) == TRACED
    assert trace.omitted == 80 - TRACED
    assert (trace.numbers[0], trace.numbers[-1]) == (1, 80)
    assert list(trace.numbers) == sorted(set(trace.numbers))
    assert trace.decisions[-1].ended == "episode"


@given(st.integers(1, 400), st.data())
def test_trace_of_a_long_episode_contains_the_decision_with_the_only_change(count: int, data: st.DataObject) -> None:
    changed = data.draw(st.integers(1, count))
    recorder = Recorder()
    for number in range(1, count + 1):
        recorder.add(
            Decision(
                action="a",
                duration=1,
                reward=0.0,
                ended="returned",
                before={"x": float(number > changed)},
                after={"x": float(number >= changed)},
            )
        )
    episode = Episode(seed=0, success=False, total_reward=0, primitive_steps=count, decisions=count)
    trace = shortened(recorder.trace(episode, TASK, unpaid=()))
    assert {1, changed, count} <= set(trace.numbers)
    assert trace.decisions[trace.numbers.index(changed)].after != trace.decisions[trace.numbers.index(changed)].before
    assert (len(trace.decisions), trace.omitted) == (min(count, TRACED), max(0, count - TRACED))


def test_success_that_the_environment_reports_does_not_count_in_a_task_with_only_a_score(tmp_path: Path) -> None:
    actions, spec = (TO_ROW, TO_COLUMN), grid_spec(tmp_path / "count", TO_ROW, TO_COLUMN)
    succeeded = evaluate_code(spec, actions, seeds=range(5))
    assert succeeded.success_rate > 0
    scored = dataclasses.replace(spec, task=spec.task.model_copy(update={"success": "", "score": Score()}))
    found = evaluate_code(scored, actions, seeds=range(5))
    assert found.success_rate == 0
    assert found.mean_score == 1.0


def test_evaluate_code_repeats_the_coded_actions_in_order(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count")
    found = evaluate_code(spec, (TO_ROW, TO_COLUMN), seeds=range(10), traces=10)
    assert found.mode == "code"
    assert found.success_rate == 1.0
    for trace in found.traces:
        assert [d.action for d in trace.decisions] == (["to_row", "to_column"] * 40)[: len(trace.decisions)]
    cycle = evaluate_code(spec, (WANDER, BROKEN), seeds=(0, 1), traces=2)
    for trace in cycle.traces:
        assert [d.action for d in trace.decisions] == (["wander", "broken"] * 40)[: len(trace.decisions)]
    assert {v.kind for v in cycle.verdicts} == {"error"}


def test_evaluated_code_that_may_not_start_takes_idle_steps_until_the_horizon(tmp_path: Path) -> None:
    found = evaluate_code(grid_spec(tmp_path / "count"), (NEVER,), seeds=(0,), traces=1)
    assert found.primitive_steps == counted(tmp_path / "count") == TASK.horizon
    assert {d.ended for d in found.traces[0].decisions} == {"masked"}


def test_evaluate_code_without_actions_raises_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="at least one"):
        evaluate_code(grid_spec(tmp_path / "count"), (), seeds=(0,))


def test_frame_of_each_primitive_step_comes_with_the_active_action(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", WANDER)
    frames: list[tuple[tuple[int, ...], str]] = []
    found = evaluate(
        Always([5, 4]), spec, seeds=(0,), greedy=True, on_frame=lambda f, name: frames.append((f.shape, name))
    )
    assert len(frames) == 1 + found.primitive_steps
    assert {shape for shape, _ in frames} == {(112, 112, 3)}
    names = [name for _, name in frames]
    assert names[0] == "start"
    assert names[1 : 1 + names.index("use") - 1] == ["wander"] * (names.index("use") - 1)


@pytest.mark.parametrize(
    ("actions", "cut"),
    [
        ((NEVER,), "stuck"),
        ((NEVER, action("push", "def run():\n    yield go(direction='up', cells=6)\n")), "stuck"),
        ((WANDER, NEVER), None),
    ],
    ids=["masked", "without a change", "in motion"],
)
def test_evaluation_stops_code_whose_actions_are_masked_or_change_nothing(
    actions: tuple[Any, ...], cut: str | None, tmp_path: Path
) -> None:
    """Code is stuck after several rounds in which every action is masked or the view does not change. A round is one
    pass through all actions.
    """
    task = TASK.model_copy(update={"horizon": 200})
    there = action(
        "wander",
        "def run():\n    view = yield observe()\n    up = view['agent'][0] > 0\n"
        "    yield go(direction='up' if up else 'down', cells=1)\n",
    )
    actions = tuple(there if a is WANDER else a for a in actions)
    spec = grid_spec(tmp_path / "count", task=task)
    with Judge(code_spec(spec, actions), traces=1) as judge:
        (episode,) = judge.play(by_code(actions, may_stop=True), (0,)).episodes
    assert episode.cut == cut
    assert not episode.success
    assert episode.primitive_steps == counted(tmp_path / "count")
    assert (episode.primitive_steps < 60) == (cut is not None)
    whole = evaluate_code(grid_spec(tmp_path / "whole", task=task), actions, seeds=(0,))
    assert whole.primitive_steps == counted(tmp_path / "whole") > 60
    assert whole.episodes[0].cut is None


def test_evaluation_does_not_stop_code_that_starts_after_ten_rounds(tmp_path: Path) -> None:
    """The action of the code may start only after ten rounds, and then the action solves the task."""
    waits = "rounds = 0\ndef can_start(view):\n    global rounds\n    rounds += 1\n    return rounds > 10\n"
    actions = (action("late", waits + FETCH),)
    spec = grid_spec(tmp_path / "count")
    with Judge(code_spec(spec, actions)) as judge:
        (episode,) = judge.play(by_code(actions, may_stop=True), (0,)).episodes
    assert episode.success
    assert episode.cut is None


def test_judge_limits_number_and_length_of_episodes(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count")
    with Judge(spec, limit=7) as judge:
        found = judge.play(by_policy(Always([0]), "greedy"), range(10), steps=20)
    assert [(e.primitive_steps, e.cut) for e in found.episodes] == [(7, "limit")] * 3
    with Judge(spec, limit=7) as judge:
        assert len(judge.play(by_policy(Always([0])), range(10), steps=0).episodes) == 1, (
            "the first episode always starts"
        )


@pytest.mark.parametrize("traces", [0, 3])
def test_merged_evaluations_equal_one_evaluation(traces: int, tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", TO_ROW, WANDER)
    acting = by_policy(untrained(spec))
    with Judge(spec, traces=traces) as judge:
        parts = [judge.play(acting, seeds) for seeds in ((0,), (1, 2, 3), (4, 5))]
        assert together(parts, traces) == judge.play(acting, range(6))


@pytest.mark.parametrize(
    ("greedy", "sharpness", "mode"), [(False, 1.0, "sampled"), (False, 4.0, "sharpened"), (True, 1.0, "greedy")]
)
def test_evaluation_records_the_mode_of_the_policy(greedy: bool, sharpness: float, mode: str, tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", TO_ROW)
    found = evaluate(untrained(spec), spec, seeds=(0,), greedy=greedy, sharpness=sharpness)
    assert (found.mode, found.sharpness) == (mode, sharpness)


@given(st.integers(0, 2**32 - 1), st.integers(4, 32), st.sampled_from([0.1, 0.3, 0.6]))
def test_episodes_side_by_side_exceed_their_steps_by_little(seed: int, lanes: int, slow: float) -> None:
    """Short episodes end first, so the mean length of the finished episodes alone is too low."""
    rng = random.Random(seed)
    limits, running, taken = Limits(steps=20_000, failures=None, longest=3_000), list[list[int]](), 0
    while True:
        while len(running) < lanes and limits.allow([so_far for so_far, _ in running]):
            running.append([0, 3_000 if rng.random() < slow else rng.randint(200, 800)])
        if not running:
            break
        for episode in running:
            episode[0] += 100
        taken += 100 * len(running)
        for episode in [e for e in running if e[0] >= e[1]]:
            running.remove(episode)
            limits.add(Episode(seed=0, success=True, total_reward=0, primitive_steps=episode[0], decisions=1))
        if taken > 10**6:
            break
    assert 20_000 <= taken <= 40_000
