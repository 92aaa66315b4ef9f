"""Slow agent, fast agent and critic with a scripted model: keys, prompts, repairs, repeated requests, fingerprints."""

from __future__ import annotations

import subprocess
import sys

import pytest
from rlgpt.agents.base import Brief, Outcome, Training
from rlgpt.agents.brief import make_brief
from rlgpt.agents.critic import LLMCritic
from rlgpt.agents.episodes import render_code, render_episodes, render_results
from rlgpt.agents.fast import LLMFast
from rlgpt.agents.mode import Mode
from rlgpt.agents.slow import LLMSlow
from rlgpt.domain import ActionPlan, CodedAction, Iteration, Rehearsal, Score, SubAction, Task, Trace, Verdict
from rlgpt.errors import LLMError
from rlgpt.llm.base import Request, RequestKey
from rlgpt.sandbox import Library
from rlgpt.testing.grid import GridPlugin
from rlgpt.testing.llm import FakeLLM

from . import scripts


def text(request: Request) -> str:
    return "\n".join(m.content for m in request.messages)


def write(
    llm: FakeLLM, library: Library, brief: Brief, plan: ActionPlan, attempts: tuple[Rehearsal, ...] = ()
) -> CodedAction:
    return LLMFast(llm, library).write(brief, plan, plan.coded[0], written=(), attempts=attempts, history=())


def test_slow_agent_request_contains_the_brief(brief: Brief) -> None:
    llm = FakeLLM({"slow": scripts.PLAN})
    plan = LLMSlow(llm).plan(brief, ())
    assert [(s.name, s.kind) for s in plan.sub_actions] == [("fetch_key", "code"), ("finish", "rl")]
    (request,) = llm.requests
    assert request.key == RequestKey(task="grid/door", role="slow")
    assert request.measured == {}
    for document in (brief.stub.strip(), brief.knowledge, brief.task.goal, "near_door", "privileged", "near_key: the"):
        assert document in request.messages[0].content


def test_request_for_a_revised_plan_contains_the_history_and_its_figures(brief: Brief, iteration: Iteration) -> None:
    llm = FakeLLM({"slow": scripts.PLAN})
    LLMSlow(llm).plan(brief, (iteration,))
    assert llm.keys[0].iteration == 1
    assert llm.requests[0].measured["success"] == 0.25
    assert "SLOW-PROBLEM" in text(llm.requests[0])


def test_plan_with_a_sub_action_named_like_a_primitive_is_asked_for_again(brief: Brief) -> None:
    llm = FakeLLM({"slow": [scripts.PLAN.replace("fetch_key", "go"), scripts.PLAN]})
    assert LLMSlow(llm).plan(brief, ()).coded[0].name == "fetch_key"
    assert [k.ask for k in llm.keys] == [0, 1]
    assert "'go' is already the name of a primitive" in llm.requests[1].messages[-1].content


def test_plan_with_two_sub_actions_of_the_same_name_is_asked_for_again(brief: Brief) -> None:
    llm = FakeLLM({"slow": [scripts.PLAN.replace('"finish"', '"fetch_key"'), scripts.PLAN]})
    LLMSlow(llm).plan(brief, ())
    assert "must differ" in llm.requests[1].messages[-1].content


def test_fast_agent_returns_the_coded_action_of_its_reply(brief: Brief, plan: ActionPlan, library: Library) -> None:
    llm = FakeLLM({"fast": scripts.action()})
    action = write(llm, library, brief, plan)
    assert (action.name, action.source, action.max_steps) == ("fetch_key", scripts.SOURCE, 20)
    assert [p.name for p in action.parameters] == ["cells"]
    (request,) = llm.requests
    assert request.key == RequestKey(task="grid/door", role="fast", sub_action="fetch_key")
    assert plan.coded[0].description in text(request)
    assert "How to repair it" not in text(request)


def test_code_with_an_unknown_primitive_is_asked_for_again(brief: Brief, plan: ActionPlan, library: Library) -> None:
    wrong = scripts.action(scripts.SOURCE.replace("use()", "grab()"))
    llm = FakeLLM({"fast": [wrong, scripts.action()]})
    assert write(llm, library, brief, plan).source == scripts.SOURCE
    complaint = llm.requests[1].messages[-1].content
    assert "grab" in complaint
    assert "line 3" in complaint


