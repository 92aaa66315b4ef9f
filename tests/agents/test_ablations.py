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


def test_actions_made_from_primitives_pass_lint_and_setup_checks(
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


def test_action_made_from_a_primitive_moves_the_agent_as_the_primitive_does(plugin: GridPlugin, task: Task) -> None:
    actions = primitive_actions(plugin.primitives(task), plugin.labels(task).actions)
    env = extend(plugin.make_env(task, seed=3), actions, plugin=plugin, task=task, trace=True)
    env.reset(seed=3)
    row, column = env.view()["agent"]  # type: ignore[misc]
    _, _, _, _, info = env.step(env.extension.write("go_down", {"cells": 2.4}))
    assert env.view()["agent"] == [min(6, row + 2), column]  # type: ignore[operator]
    assert info["decision"].calls[0].args == {"direction": "down", "cells": 2}
    env.close()


def test_actions_made_from_primitives_cover_both_bools_and_only_the_default_of_a_long_choice() -> None:
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


def test_primitive_actions_raises_an_error_when_two_actions_would_get_the_same_name() -> None:
    choice = Parameter(name="way", kind="choice", choices=("a-b", "a b"), default="a b")
    with pytest.raises(ConfigError, match="same name"):
        primitive_actions([Primitive("go", "d", idle, (choice,))])


def test_the_agent_nocritic_accepts_a_rehearsal_that_has_no_verdict(
    brief: Brief, plan: ActionPlan, rehearsal: Rehearsal, outcome: Outcome
) -> None:
    critic = NoCritic()
    bare = rehearsal.model_copy(update={"review": None})
    assert critic.review(brief, plan.coded[0], bare, iteration=0).works
    assert "0.25" in critic.critique(brief, outcome, ()).summary


def test_fixed_actions_error_names_a_requested_action_that_does_not_exist(brief: Brief, plan: ActionPlan) -> None:
    with pytest.raises(UnknownNameError, match="fetch_key"):
        FixedActions().write(brief, plan, plan.coded[0], written=(), attempts=(), history=())


def test_solo_agent_reads_plan_code_and_setup_from_one_reply(brief: Brief, library: Library) -> None:
    llm = FakeLLM({"solo": scripts.solo()})
    solo = LLMSolo(llm, library)
    plan = solo.plan(brief, ())
    action = solo.write(brief, plan, plan.coded[0], written=(), attempts=(), history=())
    setup = solo.setup(brief, plan, actions=(action,), history=())
    assert action.source.strip() == scripts.SOURCE.strip()
    assert setup.coded_actions == ("fetch_key",)
    assert [(k.role, k.sub_action) for k in llm.keys] == [("solo", "")]


def test_solo_agent_sends_the_same_system_prompt_for_the_plan_and_for_a_repair(
    brief: Brief, library: Library, rehearsal: Rehearsal
) -> None:
    llm = FakeLLM({"solo": [scripts.solo(), scripts.action()]})
    solo = LLMSolo(llm, library)
    plan = solo.plan(brief, ())
    solo.write(brief, plan, plan.coded[0], written=(), attempts=(rehearsal,), history=())
    assert (llm.keys[1].role, llm.keys[1].sub_action, llm.keys[1].attempt) == ("solo", "fetch_key", 1)
    assert "it stopped 1 column short" in llm.requests[1].messages[1].content
    assert llm.requests[0].messages[0] == llm.requests[1].messages[0]


def test_solo_agent_without_a_plan_reply_requests_code_and_setup_separately(
    brief: Brief, library: Library, plan: ActionPlan
) -> None:
    llm = FakeLLM({"solo": [scripts.action(), scripts.setup()]})
    solo = LLMSolo(llm, library)
    action = solo.write(brief, plan, plan.coded[0], written=(), attempts=(), history=())
    setup = solo.setup(brief, plan, actions=(action,), history=())
    assert action.source == scripts.SOURCE
    assert setup.gamma == 0.98
    assert [k.sub_action for k in llm.keys] == ["fetch_key", "setup"]


def test_setup_of_the_solo_agent_omits_coded_actions_that_were_not_written(brief: Brief, library: Library) -> None:
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
        (scripts.solo().replace("fetch_key", "setup"), "'setup' is already the name of the learning setup"),
    ],
)
def test_solo_agent_sends_each_fault_of_a_reply_back_to_the_model(
    brief: Brief, library: Library, reply: str, words: str
) -> None:
    llm = FakeLLM({"solo": reply})
    with pytest.raises(LLMError) as caught:
        LLMSolo(llm, library).plan(brief, ())
    assert words in str(caught.value)
    assert words in llm.requests[1].messages[-1].content


def test_split_sources_separates_the_actions_of_a_reply_at_their_headings() -> None:
    parts = split_sources(
        "import math\n# action: a\ndef run():\n    yield x()\n\n## action: `b_2`, the second\nB = 1\n"
    )
    assert parts == {"a": "def run():\n    yield x()\n", "b_2": "B = 1\n"}


@pytest.mark.parametrize("kind", WITHOUT_LLM)
def test_agents_that_use_no_language_model_write_a_valid_plan_code_and_setup(
    kind: str, plugin: GridPlugin, task: Task, brief: Brief
) -> None:
    agents = build_agents(kind, None, plugin, task)
    plan = agents.slow.plan(brief, ())
    actions: list[CodedAction] = [
        agents.fast.write(brief, plan, s, written=(), attempts=(), history=()) for s in plan.coded
    ]
    assert len(actions) == (0 if kind == "rl_only" else 5)
    setup = agents.fast.setup(brief, plan, actions=actions, history=())
    assert setup_faults(setup, brief, actions) == []


def test_build_agents_raises_an_error_when_a_needed_language_model_is_missing(plugin: GridPlugin, task: Task) -> None:
    with pytest.raises(ConfigError, match="needs a language model"):
        build_agents("slow_fast", None, plugin, task)
    with pytest.raises(UnknownNameError, match="Did you mean 'slow_fast'"):
        build_agents("slowfast", None, plugin, task)
    with pytest.raises(UnknownNameError, match="role with a language model 'fast'"):
        build_agents("slow_fast", {"slow": FakeLLM({})}, plugin, task)


def test_each_agent_role_can_use_its_own_language_model(plugin: GridPlugin, task: Task, brief: Brief) -> None:
    planner, other = FakeLLM({"slow": scripts.PLAN}), FakeLLM({"fast": json.dumps({})})
    build_agents("slow_fast", {"slow": planner, "fast": other, "setup": other}, plugin, task).slow.plan(brief, ())
    assert len(planner.requests) == 1
    assert not other.requests
