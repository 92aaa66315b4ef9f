"""The ablations: fixed agents, the single agent, and what each kind of agents needs."""

from __future__ import annotations

import json

import pytest
from rlgpt.agents.base import Brief, Outcome
from rlgpt.agents.build import WITHOUT_LLM, build_agents
from rlgpt.agents.checks import action_faults, setup_faults
from rlgpt.agents.fixed import MAX_VARIANTS, FixedActions, NoCritic, primitive_actions, primitives_plan
from rlgpt.agents.replies import split_sources
from rlgpt.agents.solo import LLMSolo
from rlgpt.domain import ActionPlan, CodedAction, Parameter, Rehearsal, Task
from rlgpt.errors import ConfigError, LLMError, UnknownNameError
from rlgpt.options import extend
from rlgpt.plugin.types import LowLevel, Primitive
from rlgpt.sandbox import Library, SandboxLimits
from rlgpt.testing.grid import GridPlugin
from rlgpt.testing.llm import FakeLLM

from . import scripts


def idle(ctx: object, **arguments: object) -> LowLevel:
    yield from ()
    return {}


def test_primitive_actions_pass_lint_and_setup_checks(
    plugin: GridPlugin, task: Task, library: Library, brief: Brief
) -> None:
    actions = primitive_actions(plugin.primitives(task), plugin.labels(task).actions)
    assert [a.name for a in actions] == ["go_up", "go_down", "go_left", "go_right", "do_use"]
    assert [p.name for p in actions[0].parameters] == ["cells"]
    for action in actions:
        assert action_faults(action, library, SandboxLimits(), task.horizon) == []
    setup = FixedActions(actions).setup(brief, primitives_plan(actions), actions=actions, history=())
    assert setup_faults(setup, brief, actions) == []
    assert setup.reward_weights == brief.default_setup.reward_weights


def test_primitive_action_does_what_its_primitive_does(plugin: GridPlugin, task: Task) -> None:
    actions = primitive_actions(plugin.primitives(task), plugin.labels(task).actions)
    env = extend(plugin.make_env(task, seed=3), actions, plugin=plugin, task=task, trace=True)
    env.reset(seed=3)
    row, column = env.view()["agent"]  # type: ignore[misc]
    _, _, _, _, info = env.step(env.extension.write("go_down", {"cells": 2.4}))
    assert env.view()["agent"] == [min(6, row + 2), column]  # type: ignore[operator]
    assert info["decision"].calls[0].args == {"direction": "down", "cells": 2}
    env.close()


def test_primitive_actions_vary_bools_and_keep_long_choices_at_their_default() -> None:
    many = tuple(f"item {i}" for i in range(MAX_VARIANTS + 1))
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


def test_primitive_actions_with_the_same_name_are_refused() -> None:
    choice = Parameter(name="way", kind="choice", choices=("a-b", "a b"), default="a b")
    with pytest.raises(ConfigError, match="same name"):
        primitive_actions([Primitive("go", "d", idle, (choice,))])


def test_no_critic_accepts_rehearsals_without_a_verdict(
    brief: Brief, plan: ActionPlan, rehearsal: Rehearsal, outcome: Outcome
) -> None:
    critic = NoCritic()
    bare = rehearsal.model_copy(update={"review": None})
    assert critic.review(brief, plan.coded[0], bare, iteration=0).works
    assert "0.25" in critic.critique(brief, outcome, ()).summary


def test_fixed_actions_name_an_unknown_action(brief: Brief, plan: ActionPlan) -> None:
    with pytest.raises(UnknownNameError, match="fetch_key"):
        FixedActions().write(brief, plan, plan.coded[0], written=(), attempts=(), history=())


def test_solo_agent_takes_plan_code_and_setup_from_one_reply(brief: Brief, library: Library) -> None:
    llm = FakeLLM({"solo": scripts.solo()})
    solo = LLMSolo(llm, library)
    plan = solo.plan(brief, ())
    action = solo.write(brief, plan, plan.coded[0], written=(), attempts=(), history=())
    setup = solo.setup(brief, plan, actions=(action,), history=())
    assert action.source.strip() == scripts.SOURCE.strip()
    assert setup.coded_actions == ("fetch_key",)
    assert [(k.role, k.sub_action) for k in llm.keys] == [("solo", "")]


