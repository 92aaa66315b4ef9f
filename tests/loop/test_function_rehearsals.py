"""The rehearsal of functions: episodes are played once, and each function is called on the view at each of their
steps.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlgpt.domain import CodedFeatures, CodedFunction, CodedPredicate, CodedReward, FunctionRehearsal, Output
from rlgpt.loop.played import Code, Played, play
from rlgpt.loop.rehearse_function import paid_in, rehearse_function
from rlgpt.plugin.library import library_of
from rlgpt.sandbox import Sandbox, SandboxLimits
from rlgpt.testing.counting import action
from rlgpt.testing.grid import FETCH, GridPlugin
from story import TASK

LIBRARY = library_of(GridPlugin(), TASK)
FAR = Output(name="far", low=0, high=20)
DISTANCE = CodedFeatures(
    name="geometry",
    source="""
def features(view, memory):
    return {"far": sum(abs(a - k) for a, k in zip(view["agent"], view["key"]))}
""",
    outputs=(FAR,),
)


def fetch(limit: int = 30) -> Any:
    return action("fetch", FETCH).model_copy(update={"max_steps": limit})


@pytest.fixture(scope="module")
def played() -> Played:
    return play(GridPlugin(), TASK, Code((fetch(),)), seeds=(3, 4, 5), limit=20, sandbox=Sandbox(), library=LIBRARY)


def rehearsed(function: CodedFunction, played: Played, *features: CodedFunction, **limits: Any) -> FunctionRehearsal:
    sandbox = Sandbox(SandboxLimits(**limits))
    return rehearse_function(function, features, played, attempt=0, sandbox=sandbox, library=LIBRARY)


def reward(line: str, **more: Any) -> CodedReward:
    return CodedReward(name="near", source=f"def reward(view, memory):\n    {line}\n", **more)


def feature(line: str, *outputs: Output) -> CodedFeatures:
    return CodedFeatures(
        name="f",
        source=f"def features(view, memory):\n    {line}\n",
        outputs=outputs or (Output(name="z", low=0, high=1),),
    )


def test_coded_actions_play_all_rehearsal_episodes_except_the_last(played: Played) -> None:
    assert [(e.seed, e.by_code, e.success) for e in played.episodes[:2]] == [(3, True, True), (4, True, True)]
    assert not played.episodes[2].by_code
    assert played.steps == sum(len(e.views) - 1 for e in played.episodes)
    assert all(len(e.views) <= 21 for e in played.episodes)
    assert str(played).startswith("2 episodes of code and 1 episode of random choices, ")
    assert all(e.views[0]["agent"] != e.views[-1]["agent"] for e in played.episodes[:2]), "each step has its own view"


def test_rehearsal_episodes_without_code_have_random_actions_that_repeat_with_the_seed() -> None:
    def randomly() -> Played:
        return play(GridPlugin(), TASK, Code(), seeds=(3, 4), limit=9, sandbox=Sandbox(), library=LIBRARY)

    first, second = randomly(), randomly()
    assert first.episodes == second.episodes
    assert not any(e.by_code for e in first.episodes)
    assert len({str(view["agent"]) for view in first.episodes[0].views}) > 1


def test_play_computes_the_features_that_coded_actions_read() -> None:
    reads = action("reads", "def run():\n    view = yield observe()\n    yield go(direction='up', cells=view['far'])\n")
    kept = Code((reads,), (DISTANCE,))
    played = play(GridPlugin(), TASK, kept, seeds=(3,), limit=9, sandbox=Sandbox(), library=LIBRARY)
    assert played.episodes[0].by_code
    assert "far" not in played.episodes[0].views[0], "the stored views contain no features"


def test_function_rehearsal_calls_a_feature_at_every_step_and_summarizes_its_outputs(played: Played) -> None:
    found = rehearsed(DISTANCE, played)
    assert not found.failed
    assert found.steps == 0
    assert found.moments == played.steps + len(played.episodes)
    assert found.fuel > 0
    (summary,) = found.answers
    truth = [
        sum(abs(a - k) for a, k in zip(v["agent"], v["key"], strict=True)) for e in played.episodes for v in e.views
    ]
    assert (summary.name, summary.low, summary.high) == ("far", min(truth), max(truth))
    assert summary.mean == pytest.approx(sum(truth) / len(truth))
    assert 0 < summary.changes <= played.steps
    assert summary.outside == 0
    assert summary.samples[0] == truth[0]
    assert found.remarks == ()


def test_coded_reward_can_read_a_feature_and_fails_without_that_feature(played: Played) -> None:
    assert not rehearsed(reward("return -view['far']", low=-20, high=0), played, DISTANCE).failed
    missing = rehearsed(reward("return -view['far']", low=-20, high=0), played)
    assert missing.verdict is not None
    assert "no key 'far'" in missing.verdict.message


WRONG = {
    "raises": ("return 1 / (view['agent'] == view['agent'] and memory.get('t', 0))", "error", 0),
    "later": ("memory['t'] = memory.get('t', 4) - 1; return {'z': 1 / memory['t']}", "error", 3),
    "nan": ("return {'z': float('nan')}", "type", 0),
    "endless": ("while True: pass", "fuel", 0),
    "memory": ("memory['a'] = 'a' * 10 ** 8; return {'z': 0}", "memory", 0),
    "reply": ("return {str(i): i for i in range(10 ** 3)}", "reply", 0),
}


@pytest.mark.parametrize(("line", "kind", "step"), WRONG.values(), ids=WRONG)
def test_function_rehearsal_ends_with_a_verdict_that_gives_the_step(
    played: Played, line: str, kind: str, step: int
) -> None:
    found = rehearsed(feature(line), played)
    assert found.failed
    assert found.verdict is not None
    assert (found.verdict.kind, found.verdict.step, found.moments) == (kind, step, step)


def test_function_rehearsal_reports_a_name_that_is_in_use_as_a_fault(played: Played) -> None:
    term = GridPlugin().reward_terms(TASK)[0].name
    for function, said in (
        (reward("return 0").model_copy(update={"name": "fetch"}), "fetch: actions already have these names"),
        (reward("return 0").model_copy(update={"name": term}), "reward terms of the environment"),
        (feature("return {'agent': 0}", Output(name="agent", low=0, high=1)), "used twice: agent"),
    ):
        found = rehearsed(function, played)
        assert found.failed
        assert said in found.fault


def test_function_rehearsal_reports_more_functions_than_sandbox_instances_as_a_fault(played: Played) -> None:
    assert "at most 1" in rehearsed(reward("return 0"), played, DISTANCE, instances=1).fault


def test_function_rehearsal_reports_bounds_that_clip_every_value_as_a_fault(played: Played) -> None:
    outside = rehearsed(feature("return {'z': 3 + view['agent'][0]}"), played)
    assert outside.failed
    assert "z was between 3 and" in outside.fault
    assert "its bounds are 0 to 1" in outside.fault
    partly = rehearsed(feature("return {'z': view['agent'][0]}"), played)
    assert not partly.failed
    assert any("was outside its bounds, and so clipped, at" in r for r in partly.remarks)
    assert partly.answers[0].high > 1, "the summary shows the values before clipping"


def test_function_rehearsal_remarks_a_value_that_never_changes(played: Played) -> None:
    constant = CodedPredicate(name="there", source="def done(view, memory):\n    return False\n")
    assert rehearsed(constant, played).remarks == ("there was False at every moment",)
    assert not rehearsed(constant, played).failed, "perhaps no episode reaches the sub-goal"
    of_episode = feature("return {'z': memory.setdefault('z', view['key'][0] / 9)}")
    assert rehearsed(of_episode, played).remarks == ("z never changed within an episode",)


def test_function_rehearsal_remarks_a_reward_term_that_gives_reward_without_success(played: Played) -> None:
    bare = play(GridPlugin(), TASK, Code(), seeds=(4,), limit=20, sandbox=Sandbox(), library=LIBRARY)
    played = played._replace(episodes=(*played.episodes, *bare.episodes))
    assert [e.success for e in played.episodes] == [True, True, True, False]
    for_time = rehearsed(reward("return 1", kind="step"), played)
    assert any(r.startswith("near pays without success: 20 in an episode that failed") for r in for_time.remarks)
    for_key = rehearsed(reward("return view['holding']", kind="event"), played)
    assert [r for r in for_key.remarks if "without success" in r] == []
    assert any(r.startswith("near paid") for r in for_key.remarks)


@settings(max_examples=60)
@given(st.lists(st.floats(-5, 5), min_size=2, max_size=8), st.sampled_from(["potential", "step", "event"]))
def test_reward_term_has_the_same_sum_in_a_function_rehearsal_and_in_training(answers: list[float], kind: Any) -> None:
    """The sum over the episode is equal to the sum that :class:`rlgpt.options.shaping.Shaping` gives."""
    from rlgpt.options.shaping import Shaping
    from rlgpt.plugin.types import Context, RewardTerm

    term = reward("return 0", kind=kind, low=-2.0, high=3.0)
    ctx: Any = Context(TASK, None, {}, 0, None, None)  # type: ignore[arg-type]
    shaping = Shaping([RewardTerm("near", "", lambda c: answers[c.step], kind, -2.0, 3.0)], {"near": 1.0})
    shaping.reset(ctx)
    total = 0.0
    for step in range(1, len(answers)):
        ctx.step = step
        total += shaping.pay(ctx)[0]
    assert paid_in(term, answers) == pytest.approx(total)
