"""Coded actions that a plan keeps, functions that a plan asks for, and repairs that edit earlier code."""

from __future__ import annotations

import json

import pytest
from rlgpt.agents import history_text
from rlgpt.agents.base import Brief, Outcome
from rlgpt.agents.critic import LLMCritic
from rlgpt.agents.fast import LLMFast
from rlgpt.agents.mode import Mode
from rlgpt.agents.slow import LLMSlow
from rlgpt.agents.solo import LLMSolo
from rlgpt.domain import (
    ActionPlan,
    CodedFeatures,
    CodedReward,
    FunctionPlan,
    FunctionRehearsal,
    Iteration,
    Output,
    Rehearsal,
    RLSetup,
)
from rlgpt.llm.base import Request
from rlgpt.sandbox import Library
from rlgpt.testing.llm import FakeLLM

from . import scripts

FEATURE = "def features(view, memory):\n    return {'seen': 1.0}\n"
COUNT = FunctionPlan(name="count", kind="feature", description="how many keys were seen", reason="memory")


def kept(**changes: object) -> str:
    actions = [{"name": "fetch_key", "kind": "code", "keep": True}, json.loads(scripts.PLAN)["sub_actions"][1]]
    return json.dumps({"thoughts": "it works", "sub_actions": actions, **changes})


def function(source: str = FEATURE, **changes: object) -> str:
    outputs = [{"name": "seen", "low": 0, "high": 9, "unit": "keys", "doc": "so far"}]
    return json.dumps({"thoughts": "count", "doc": "keys seen", "outputs": outputs, **changes}) + (
        f"\n```python\n{source}```"
    )


def test_a_kept_coded_action_needs_no_description_in_the_plan(brief: Brief, iteration: Iteration) -> None:
    llm = FakeLLM({"slow": kept()})
    plan = LLMSlow(llm).plan(brief, (iteration,))
    assert plan.sub_actions[0].keep
    assert plan.sub_actions[0].description == "walk to the key, pick it up"
    assert history_text.kept_action((iteration,), "fetch_key") == iteration.actions[0]
    assert len(llm.requests) == 1


def test_a_plan_that_keeps_unknown_code_is_asked_for_again_with_all_its_faults(brief: Brief) -> None:
    wrong = json.dumps(
        {
            "thoughts": "",
            "sub_actions": [
                {"name": "fetch_key", "kind": "code", "keep": True},
                {"name": "finish", "kind": "rl", "keep": True},
                {"name": "open_door", "kind": "code"},
            ],
            "functions": [{"name": "near_key", "kind": "reward", "description": "again"}],
        }
    )
    llm = FakeLLM({"slow": [wrong, scripts.PLAN]})
    LLMSlow(llm).plan(brief, ())
    complaint = llm.requests[1].messages[-1].content
    for words in (
        "fetch_key: there is no earlier code of this name to keep",
        "finish: only code can be kept",
        "open_door: its description is missing",
        "function name 'near_key' is already the name of a reward term",
    ):
        assert words in complaint


def test_history_marks_kept_coded_actions(iteration: Iteration) -> None:
    plan = iteration.plan.model_copy(
        update={"sub_actions": (iteration.plan.sub_actions[0].model_copy(update={"keep": True}),)}
    )
    kept = iteration.model_copy(update={"plan": plan, "rehearsals": {}})
    text = history_text.for_slow((iteration, kept.model_copy(update={"index": 1})))
    assert "fetch_key (code, kept)" in text
    assert "kept from iteration 1; chosen in 75 %" in text
    assert "kept from the library of skills; chosen in 75 %" in history_text.for_slow((kept,))


def test_fast_agent_accepts_a_repair_that_consists_of_edits(
    brief: Brief, plan: ActionPlan, library: Library, rehearsal: Rehearsal
) -> None:
    edit = "<<<<<<< SEARCH\n    yield use()\n=======\n    yield use()\n    yield use()\n>>>>>>> REPLACE\n"
    twice = edit.replace("    yield use()\n=======", "    yield fly()\n=======")
    replies = [f'{{"thoughts": "again"}}\n```python\n{text}```' for text in (twice, edit)]
    llm = FakeLLM({"fast": replies})
    action = LLMFast(llm, library).write(brief, plan, plan.coded[0], written=(), attempts=(rehearsal,), history=())
    assert action.source == rehearsal.action.source + "    yield use()\n"
    assert (action.parameters, action.doc) == (rehearsal.action.parameters, rehearsal.action.doc)
    assert "edit 1: the source has no line '    yield fly()'" in llm.requests[1].messages[-1].content


def test_fast_agent_accepts_edits_of_the_code_of_an_earlier_iteration(
    brief: Brief, plan: ActionPlan, library: Library, iteration: Iteration
) -> None:
    edit = "<<<<<<< SEARCH\n    yield use()\n=======\n    return\n>>>>>>> REPLACE\n"
    llm = FakeLLM({"fast": scripts.action(edit, parameters=[{"name": "cells", "low": 1, "high": 6, "default": 1}])})
    action = LLMFast(llm, library).write(brief, plan, plan.coded[0], written=(), attempts=(), history=(iteration,))
    assert action.source == iteration.actions[0].source.replace("yield use()", "return")


