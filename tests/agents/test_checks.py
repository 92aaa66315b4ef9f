"""Checks of replies against what the plugin offers: each fault becomes a message for the model."""

from __future__ import annotations

from typing import Any

import pytest
from rlgpt.agents.base import Brief
from rlgpt.agents.checks import MAX_CODED_ACTIONS, action_faults, plan_faults, setup_faults
from rlgpt.domain import ActionPlan, CodedAction, Parameter, RLSetup, SubAction
from rlgpt.errors import ConfigError
from rlgpt.options import ExtendedEnv, extend
from rlgpt.sandbox import Library, SandboxLimits
from rlgpt.testing.grid import GridPlugin


def plan_of(*names: str) -> ActionPlan:
    return ActionPlan(sub_actions=tuple(SubAction(name=n, description="d", kind="code", reason="r") for n in names))


@pytest.mark.parametrize(
    ("name", "what"), [("go", "a primitive"), ("up", "a base action"), ("base", "the base"), ("observe", "a primitive")]
)
def test_plan_faults_reports_a_sub_action_whose_name_is_in_use(brief: Brief, name: str, what: str) -> None:
    (fault,) = plan_faults(plan_of("fetch", name), brief)
    assert repr(name) in fault
    assert what in fault


def test_plan_faults_reports_too_many_coded_actions(brief: Brief) -> None:
    assert plan_faults(plan_of(*(f"a{i}" for i in range(MAX_CODED_ACTIONS))), brief) == []
    assert len(plan_faults(plan_of(*(f"a{i}" for i in range(MAX_CODED_ACTIONS + 1))), brief)) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"reward_weights": {"near_kee": 1.0}},
            "no reward term 'near_kee'. Did you mean 'near_key'? Valid: env_reward",
        ),
        ({"reward_weights": {"near_key": 101.0}}, "within -100 to 100"),
        ({"reward_weights": {"near_key": float("nan")}}, "within -100 to 100"),
        ({"reward_weights": {"near_key": -1.0}}, "no reward term has a weight above 0"),
        ({"observation_keys": ("map",)}, "no observation key 'map'"),
        ({"observation_keys": ("agent", "agent")}, "named twice"),
        ({"base_actions": ("jump", "up")}, "no base action 'jump'. Did you mean 'up'? Valid: up, down"),
        ({"coded_actions": ("open_door",)}, "no coded action 'open_door'"),
        ({"coded_actions": ("fetch_key", "fetch_key")}, "named twice"),
        ({"reset_option": "near_door"}, "no start state 'near_door'. Did you mean 'near_key'"),
        ({"gamma": 0.8}, "within 0.9 to 1.0"),
        ({"horizon": 81}, "the task's own is 80"),
        ({"base_actions": ("up",), "coded_actions": ()}, "would have 1 choice"),
        ({"base_actions": (), "coded_actions": ()}, "would have 0 choice"),
    ],
)
def test_setup_faults_reports_each_invalid_value(
    brief: Brief, setup: RLSetup, action: CodedAction, change: dict[str, Any], words: str
) -> None:
    faults = setup_faults(setup.model_copy(update=change), brief, [action])
    assert any(words in fault for fault in faults), faults


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"gamma": 1.0},
        {"gamma": 0.9},
        {"horizon": 80},
        {"reset_option": "near_key"},
        {"base_actions": ("up", "use"), "coded_actions": ()},
        {"base_actions": ("use",)},
        {"base_actions": ()},
        {"reward_weights": {"near_key": 1.0, "env_reward": -0.5}},
    ],
)
def test_setup_faults_accepts_valid_setups(
    brief: Brief, setup: RLSetup, action: CodedAction, change: dict[str, Any]
) -> None:
    assert setup_faults(setup.model_copy(update=change), brief, [action]) == []


@pytest.mark.parametrize("base", [None, (), ("up",), ("up", "use")])
@pytest.mark.parametrize("coded", [(), ("plain",), ("with_number",), ("plain", "with_number")])
def test_setup_faults_refuses_the_same_setups_with_too_few_choices_as_extend(
    brief: Brief, setup: RLSetup, plugin: GridPlugin, task: Any, base: tuple[str, ...] | None, coded: tuple[str, ...]
) -> None:
    source = "def run(**_):\n    yield use()\n"
    number = Parameter(name="a", low=0, high=1, default=0)
    actions = [
        CodedAction(name="plain", doc="d", source=source),
        CodedAction(name="with_number", doc="d", source=source, parameters=(number,)),
    ]
    chosen = [a for a in actions if a.name in coded]
    faults = setup_faults(setup.model_copy(update={"base_actions": base, "coded_actions": coded}), brief, actions)

    def make() -> ExtendedEnv:
        return extend(plugin.make_env(task, seed=0), chosen, plugin=plugin, task=task, base_actions=base)

    if faults:
        with pytest.raises(ConfigError, match="at least two choices"):
            make()
    else:
        make().close()


@pytest.mark.parametrize(("kept", "faults"), [(None, 0), ((), 0), (("j1", "j2"), 0), (("j1",), 1)])
def test_setup_faults_refuses_a_subset_of_the_parts_of_a_box_action(
    brief: Brief, setup: RLSetup, action: CodedAction, kept: tuple[str, ...] | None, faults: int
) -> None:
    arm = brief.model_copy(update={"base_space": "Box(2): two numbers", "base_actions": ("j1", "j2")})
    found = setup_faults(setup.model_copy(update={"base_actions": kept}), arm, [action])
    assert len(found) == faults


def test_action_faults_reports_lint_errors_and_max_steps_above_the_limit_of_the_task(
    library: Library, action: CodedAction
) -> None:
    assert action_faults(action, library, SandboxLimits(), most_steps=80) == []
    fault = action.model_copy(update={"source": action.source.replace("go(", "walk("), "max_steps": 90})
    found = action_faults(fault, library, SandboxLimits(), most_steps=80)
    assert any(f.startswith("line 2: ") and "walk" in f for f in found)
    assert any("max_steps is 90" in f and "80" in f for f in found)
