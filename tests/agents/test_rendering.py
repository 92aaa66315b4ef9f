"""The texts of traces, plain values and history in prompts are complete, and their length is bounded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlgpt.agents import history_text
from rlgpt.agents.rendering import render_curve, render_functions, render_terms
from rlgpt.agents.text import changes, code_block, plain, shorten
from rlgpt.agents.traces import failure_of, render_rehearsal, render_trace
from rlgpt.domain import (
    CodedAction,
    CodedReward,
    CurvePoint,
    Decision,
    Ending,
    Finding,
    Iteration,
    OtherStart,
    Plain,
    PrimitiveCall,
    Rehearsal,
    Review,
    Score,
    Trace,
    TrainingRecord,
    Verdict,
    best_of,
)

VALUES: st.SearchStrategy[Plain] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)


@given(st.text(max_size=400), st.integers(60, 500))
def test_shorten_returns_the_start_of_a_text_within_the_length_limit(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert len(short) <= limit or len(short) == len(text) <= limit
    if len(text) > limit:
        assert "characters left out" in short
        assert text.startswith(short[: short.index(" [...")])


@given(VALUES)
def test_plain_value_is_rendered_as_one_line_of_bounded_length(value: Plain) -> None:
    line = plain(value, 100)
    assert len(line) <= 100
    assert "\n" not in line


@given(st.dictionaries(st.sampled_from("abcd"), VALUES), st.dictionaries(st.sampled_from("abcd"), VALUES))
def test_changes_lists_keys_with_different_rounded_values(before: dict[str, Plain], after: dict[str, Plain]) -> None:
    changed = {line.split(":")[0] for line in changes(before, after)}
    for key in {*before, *after}:
        same = key in before and key in after and plain(before[key]) == plain(after[key])
        assert (key in changed) is not same
    assert changes(before, before) == []


def test_render_trace_shows_calls_outcomes_and_changed_keys(trace: Trace) -> None:
    text = render_trace(trace)
    assert "view at the start: agent=[2, 3], key=[0, 4], holding=false" in text
    assert "1. fetch_key(cells=3): returned by itself after 3 primitive steps, reward 0.25" in text
    assert 'go(direction="up", cells=3) took 2 steps -> {moved: 2, blocked: true}' in text
    assert "view: agent: [2, 3] -> [0, 3]" in text
    assert text.count("key:") == 0


def test_trace_merges_successive_base_actions(trace: Trace) -> None:
    base = [Decision(action="up", duration=1, reward=0.5, ended="base") for _ in range(12)]
    text = render_trace(trace.model_copy(update={"decisions": (*base, trace.decisions[0])}))
    assert "1 to 12. up(): base action after 12 primitive steps, reward 6" in text
    assert "13. fetch_key" in text


@given(st.integers(1, 200), st.integers(600, 5000))
def test_render_trace_limits_the_text_and_keeps_the_first_and_the_last_decision(count: int, limit: int) -> None:
    decisions = tuple(Decision(action=f"act_{i}", duration=i, reward=0.0, ended="returned") for i in range(count))
    trace = Trace(seed=1, success=True, total_reward=0.0, primitive_steps=count, decisions=decisions)
    text = render_trace(trace, limit)
    assert len(text) < limit + 200
    assert "act_0()" in text
    assert f"act_{count - 1}()" in text
    assert ("left out" in text) == (text.count("act_") < count)


@pytest.mark.parametrize("limit", [300, 900, 3000])
def test_render_trace_keeps_the_last_decision_at_any_limit(limit: int) -> None:
    """The last decision of a rehearsal is the call of the coded action under repair."""
    call = PrimitiveCall(name="move_to", args={"x": 0.1}, steps=9, outcome={"reached": False, "note": "n" * 60})
    long = [Decision(action=f"early{i}", duration=9, reward=0.0, ended="returned", calls=(call,) * 8) for i in range(4)]
    last = Decision(action="last_action", duration=2, reward=0.0, ended="returned", calls=(call,) * 8)
    trace = Trace(seed=0, success=False, total_reward=0.0, primitive_steps=38, decisions=(*long, last))
    text = render_trace(trace, limit)
    assert "last_action" in text
    assert len(text) < limit + 400


def test_description_of_a_rehearsal_states_the_reason_of_its_failure(rehearsal: Rehearsal, action: CodedAction) -> None:
    assert failure_of(rehearsal) == "it stopped 1 column short"
    verdict = Verdict(kind="fuel", action="fetch_key", message="ran too long", line=3, step=5)
    stopped = Rehearsal(attempt=1, action=action, verdict=verdict)
    assert (
        failure_of(stopped) == "computed too long in fetch_key, line 3, 5 primitive steps into the call: ran too long"
    )
    assert "It was stopped." in render_rehearsal(stopped)
    assert failure_of(Rehearsal(attempt=2, action=action)) == "worked"


def test_code_block_of_an_action_shows_its_parameters_and_source(action: CodedAction) -> None:
    text = code_block(action)
    assert "cells from 1 to 6 cells, default 1 (how far)" in text
    assert action.source.strip() in text


def test_history_before_the_first_iteration_states_that_no_iteration_exists() -> None:
    for render in (history_text.for_slow, history_text.for_setup, history_text.for_solo):
        assert render(()) == history_text.FIRST
    assert history_text.for_action((), "fetch_key") == history_text.FIRST
    assert history_text.measured(()) == {}


def test_history_shows_each_agent_only_the_findings_for_that_agent(iteration: Iteration) -> None:
    slow, setup, solo = (
        render((iteration,)) for render in (history_text.for_slow, history_text.for_setup, history_text.for_solo)
    )
    assert "SLOW-PROBLEM" in slow
    assert "FAST-PROBLEM" not in slow
    assert "FAST-PROBLEM" in setup
    assert "SLOW-PROBLEM" not in setup
    assert "SLOW-PROBLEM" in solo
    assert "FAST-PROBLEM" in solo


def test_history_shows_results_of_the_last_iteration(iteration: Iteration) -> None:
    text = history_text.for_slow((iteration,))
    assert "iteration 1: policy (sampled): success 0.25 in 4 episodes" in text
    assert "trained 10,000 steps, 1,000 decisions; 10,163 primitive steps spent in all" in text
    assert "cells from 1 to 6 cells" in text
    assert iteration.actions[0].source.strip() not in text
    assert "chosen in 75 % of decisions" in text
    assert "1 attempt, the last one failed: it stopped 1 column short" in text
    assert "2 times: Python error in fetch_key, line 2" in text
    assert "It never reaches the key's column." in text


def test_history_shows_best_and_last_iteration(iteration: Iteration) -> None:
    worse = iteration.model_copy(
        update={"index": 1, "evaluation": iteration.evaluation.model_copy(update={"episodes": ()})}
    )
    text = history_text.for_slow((iteration, worse))
    assert "Iteration 2, the last:" in text
    best = text[text.index("Iteration 1, the best so far:") :]
    assert iteration.plan.sub_actions[0].description in text
    assert all(text.count(line) == 1 for line in best.splitlines() if len(line) > 120), "nothing long is sent twice"


def test_history_and_run_agree_on_the_best_iteration(iteration: Iteration) -> None:
    last = iteration.model_copy(
        update={"index": 2, "evaluation": iteration.evaluation.model_copy(update={"episodes": ()})}
    )
    history = (iteration, iteration.model_copy(update={"index": 1}), last)
    assert best_of(history).index == 1
    assert "Iteration 2, the best so far:" in history_text.for_slow(history)


def test_history_of_an_action_shows_its_source_and_findings(iteration: Iteration) -> None:
    text = history_text.for_action((iteration,), "fetch_key")
    assert iteration.actions[0].source.strip() in text
    assert "FAST-PROBLEM" in text
    assert "SLOW-PROBLEM" not in text
    assert "Python error in fetch_key" in text
    other = history_text.for_action((iteration,), "open_door")
    assert "No earlier iteration had a `open_door`" in other
    assert iteration.actions[0].source.strip() not in other


@given(st.integers(1, 12))
@pytest.mark.parametrize("render", [history_text.for_slow, history_text.for_setup, history_text.for_solo])
def test_history_text_is_bounded_for_any_number_of_iterations(render: object, count: int) -> None:
    assert callable(render)
    text = "x" * 3000
    history = _long_history(count, text)
    assert len(render(history)) <= history_text.LIMIT + 200


def test_text_of_a_learning_curve_shows_first_and_last_point_and_each_reward_term(training: TrainingRecord) -> None:
    rows = render_curve(training, {"near_key": 1.0}, points=4).splitlines()
    assert len(rows) == 4
    assert rows[0].startswith("- at 1000 primitive steps (100 decisions): success 0.10")
    assert rows[-1].startswith("- at 10000")
    assert all("near_key 0." in row for row in rows)
    assert "near_key (weight 0) 0." in render_curve(training, {})
    assert "success" not in render_curve(training, {}, has_success=False)
    assert render_curve(None, {}) == "(no training)"


def test_measured_figures_of_the_history_come_from_the_last_iteration(iteration: Iteration) -> None:
    assert history_text.measured((iteration,)) == {"success": 0.25, "reward": 1.5}
    with_code = iteration.model_copy(update={"code_evaluation": iteration.evaluation})
    assert history_text.measured((with_code,))["code_success"] == 0.25


def _long_history(count: int, text: str) -> tuple[Iteration, ...]:
    from rlgpt.domain import ActionPlan, Critique, Evaluation, Finding, RLSetup, Steps, SubAction

    finding = Finding(problem=text, suggestion=text)
    names = [f"do_{'x' * 30}_{i}" for i in range(8)]
    return tuple(
        Iteration(
            index=i,
            plan=ActionPlan(
                sub_actions=tuple(SubAction(name=n, description=text, kind="code", reason=text) for n in names)
            ),
            actions=tuple(CodedAction(name=n, doc="d", source=text * 3) for n in names),
            setup=RLSetup(reward_weights={"a": 1.0}, observation_keys=("k",)),
            evaluation=Evaluation(mode="sampled", episodes=()),
            critique=Critique(summary=text, for_slow=(finding,) * 4, for_fast=(finding,) * 4),
            steps=Steps(),
        )
        for i in range(count)
    )


def test_critic_prompt_marks_a_reward_term_that_rises_while_success_does_not(
    training: TrainingRecord, iteration: Iteration
) -> None:
    def point(i: int, paid: float) -> CurvePoint:
        terms = {"near": paid, "time": -0.1}
        return CurvePoint(
            primitive_steps=100 * i, episodes=2, success=0.2, total_reward=0, decisions=i, reward_terms=terms
        )

    hacked = training.model_copy(update={"curve": tuple(point(i, 0.5 * i) for i in range(9))})
    near = CodedReward(name="near", source="")
    text = render_terms(hacked, iteration.evaluation, [near], {"near": 1.0})
    lines = {line.split(";")[0]: line for line in text.splitlines()}
    assert "PAYS MORE AND MORE WITHOUT MORE SUCCESS" in lines["- near (coded)"]
    assert "in order of time: 0, 1, 1.5, 2.5, 3, 4" in lines["- near (coded)"]
    assert "PAYS" not in lines["- time (weight 0)"]
    scored = iteration.evaluation.model_copy(update={"has_success": False, "score": Score(metric="walked")})
    points = tuple(p.model_copy(update={"score": 0.2}) for p in hacked.curve)
    text = render_terms(hacked.model_copy(update={"curve": points}), scored, [near], {"near": 1.0})
    assert "PAYS MORE AND MORE WITHOUT A BETTER SCORE" in text
    assert "success" not in text.lower()


def test_coded_functions_are_listed_with_the_results_of_their_rehearsal() -> None:
    near = CodedReward(name="near", source="", doc="Nearer is more.")
    text = render_functions([near], {"near": ("near was 0 at every moment",), "gone": ("x",)})
    assert "Nearer is more. In its rehearsal: near was 0 at every moment." in text
    assert "gone" not in text


def _decision(name: str, before: float, after: float, *calls: PrimitiveCall, ended: Ending = "returned") -> Decision:
    return Decision(
        action=name, duration=1, reward=0.0, ended=ended, before={"x": before}, after={"x": after}, calls=calls
    )


def test_shortened_trace_keeps_the_decision_with_the_largest_change_of_the_view() -> None:
    steps = [_decision(f"small_{i}", i * 0.01, i * 0.01 + 0.01) for i in range(40)]
    decisions = (*steps[:20], _decision("large", 0.2, 9.0), *steps[20:])
    text = render_trace(Trace(seed=1, success=False, total_reward=0, primitive_steps=41, decisions=decisions), 900)
    assert "large()" in text
    assert "decisions that changed less are left out here" in text
    assert "small_0()" in text
    assert "small_39()" in text


def test_trace_merges_repeated_primitive_calls_with_the_observed_values_between_them() -> None:
    calls = []
    for i in range(9):
        calls.append(PrimitiveCall(name="push", args={"force": 0.5}, steps=2, outcome={"moved": i, "stuck": False}))
        calls.append(PrimitiveCall(name="observe", args={}, steps=0, outcome={"x": 0.1 * i}))
    text = render_trace(
        Trace(seed=1, success=False, total_reward=0, primitive_steps=18, decisions=(_decision("go", 0, 1, *calls),))
    )
    assert "9 times push(force=0.5), 18 steps in all -> moved: 0, 1, 3, 4, 5, 7, 8 (sampled); stuck: false" in text
    assert "view x: 0, 0.1, 0.3, 0.4, 0.5, 0.7, 0.8 (sampled); (sampled) are the calls 1, 2, 4, 5, 6, 8, 9" in text


def test_trace_shows_long_values_that_code_logged_in_its_memory() -> None:
    log = [round(0.01 * i, 2) for i in range(60)]
    decision = _decision("go", 0, 1).model_copy(update={"memory": {"log": log}})
    text = render_trace(Trace(seed=1, success=False, total_reward=0, primitive_steps=1, decisions=(decision,)))
    assert "0, 0.01, 0.02" in text
    assert "0.5, 0.51" in text


def test_trace_merges_the_decisions_of_one_call_of_a_coded_action() -> None:
    parts = [_decision("go", i, i + 1, ended="running") for i in range(4)]
    decisions = (*parts, _decision("go", 4, 5), _decision("use", 5, 5))
    text = render_trace(Trace(seed=1, success=False, total_reward=0, primitive_steps=6, decisions=decisions))
    assert "1 to 5. go(): returned by itself after 5 primitive steps" in text
    assert "x: 0 -> 5" in text
    assert "6. use()" in text


def test_trace_shows_a_complete_grid_at_most_once() -> None:
    grid: Plain = [[[2, 5, 0] for _ in range(8)] for _ in range(8)]
    moved: Plain = [[[2, 5, 0] for _ in range(8)] for _ in range(7)] + [[[2, 5, 0]] * 7 + [[10, 0, 3]]]
    calls = tuple(
        PrimitiveCall(name=name, args={}, steps=steps, outcome=outcome)
        for name, steps, outcome in (("act", 1, {"reward": 0}), ("observe", 0, {"image": moved, "turn": 1}))
    )
    decision = _decision("go", 0, 1, *calls).model_copy(
        update={"before": {"image": grid, "turn": 0}, "after": {"image": moved, "turn": 1}}
    )
    trace = Trace(seed=1, success=False, total_reward=0, primitive_steps=1, decisions=(decision,))
    text = render_trace(trace)
    assert text.count("[[[2, 5, 0]") == 1
    assert "act() took 1 steps -> {reward: 0}; view image: [7][7][0] 2 -> 10" in text
    assert "characters left out" not in text
    assert "image=(8 x 8 x 3 numbers)" in render_trace(trace, 1000)


def test_trace_shows_only_the_changed_lines_of_a_grid_of_letters() -> None:
    before, after = "\n".join(["....", "A...", "..K."]), "\n".join(["....", ".A..", "..K."])
    assert changes({"map": before}, {"map": after}) == ['map: line 1 "A..." -> ".A.."']


def test_trace_shows_only_the_changed_items_of_a_long_list() -> None:
    things: list[Plain] = [{"kind": "cow", "distance": float(i), "bearing": 10.0 * i} for i in range(20)]
    (line,) = changes({"things": things}, {"things": things[1:]})
    assert line == 'things: 20 -> 19 items; gone [{kind: "cow", distance: 0, bearing: 0}]'


def test_changes_show_a_short_vector_and_a_map_of_letters_whole() -> None:
    before, after = [0.1, 0.2, 0.3, 0.25, -0.9, 0.12345], [0.75, -0.125, 3.25, 0.5, -0.875, 0.4375]
    pose = "pose: [0.1, 0.2, 0.3, 0.25, -0.9, 0.1235] -> [0.75, -0.125, 3.25, 0.5, -0.875, 0.4375]"
    assert changes({"pose": before}, {"pose": after}, 80) == [pose]
    grey: list[Plain] = ["ssssssssssss" for _ in range(8)]
    road: list[Plain] = ["ssskkkssssss", *grey[1:]]
    (line,) = changes({"map": grey}, {"map": road})
    assert line == f"map: now {plain(road, 500)}"
    assert changes({"map": grey}, {"map": road}, 40) == ["map: 1 of 8 lines differ"]


def test_changes_count_items_that_do_not_fit() -> None:
    things: list[Plain] = [["a long name of a thing that stands still", i] for i in range(3)]
    assert changes({"things": things[:2]}, {"things": things}, 40) == ["things: 2 -> 3 items; 1 new"]


def test_shortened_trace_prefers_calls_with_large_changes_of_the_view() -> None:
    calls = []
    for i in range(60):
        calls.append(PrimitiveCall(name=f"push_{i}", args={}, steps=1, outcome={"note": "n" * 50}))
        calls.append(PrimitiveCall(name="observe", args={}, steps=0, outcome={"x": 9.0 if i == 30 else i * 1e-9}))
    text = render_trace(
        Trace(seed=1, success=False, total_reward=0, primitive_steps=60, decisions=(_decision("go", 0, 1, *calls),)),
        1500,
    )
    assert "push_30() took 1 steps" in text
    assert "view x: 2.9e-08 -> 9" in text
    assert "push_0()" in text
    assert "push_59()" in text
    assert "calls that changed less are left out" in text


def test_trace_of_a_decision_shows_changed_memory_and_reward_terms_of_weight_0() -> None:
    decision = _decision("go", 0, 1).model_copy(
        update={"memory": {"tries": 2}, "reward_terms": {"near": 0.5, "calm": -3.0}}
    )
    trace = Trace(
        seed=1, success=False, total_reward=0, primitive_steps=1, decisions=(decision,), unpaid=("calm",), score=7.5
    )
    text = render_trace(trace.model_copy(update={"has_success": False}))
    assert "memory: tries=2" in text
    assert "near 0.5" in text
    assert "calm" not in text
    assert "Episode with seed 1: score 7.5 after 1 primitive steps" in text


def test_history_keeps_findings_about_a_working_action(iteration: Iteration, rehearsal: Rehearsal) -> None:
    finding = Finding(problem="REMARK", suggestion="do it slower")
    works = rehearsal.model_copy(update={"review": Review(works=True, findings=(finding,))})
    later = iteration.model_copy(update={"rehearsals": {"fetch_key": (works,)}})
    for render in (history_text.for_slow, history_text.for_critic, history_text.for_solo):
        assert "the last one worked; the critic added: REMARK -> do it slower" in render((later,))


def test_prompt_shows_steps_result_and_changes_of_rehearsals_from_other_start_states(rehearsal: Rehearsal) -> None:
    others = (
        OtherStart(seed=5, ended="returned", success=False, steps=12, before={"x": 0.0}, after={"x": 2.0}),
        OtherStart(seed=6, ended="limit", success=False, steps=30, score=1.5),
        OtherStart(seed=7, ended="masked", success=False, steps=1),
    )
    text = render_rehearsal(rehearsal.model_copy(update={"others": others}))
    assert "From the start of seed 5: returned by itself after 12 primitive steps, no success; view: x: 0 -> 2." in text
    moved = OtherStart(
        seed=8, ended="returned", success=False, steps=2, before={"x": 0.0, "goal": 5.0}, after={"x": 2.0, "goal": 5.0}
    )
    decision = Decision(action="go", ended="returned", duration=1, reward=0, before={"x": 0.0, "goal": 1.0}, after={})
    trace = Trace(seed=1, success=False, total_reward=0, primitive_steps=1, decisions=(decision,))
    both = rehearsal.model_copy(update={"others": (moved,), "trace": trace})
    assert "no success; view: x: 0 -> 2; unchanged goal=5." in render_rehearsal(both)
    assert "From the start of seed 6: stopped at its max_steps after 30 primitive steps, score 1.5." in text
    assert "From the start of seed 7: it never ran" in text
