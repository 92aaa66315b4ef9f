"""The ablations: fixed agents, the one agent, and the table of kinds."""

from __future__ import annotations

import json

import pytest
from rlgpt.agents.base import Brief, Outcome
from rlgpt.agents.build import KINDS, WITHOUT_LLM, build_agents
from rlgpt.agents.checks import action_faults, setup_faults
from rlgpt.agents.critic import LLMCritic
from rlgpt.agents.fixed import VARIANTS, FixedActions, NoCritic, primitive_actions, primitives_plan
from rlgpt.agents.replies import split_sources
from rlgpt.agents.solo import LLMSolo
from rlgpt.domain import ActionPlan, CodedAction, Parameter, Rehearsal, Task
from rlgpt.errors import ConfigError, LLMError, UnknownNameError
from rlgpt.options import extend
from rlgpt.plugin.base import LowLevel, Primitive
from rlgpt.sandbox import Library, SandboxLimits
from rlgpt.testing.grid import GridPlugin
from rlgpt.testing.llm import FakeLLM

from . import scripts


def idle(ctx: object, **arguments: object) -> LowLevel:
    yield from ()
    return {}


def test_every_primitive_becomes_actions_that_lint_accepts(
    plugin: GridPlugin, task: Task, shelf: Library, brief: Brief
) -> None:
    actions = primitive_actions(plugin.primitives(task), plugin.labels(task).actions)
    assert [a.name for a in actions] == ["go_up", "go_down", "go_left", "go_right", "do_use"]
    assert [p.name for p in actions[0].parameters] == ["cells"]
    for action in actions:
        assert action_faults(action, shelf, SandboxLimits(), task.horizon) == []
    setup = FixedActions(actions).setup(brief, primitives_plan(actions), actions=actions, history=())
    assert setup_faults(setup, brief, actions) == []
    assert setup.reward_weights == brief.default_setup.reward_weights


def test_a_primitive_as_an_action_does_what_the_primitive_does(plugin: GridPlugin, task: Task) -> None:
    actions = primitive_actions(plugin.primitives(task), plugin.labels(task).actions)
    env = extend(plugin.make_env(task, seed=3), actions, plugin=plugin, task=task, trace=True)
    env.reset(seed=3)
    row, column = env.view()["agent"]  # type: ignore[misc]
    _, _, _, _, info = env.step(env.extension.write("go_down", {"cells": 2.4}))
    assert env.view()["agent"] == [min(6, row + 2), column]  # type: ignore[operator]
    assert info["decision"].calls[0].args == {"direction": "down", "cells": 2}
    env.close()


def test_bools_vary_and_long_choices_stay_at_their_default() -> None:
    many = tuple(f"item {i}" for i in range(VARIANTS + 1))
    primitive = Primitive(
        "craft",
        "Make it.",
        idle,
        (
            Parameter(name="item", kind="choice", choices=many, default="item 3"),
            Parameter(name="table", kind="bool", default=True),
            Parameter(name="count", kind="int", low=1, high=9, default=2),
        ),
    )
    actions = primitive_actions([primitive])
    assert [a.name for a in actions] == ["craft_no_table", "craft_table"]
    assert actions[0].source == "def run(count=2.0):\n    yield craft(count=round(count), table=False)\n"
    assert actions[0].parameters[0].kind == "float"


def test_primitives_that_end_up_with_one_name_are_refused() -> None:
    choice = Parameter(name="way", kind="choice", choices=("a-b", "a b"), default="a b")
    with pytest.raises(ConfigError, match="same name"):
        primitive_actions([Primitive("go", "d", idle, (choice,))])


def test_without_a_critic_verdicts_alone_judge(
    brief: Brief, plan: ActionPlan, rehearsal: Rehearsal, outcome: Outcome
) -> None:
    critic = NoCritic()
    bare = rehearsal.model_copy(update={"review": None})
    assert critic.review(brief, plan.coded[0], bare, iteration=0).works
    assert "0.25" in critic.critique(brief, outcome, ()).summary


def test_a_fixed_action_that_is_not_there_is_named(brief: Brief, plan: ActionPlan) -> None:
    with pytest.raises(UnknownNameError, match="fetch_key"):
        FixedActions().write(brief, plan, plan.coded[0], written=(), attempts=(), history=())


def test_one_agent_answers_once_for_plan_code_and_setup(brief: Brief, shelf: Library) -> None:
    llm = FakeLLM({"solo": scripts.solo()})
    solo = LLMSolo(llm, shelf)
    plan = solo.plan(brief, ())
    action = solo.write(brief, plan, plan.coded[0], written=(), attempts=(), history=())
    setup = solo.setup(brief, plan, actions=(action,), history=())
    assert action.source.strip() == scripts.SOURCE.strip()
    assert setup.coded_actions == ("fetch_key",)
    assert [(k.role, k.sub_action) for k in llm.keys] == [("solo", "")]