def test_code_that_stays_invalid_after_three_requests_raises_an_error_with_model_role_and_fault(
    brief: Brief, plan: ActionPlan, library: Library
) -> None:
    llm = FakeLLM({"fast": scripts.action(scripts.SOURCE.replace("use()", "grab()"))}, model="vicuna")
    with pytest.raises(LLMError) as caught:
        write(llm, library, brief, plan)
    message = str(caught.value)
    for words in ("vicuna", "fast on 'fetch_key'", "in 3 tries", "grab"):
        assert words in message
    assert [k.ask for k in llm.keys] == [0, 1, 2]


def test_parameter_outside_its_range_is_asked_for_again(brief: Brief, plan: ActionPlan, library: Library) -> None:
    wrong = scripts.action(parameters=[{"name": "cells", "low": 1, "high": 6, "default": 9}])
    llm = FakeLLM({"fast": [wrong, scripts.action()]})
    write(llm, library, brief, plan)
    assert "default 9.0 of 'cells' is outside [1.0, 6.0]" in llm.requests[1].messages[-1].content


def test_repair_request_lists_every_earlier_failure(
    brief: Brief, plan: ActionPlan, library: Library, rehearsal: Rehearsal
) -> None:
    verdict = Verdict(kind="error", action="fetch_key", message="IndexError: 9", line=2)
    second = Rehearsal(attempt=1, action=rehearsal.action, verdict=verdict)
    llm = FakeLLM({"fast": scripts.action()})
    write(llm, library, brief, plan, (rehearsal, second))
    (request,) = llm.requests
    assert request.key.attempt == 2
    assert request.measured == {"attempts": 2, "failure": "error"}
    for words in (
        "attempt 1: it stopped 1 column short",
        "Python error in fetch_key, line 2: IndexError: 9",
        "How to repair it",
    ):
        assert words in text(request)


def test_repair_request_shows_trace_and_findings_of_the_last_attempt(
    brief: Brief, plan: ActionPlan, library: Library, rehearsal: Rehearsal
) -> None:
    llm = FakeLLM({"fast": scripts.action()})
    write(llm, library, brief, plan, (rehearsal,))
    assert "agent: [2, 3] -> [0, 3]" in text(llm.requests[0])
    assert "walk right as well" in text(llm.requests[0])


def test_setup_request_shows_rehearsal_results(
    brief: Brief, plan: ActionPlan, library: Library, action: CodedAction, rehearsal: Rehearsal
) -> None:
    llm = FakeLLM({"setup": scripts.setup()})
    setup = LLMFast(llm, library).setup(
        brief, plan, actions=(action,), history=(), rehearsals={"fetch_key": (rehearsal,)}
    )
    assert setup.coded_actions == ("fetch_key",)
    assert (setup.gamma, setup.base_actions, setup.horizon) == (0.98, None, None)
    assert "1 attempt, the last one failed" in text(llm.requests[0])


def test_setup_with_unknown_names_is_asked_for_again(
    brief: Brief, plan: ActionPlan, library: Library, action: CodedAction
) -> None:
    wrong = scripts.setup(coded_actions=["fly"], reward_weights={"fame": 1}, gamma=0.5, interrupt_every=10**20)
    llm = FakeLLM({"setup": [wrong, scripts.setup()]})
    LLMFast(llm, library).setup(brief, plan, actions=(action,), history=())
    complaint = llm.requests[1].messages[-1].content
    for words in ("no coded action 'fly'", "no reward term 'fame'", "gamma is 0.5", "interrupt_every is 1000"):
        assert words in complaint


def test_setup_with_values_outside_their_bounds_is_asked_for_again_with_every_fault(
    brief: Brief, plan: ActionPlan, library: Library, action: CodedAction
) -> None:
    llm = FakeLLM({"setup": [scripts.setup(coded_actions=["fly"], gamma=1.2), scripts.setup()]})
    LLMFast(llm, library).setup(brief, plan, actions=(action,), history=())
    complaint = llm.requests[1].messages[-1].content
    for words in ("gamma: Input should be less than or equal to 1 (got 1.2)", "no coded action 'fly'"):
        assert words in complaint
    assert complaint.count("gamma") == 1


def test_fast_agent_can_use_different_models_for_code_and_setup(
    brief: Brief, plan: ActionPlan, library: Library, action: CodedAction
) -> None:
    coder, other = FakeLLM({"fast": scripts.action()}), FakeLLM({"setup": scripts.setup()})
    fast = LLMFast(coder, library, setup_llm=other)
    fast.write(brief, plan, plan.coded[0], written=(), attempts=(), history=())
    fast.setup(brief, plan, actions=(action,), history=())
    assert [k.role for k in coder.keys] == ["fast"]
    assert [k.role for k in other.keys] == ["setup"]