def test_solo_agent_repairs_with_the_same_system_prompt(brief: Brief, library: Library, rehearsal: Rehearsal) -> None:
    llm = FakeLLM({"solo": [scripts.solo(), scripts.action()]})
    solo = LLMSolo(llm, library)
    plan = solo.plan(brief, ())
    solo.write(brief, plan, plan.coded[0], written=(), attempts=(rehearsal,), history=())
    assert (llm.keys[1].role, llm.keys[1].sub_action, llm.keys[1].attempt) == ("solo", "fetch_key", 1)
    assert "it stopped 1 column short" in llm.requests[1].messages[1].content
    assert llm.requests[0].messages[0] == llm.requests[1].messages[0]


def test_resumed_solo_agent_asks_for_code_and_setup(brief: Brief, library: Library, plan: ActionPlan) -> None:
    llm = FakeLLM({"solo": [scripts.action(), scripts.setup()]})
    solo = LLMSolo(llm, library)
    action = solo.write(brief, plan, plan.coded[0], written=(), attempts=(), history=())
    setup = solo.setup(brief, plan, actions=(action,), history=())
    assert action.source == scripts.SOURCE
    assert setup.gamma == 0.98
    assert [k.sub_action for k in llm.keys] == ["fetch_key", "setup"]


def test_solo_setup_omits_actions_that_were_dropped(brief: Brief, library: Library) -> None:
    llm = FakeLLM({"solo": scripts.solo()})
    solo = LLMSolo(llm, library)
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
def test_solo_reply_faults_go_back_to_the_model(brief: Brief, library: Library, reply: str, words: str) -> None:
    llm = FakeLLM({"solo": reply})
    with pytest.raises(LLMError) as caught:
        LLMSolo(llm, library).plan(brief, ())
    assert words in str(caught.value)
    assert words in llm.requests[1].messages[-1].content


def test_sources_are_split_by_their_headings() -> None:
    parts = split_sources(
        "import math\n# action: a\ndef run():\n    yield x()\n\n## action: `b_2`, the second\nB = 1\n"
    )
    assert parts == {"a": "def run():\n    yield x()\n", "b_2": "B = 1\n"}


@pytest.mark.parametrize("kind", WITHOUT_LLM)
def test_kinds_without_a_model_plan_write_and_set_up(kind: str, plugin: GridPlugin, task: Task, brief: Brief) -> None:
    agents = build_agents(kind, None, plugin, task)
    plan = agents.slow.plan(brief, ())
    actions: list[CodedAction] = [
        agents.fast.write(brief, plan, s, written=(), attempts=(), history=()) for s in plan.coded
    ]
    assert len(actions) == (0 if kind == "rl_only" else 5)
    setup = agents.fast.setup(brief, plan, actions=actions, history=())
    assert setup_faults(setup, brief, actions) == []


def test_kind_that_needs_a_model_is_refused_without_one(plugin: GridPlugin, task: Task) -> None:
    with pytest.raises(ConfigError, match="needs a language model"):
        build_agents("slow_fast", None, plugin, task)
    with pytest.raises(UnknownNameError, match="Did you mean 'slow_fast'"):
        build_agents("slowfast", None, plugin, task)
    with pytest.raises(UnknownNameError, match="role with a language model 'fast'"):
        build_agents("slow_fast", {"slow": FakeLLM({})}, plugin, task)


def test_each_role_can_have_its_own_model(plugin: GridPlugin, task: Task, brief: Brief) -> None:
    planner, other = FakeLLM({"slow": scripts.PLAN}), FakeLLM({"fast": json.dumps({})})
    build_agents("slow_fast", {"slow": planner, "fast": other, "setup": other}, plugin, task).slow.plan(brief, ())
    assert len(planner.requests) == 1
    assert not other.requests