def test_fast_agent_writes_and_repairs_a_feature_function(brief: Brief, plan: ActionPlan, library: Library) -> None:
    asked = plan.model_copy(update={"functions": (COUNT,)})
    llm = FakeLLM({"function": [function("def feature(view):\n    pass\n"), function(), function()]})
    fast = LLMFast(llm, library)
    written = fast.write_function(brief, asked, COUNT, attempts=(), history=())
    assert isinstance(written, CodedFeatures)
    assert (written.name, written.source, [o.name for o in written.outputs]) == ("count", FEATURE, ["seen"])
    assert [k.ask for k in llm.keys] == [0, 1]
    broken = FunctionRehearsal(attempt=0, function=written, fault="it never changed")
    fast.write_function(brief, asked, COUNT, attempts=(broken,), history=())
    prompt = llm.requests[-1].messages[1].content
    assert "What was wrong: it never changed" in prompt
    assert FEATURE.strip() in prompt


def test_a_feature_function_without_valid_outputs_is_asked_for_again(
    brief: Brief, plan: ActionPlan, library: Library
) -> None:
    taken = function(outputs=[{"name": "key", "low": 0, "high": 1}])
    llm = FakeLLM({"function": [function(outputs=[]), taken, function()]})
    LLMFast(llm, library).write_function(brief, plan, COUNT, attempts=(), history=())
    assert "outputs" in llm.requests[1].messages[-1].content
    assert "'key' is already the name of an observation key" in llm.requests[2].messages[-1].content


def test_setup_may_use_the_outputs_of_feature_and_reward_functions(
    brief: Brief, plan: ActionPlan, library: Library
) -> None:
    feature = CodedFeatures(name="count", source=FEATURE, outputs=(Output(name="seen", low=0, high=9),))
    reward = CodedReward(name="tidy", source="def reward(view, memory):\n    return 0.0\n", doc="order")
    told = brief.model_copy(update={"functions": (feature, reward)})
    reply = scripts.setup(
        observation_keys=["agent", "seen"], reward_weights={"success": 5, "tidy": 1}, coded_actions=[]
    )
    llm = FakeLLM({"setup": reply})
    setup = LLMFast(llm, library).setup(told, plan, actions=(), history=())
    assert setup.observation_keys == ("agent", "seen")
    assert "seen 0 to 9" in llm.requests[0].messages[1].content
    assert "reward term `tidy` (potential, 0 to 1): order" in llm.requests[0].messages[1].content


def test_setup_takes_interrupt_every_and_plan_prior_from_the_default_setup_unless_the_reply_sets_them(
    brief: Brief, plan: ActionPlan, library: Library
) -> None:
    default = RLSetup(**{**brief.default_setup.model_dump(), "interrupt_every": 5, "plan_prior": 0.9})
    told = brief.model_copy(update={"default_setup": default})

    def asked(**changes: object) -> RLSetup:
        llm = FakeLLM({"setup": scripts.setup(coded_actions=[], **changes)})
        return LLMFast(llm, library).setup(told, plan, actions=(), history=())

    assert (asked().interrupt_every, asked().plan_prior) == (5, 0.9)
    assert (asked(interrupt_every=None, plan_prior=0).interrupt_every) is None
    assert asked(interrupt_every=2).interrupt_every == 2


@pytest.mark.parametrize("second", [False, True])
def test_every_request_of_a_run_has_the_same_system_message(
    brief: Brief,
    plan: ActionPlan,
    library: Library,
    rehearsal: Rehearsal,
    outcome: Outcome,
    iteration: Iteration,
    second: bool,
) -> None:
    history = (iteration,) if second else ()
    llm = FakeLLM(
        {
            "slow": scripts.PLAN,
            "fast": scripts.action(),
            "function": function(),
            "setup": scripts.setup(),
            "review": scripts.REVIEW,
            "critic": scripts.CRITIQUE,
            "solo": scripts.solo(),
        }
    )
    mode = Mode(iterations=2)
    fast, critic = LLMFast(llm, library, mode=mode), LLMCritic(llm, mode)
    LLMSlow(llm, mode).plan(brief, history)
    for attempts in ((), (rehearsal,)):
        fast.write(brief, plan, plan.coded[0], written=(), attempts=attempts, history=history)
    fast.write_function(brief, plan, COUNT, attempts=(), history=history)
    fast.setup(brief, plan, actions=(rehearsal.action,), history=history)
    critic.review(brief, plan.coded[0], rehearsal, iteration=len(history))
    critic.critique(brief, outcome, history)
    LLMSolo(llm, library, mode=mode).plan(brief, history)
    assert len({r.messages[0] for r in llm.requests}) == 1
    assert {r.messages[0].role for r in llm.requests} == {"system"}
    for request in llm.requests:
        _told_once(request, brief)


def _told_once(request: Request, brief: Brief) -> None:
    """Check that the user message repeats nothing of the system message and ends with the form of the reply."""
    shared, own = (m.content for m in request.messages)
    for part in (brief.stub.strip(), brief.knowledge, brief.task.goal, brief.start):
        assert shared.count(part) == 1
        assert part not in own
    for key in ("agent", "key", "door"):
        assert shared.count(f'view["{key}"]') == 1
        assert f"\n- {key}:" not in shared
    assert own.rindex("# What to reply") > own.index("# You are")
    assert "Fields of the object:" in own[own.rindex("# What to reply") :]