def test_critic_review_request_shows_the_trace_of_the_rehearsal(
    brief: Brief, plan: ActionPlan, rehearsal: Rehearsal
) -> None:
    llm = FakeLLM({"review": scripts.REVIEW})
    review = LLMCritic(llm).review(brief, plan.coded[0], rehearsal, iteration=2)
    assert not review.works
    assert review.findings[0].suggestion == "s"
    (request,) = llm.requests
    assert request.key == RequestKey(
        task="grid/door", iteration=2, role="review", sub_action="fetch_key", attempt=rehearsal.attempt
    )
    assert "agent: [2, 3] -> [0, 3]" in text(request)
    assert request.measured == {"attempt": 0, "task_success": False, "steps": 3}


def test_review_that_rejects_without_a_finding_is_asked_for_again(
    brief: Brief, plan: ActionPlan, rehearsal: Rehearsal
) -> None:
    llm = FakeLLM({"review": ['{"thoughts": "no", "works": false, "findings": []}', scripts.REVIEW]})
    LLMCritic(llm).review(brief, plan.coded[0], rehearsal, iteration=0)
    assert "there is no finding" in llm.requests[1].messages[-1].content


def test_critique_has_separate_findings_for_the_slow_and_the_fast_agent(brief: Brief, outcome: Outcome) -> None:
    llm = FakeLLM({"critic": scripts.CRITIQUE})
    critique = LLMCritic(llm).critique(brief, outcome, ())
    assert [f.problem for f in critique.for_slow] == ["p1"]
    assert [f.problem for f in critique.for_fast] == ["p2"]
    (request,) = llm.requests
    prompt = text(request)
    for words in (
        "The policy (sampled): success 0.25 in 4 episodes",
        "- seed 1: no success, 40 steps, 9 decisions",
        "fetch_key 75 %",
        "near_key: 0.75",
        "2 times: Python error",
        "at 10000 primitive steps",
        "view at the start",
        "No frames are attached",
    ):
        assert words in prompt
    assert not request.messages[1].images
    assert request.measured["success"] == 0.25


@pytest.mark.parametrize("apart", [True, False])
def test_results_in_the_prompt_show_the_evaluation_of_code_alone_once(outcome: Outcome, apart: bool) -> None:
    code = outcome.evaluation.model_copy(update={"mode": "code"})
    results = render_results(
        outcome.model_copy(update={"evaluation": code, "code_evaluation": code if apart else None}), {"near_key": 1.0}
    )
    assert results.count("The code alone") == 1
    assert "The policy" not in results
    both = render_results(outcome.model_copy(update={"code_evaluation": code}), {})
    assert "near_key: " in results
    assert "near_key (weight 0): " in both
    assert both.index("The policy (sampled): success 0.25") < both.index("The code alone")


def test_critic_with_vision_receives_the_frames(brief: Brief, outcome: Outcome) -> None:
    llm = FakeLLM({"critic": scripts.CRITIQUE}, supports_vision=True)
    critic = LLMCritic(llm)
    assert critic.supports_vision
    critic.critique(brief, outcome, ())
    assert llm.requests[0].messages[1].images == outcome.frames
    assert "1 frames of one evaluation episode" in text(llm.requests[0])


def test_critic_prompt_lists_every_episode_and_shows_the_first_failure_in_detail(
    outcome: Outcome, trace: Trace
) -> None:
    good = trace.model_copy(update={"seed": 3, "success": True})
    code = outcome.evaluation.model_copy(update={"mode": "code", "traces": (good, trace)})
    policy = outcome.evaluation.model_copy(update={"traces": (good,)})
    text = render_episodes(
        outcome.model_copy(update={"evaluation": policy, "code_evaluation": code}), 40, {"near_key": 1.0}
    )
    assert text.count("- seed 2: no success, 40 steps, 9 decisions, time limit, near_key 1") == 2
    detail = text[text.index("In detail, the code alone:") :]
    assert detail.index("seed 7: no success") < detail.index('go(direction="up"') < detail.index("seed 3: success")
    assert detail.count('go(direction="up"') == 1


def test_fingerprint_of_a_request_depends_on_the_stub_but_not_on_results_of_the_run(
    brief: Brief, plugin: GridPlugin, task: Task, iteration: Iteration
) -> None:
    llm = FakeLLM({"slow": scripts.PLAN})
    slow = LLMSlow(llm)
    slow.plan(brief, ())
    slow.plan(brief, (iteration,))
    slow.plan(make_brief(plugin, task, {"agent": [0, 0], "key": [1, 1], "door": [2, 2], "holding": False}), ())
    slow.plan(brief.model_copy(update={"stub": brief.stub + "# more"}), ())
    first, later, elsewhere, changed = (r.fingerprint for r in llm.requests)
    assert first == later == elsewhere
    assert changed != first