def test_one_agent_repairs_by_the_same_prompt(brief: Brief, shelf: Library, rehearsal: Rehearsal) -> None:
    llm = FakeLLM({"solo": [scripts.solo(), scripts.action()]})
    solo = LLMSolo(llm, shelf)
    plan = solo.plan(brief, ())
    solo.write(brief, plan, plan.coded[0], written=(), attempts=(rehearsal,), history=())
    assert (llm.keys[1].role, llm.keys[1].sub_action, llm.keys[1].attempt) == ("solo", "fetch_key", 1)
    assert "it stopped 1 column short" in llm.requests[1].messages[1].content
    assert llm.requests[0].messages[0] == llm.requests[1].messages[0]


def test_one_agent_resumed_without_its_reply_asks_for_what_is_missing(
    brief: Brief, shelf: Library, plan: ActionPlan
) -> None:
    llm = FakeLLM({"solo": [scripts.action(), scripts.setup()]})
    solo = LLMSolo(llm, shelf)
    action = solo.write(brief, plan, plan.coded[0], written=(), attempts=(), history=())
    setup = solo.setup(brief, plan, actions=(action,), history=())
    assert action.source == scripts.SOURCE
    assert setup.gamma == 0.98
    assert [k.sub_action for k in llm.keys] == ["fetch_key", "setup"]


def test_one_agents_setup_goes_without_actions_that_were_left_out(brief: Brief, shelf: Library) -> None:
    llm = FakeLLM({"solo": scripts.solo()})
    solo = LLMSolo(llm, shelf)
    plan = solo.plan(brief, ())
    assert solo.setup(brief, plan, actions=(), history=()).coded_actions == ()


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (scripts.solo(source=scripts.SOURCE), "no part that begins with `# action: fetch_key`"),
        (scripts.solo(actions=[]), "no entry for the sub-action 'fetch_key'"),
        (scripts.solo(actions=[{"name": n, **scripts.SIGNATURE} for n in ("fetch_key", "fly")]), "holds ['fly']"),
        (scripts.solo(source=f"# action: fetch_key\n{scripts.SOURCE.replace('use()', 'grab()')}"), "grab"),
        (scripts.solo(setup={**scripts.SETUP, "gamma": 0.1}), "setup: gamma is 0.1"),
    ],
)
def test_what_is_wrong_with_a_whole_reply_is_told(brief: Brief, shelf: Library, reply: str, words: str) -> None:
    llm = FakeLLM({"solo": reply})
    with pytest.raises(LLMError) as caught:
        LLMSolo(llm, shelf).plan(brief, ())
    assert words in str(caught.value)
    assert words in llm.requests[1].messages[-1].content


def test_sources_are_split_by_their_headings() -> None:
    parts = split_sources(
        "import math\n# action: a\ndef run():\n    yield x()\n\n## action: `b_2`, the second\nB = 1\n"
    )
    assert parts == {"a": "def run():\n    yield x()\n", "b_2": "B = 1\n"}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_built_and_judged_as_its_name_says(kind: str, plugin: GridPlugin, task: Task) -> None:
    llm = FakeLLM({})
    agents = build_agents(kind, llm, plugin, task)
    assert agents.kind == kind
    assert agents.train is (kind not in ("code_only", "untrained"))
    assert agents.evaluate == ("code" if kind == "code_only" else "policy")
    assert agents.revise is agents.rehearse is (kind not in WITHOUT_LLM)
    critics = ("slow_fast_critic", "code_only", "untrained")
    assert isinstance(agents.critic, LLMCritic) is (kind in critics)
    assert list(agents.planner.split(task)) == [task]
    assert not llm.requests


@pytest.mark.parametrize("kind", WITHOUT_LLM)
def test_kinds_without_a_model_ask_none(kind: str, plugin: GridPlugin, task: Task, brief: Brief) -> None:
    agents = build_agents(kind, None, plugin, task)
    plan = agents.slow.plan(brief, ())
    actions: list[CodedAction] = [
        agents.fast.write(brief, plan, s, written=(), attempts=(), history=()) for s in plan.coded
    ]
    assert len(actions) == (0 if kind == "rl_only" else 5)
    setup = agents.fast.setup(brief, plan, actions=actions, history=())
    assert setup_faults(setup, brief, actions) == []


def test_a_kind_that_needs_a_model_says_so(plugin: GridPlugin, task: Task) -> None:
    with pytest.raises(ConfigError, match="needs a language model"):
        build_agents("slow_fast", None, plugin, task)
    with pytest.raises(UnknownNameError, match="Did you mean 'slow_fast'"):
        build_agents("slowfast", None, plugin, task)
    with pytest.raises(UnknownNameError, match="role with a language model 'fast'"):
        build_agents("slow_fast", {"slow": FakeLLM({})}, plugin, task)


def test_each_role_may_have_a_model_of_its_own(plugin: GridPlugin, task: Task, brief: Brief) -> None:
    planner, other = FakeLLM({"slow": scripts.PLAN}), FakeLLM({"fast": json.dumps({})})
    build_agents("slow_fast", {"slow": planner, "fast": other, "setup": other}, plugin, task).slow.plan(brief, ())
    assert len(planner.requests) == 1
    assert not other.requests