def test_code_only_mode_changes_the_prompt_but_not_its_fingerprint(brief: Brief) -> None:
    llm = FakeLLM({"slow": scripts.PLAN})
    training = Training(steps=5000, decisions=150, least=200, least_at_last=20, target=0.95, episodes=10)
    LLMSlow(llm, Mode(iterations=3)).plan(brief.model_copy(update={"training": training}), ())
    LLMSlow(llm, Mode(learns=False)).plan(brief, ())
    both, code = llm.requests
    assert "a success rate of 0.95 or more in at least 10 episodes" in text(both)
    assert "Unless code alone reaches this, a policy may be trained for 5,000 primitive steps, about 150 " in text(both)
    assert "at least 200 decisions, one in 25 primitive steps on average (20 in the last iteration" in text(both)
    assert "only better code helps now" in text(both)
    assert "iteration 1 of at most 3." in text(both)
    assert "no reinforcement learning in this run" in text(code)
    assert code.measured == {"mode": "code only"}
    assert both.fingerprint == code.fingerprint


def test_importing_agents_does_not_import_torch_litellm_or_wasmtime() -> None:
    code = "import rlgpt.agents.build, sys; print([m for m in ('torch', 'litellm', 'wasmtime') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_prompt_shows_from_which_iteration_a_kept_action_is(
    brief: Brief, plan: ActionPlan, library: Library, iteration: Iteration
) -> None:
    """Also one that follows in the plan, and in the setup."""
    first = SubAction(name="look", description="look around", kind="code", reason="")
    kept = plan.sub_actions[0].model_copy(update={"keep": True})
    revised = plan.model_copy(update={"sub_actions": (first, kept)})
    llm = FakeLLM({"fast": scripts.action(), "setup": scripts.setup()})
    fast = LLMFast(llm, library)
    fast.write(brief, revised, first, written=(), attempts=(), history=(iteration,))
    fast.setup(brief, revised, actions=iteration.actions, history=(iteration,))
    for request in llm.requests:
        assert "`fetch_key`: kept from iteration 1 and not rehearsed since; there: 1 attempt" in text(request)
        assert "in iteration 1: chosen in 75 % of decisions" in text(request)


def test_prompts_of_fast_agent_and_critic_state_the_number_of_remaining_repairs(
    brief: Brief, plan: ActionPlan, library: Library, rehearsal: Rehearsal
) -> None:
    llm = FakeLLM({"fast": scripts.action(), "review": scripts.REVIEW})
    for left in (1, 0):
        known = brief.model_copy(update={"repairs": left})
        write(llm, library, known, plan, (rehearsal,))
        LLMCritic(llm).review(known, plan.coded[0], rehearsal, iteration=0)
    repair, review, last, end = map(text, llm.requests)
    assert "This is repair 1; 1 left after it." in repair
    assert "(attempt 1; repairs left: 1)" in review
    assert "This is repair 1; none left after it." in last
    assert "(attempt 1; no repair is left, so findings are for the next iteration)" in end


@pytest.mark.parametrize(
    ("target", "score", "why"),
    [
        (0.2, None, "reaches the target of 0.2: 4 episodes are too few to be sure"),
        (0.95, None, ""),
        (None, Score(), "The score has no target, so the run goes on"),
        (9.0, Score(), "because the target is a mean score of 9."),
    ],
)
def test_setup_request_states_why_the_run_continues_after_the_code_evaluation(
    brief: Brief, outcome: Outcome, target: float | None, score: Score | None, why: str
) -> None:
    task = brief.task.model_copy(update={"score": score, "success": "" if score else brief.task.success})
    training = Training(steps=100, target=target, episodes=10)
    code = outcome.evaluation.model_copy(update={"mode": "code"})
    shown = render_code(brief.model_copy(update={"task": task, "training": training, "code": code}))
    assert why in shown
    assert bool(why) == ("goes on" in shown)


def test_setup_request_lists_the_default_settings(
    brief: Brief, plan: ActionPlan, library: Library, action: CodedAction
) -> None:
    llm = FakeLLM({"setup": scripts.setup()})
    default = brief.default_setup
    setup = LLMFast(llm, library).setup(brief, plan, actions=(action,), history=())
    assert f"may be left out, then {default.interrupt_every}; primitive steps of a coded" in text(llm.requests[0])
    assert f"may be left out, then {default.plan_prior}; probability" in text(llm.requests[0])
    assert (setup.interrupt_every, setup.plan_prior) == (default.interrupt_every, default.plan_prior)
