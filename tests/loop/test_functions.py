"""Functions that agents write (features, reward terms, predicates) in a run: rehearsal, repair, use by code and policy,
recording, keeping and omission.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from rlgpt.agents import FastAgent
from rlgpt.domain import CodedFeatures, CodedReward, FunctionPlan
from rlgpt.llm.base import Request
from rlgpt.loop import run
from rlgpt.options import load_bundle
from rlgpt.rl.ppo import PPO
from rlgpt.runs import Run
from rlgpt.testing.counting import counted
from rlgpt.testing.llm import FakeLLM
from story import BROKEN_FUNCTION, FEATURE, FUNCTIONS, OUTPUTS, SETTINGS, context, reply_with_functions

QUICK = SETTINGS.model_copy(
    update={"budget": 400, "selection_episodes": 1, "confirmation_episodes": 0, "report_episodes": 1}
)
ONCE = QUICK.model_copy(update={"iterations": 1})


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, FakeLLM, Any]:
    folder, llm = tmp_path_factory.mktemp("run"), FakeLLM(reply_with_functions)
    return folder, llm, run(context(folder, PPO(), llm, settings=ONCE))


Finished = tuple[Path, FakeLLM, Any]


def test_run_repairs_each_function_until_its_rehearsal_succeeds(finished: Finished) -> None:
    (iteration,) = finished[2].history
    assert [f.name for f in iteration.functions] == ["geometry", "there", "nearer"], "features first, rewards last"
    for name in FUNCTIONS:
        first, second = iteration.function_rehearsals[name]
        assert first.verdict is not None
        assert "ZeroDivisionError" in first.verdict.message
        assert (first.attempt, second.attempt, second.failed) == (0, 1, False)
        assert second.moments > 5
    repair = next(r for r in finished[1].requests if r.key.role == "function" and r.key.attempt == 1)
    assert "ZeroDivisionError" in str(repair.messages)


def test_run_writes_coded_actions_after_features_and_before_reward_terms(finished: Finished) -> None:
    asked = [k.sub_action for k in finished[1].keys if k.role in ("function", "fast")]
    assert list(dict.fromkeys(asked)) == ["geometry", "there", "to_row", "nearer"]
    writes = [r for r in finished[1].requests if r.key.role == "fast"]
    assert "far" in str(writes[0].messages), "the request for an action lists the keys of the features"


def test_function_rehearsals_count_steps_only_when_new_episodes_are_played(finished: Finished) -> None:
    (iteration,) = finished[2].history
    tried = iteration.function_rehearsals
    assert tried["geometry"][0].steps > 0
    assert tried["nearer"][0].steps > 0, "reward terms are rehearsed on episodes of this iteration's code"
    assert [r.steps for r in (*tried["geometry"][1:], *tried["there"], *tried["nearer"][1:])] == [0] * 4
    assert tried["nearer"][0].played.startswith("1 episode of code and 1 episode of random choices")
    actions = sum(r.steps for attempts in iteration.rehearsals.values() for r in attempts)
    assert iteration.steps.rehearsal == actions + tried["geometry"][0].steps + tried["nearer"][0].steps
    assert Run.open(finished[0]).record.steps.lost == 0


def test_policy_trains_with_the_coded_features_and_reward_terms(finished: Finished) -> None:
    (iteration,) = finished[2].history
    assert iteration.training is not None
    assert all("nearer" in point.reward_terms for point in iteration.training.curve)
    assert "nearer" in iteration.evaluation.episodes[0].reward_terms, (
        "an evaluation records the term without its reward"
    )
    assert iteration.training.verdicts == ()


def test_bundle_and_run_record_contain_the_functions(finished: Finished) -> None:
    assert load_bundle(finished[0] / "bundle").functions == finished[2].history[0].functions
    assert Run.open(finished[0]).iterations() == finished[2].history


def changed(**roles: Callable[[Request], str]) -> FakeLLM:
    def replying(request: Request) -> str:
        return roles.get(request.key.role, reply_with_functions)(request)

    return FakeLLM(replying)


def setup_without_functions(request: Request) -> str:
    """A reply that names no coded feature and no coded reward term."""
    reply = json.loads(reply_with_functions(request))
    reply["observation_keys"].remove("far")
    del reply["reward_weights"]["nearer"]
    return json.dumps(reply)


def test_run_leaves_out_a_function_that_fails_after_all_repairs_with_a_message(tmp_path: Path) -> None:
    def function(request: Request) -> str:
        if request.key.sub_action != "geometry":
            return reply_with_functions(request)
        meta = {"thoughts": "", "doc": "It says.", "outputs": OUTPUTS}
        return f"{json.dumps(meta)}\n```python\n{BROKEN_FUNCTION.format(entry='features')}\n```"

    said: list[str] = []
    result = run(
        context(
            tmp_path,
            PPO(),
            changed(function=function, setup=setup_without_functions),
            settings=ONCE,
            observer=hearing(said),
        )
    )
    (iteration,) = result.history
    assert iteration.functions == (), "the other functions read the outputs of the missing feature"
    assert len(iteration.function_rehearsals["geometry"]) == 1 + ONCE.repairs
    assert any(line.startswith("the feature geometry is left out: ZeroDivisionError") for line in said)
    assert any(line.startswith("the predicate there is left out: ") and "far" in line for line in said)


def test_run_leaves_out_a_function_whose_replies_are_never_usable_and_continues(tmp_path: Path) -> None:
    def function(request: Request) -> str:
        return "no" if request.key.sub_action == "there" else reply_with_functions(request)

    said: list[str] = []
    result = run(context(tmp_path, PPO(), changed(function=function), settings=ONCE, observer=hearing(said)))
    assert [f.name for f in result.history[0].functions] == ["geometry", "nearer"]
    assert any(line.startswith("the predicate there is left out") for line in said)


def test_run_leaves_out_the_functions_of_a_plan_if_the_fast_agent_writes_only_actions(tmp_path: Path) -> None:
    said: list[str] = []
    made = context(tmp_path, PPO(), changed(setup=setup_without_functions), settings=ONCE, observer=hearing(said))
    made.agents.fast.write_function = partial(FastAgent.write_function, made.agents.fast)
    (iteration,) = run(made).history
    assert iteration.functions == ()
    assert iteration.actions
    assert sum(line.endswith("writes no functions") for line in said) == 3


def hearing(said: list[str]) -> Any:
    from rlgpt.loop import Observer

    class Hearing(Observer):
        def message(self, text: str) -> None:
            said.append(text)

    return Hearing()


def test_kept_functions_and_actions_are_neither_written_nor_rehearsed_again(tmp_path: Path) -> None:
    def slow(request: Request) -> str:
        told = json.loads(reply_with_functions(request))
        if request.key.iteration:
            for part in (*told["functions"], told["sub_actions"][0]):
                part["keep"] = True
        return json.dumps(told)

    llm, longer = changed(slow=slow), QUICK.model_copy(update={"budget": 900, "selection_episodes": 4})
    first, second = run(context(tmp_path, PPO(), llm, settings=longer)).history
    assert second.functions == (first.functions[0], first.functions[1], first.functions[2])
    assert second.actions == first.actions
    assert (second.rehearsals, second.function_rehearsals) == ({}, {})
    assert second.steps.rehearsal == 0
    assert not [k for k in llm.keys if k.iteration == 1 and k.role in ("fast", "function", "review")]


def test_network_weights_are_reused_only_if_the_observed_features_have_the_same_source() -> None:
    from rlgpt.loop.stages import _seen

    setup = context_setup(("agent", "far"))
    feature = CodedFeatures(name="geometry", source=FEATURE, outputs=OUTPUTS)
    other = feature.model_copy(update={"source": FEATURE + "\n"})
    reward = CodedReward(name="nearer", source="")
    assert _seen(setup, (feature, reward)) == _seen(setup, (feature,))
    assert _seen(setup, (feature,)) != _seen(setup, (other,))
    unseen = context_setup(("agent",))
    assert _seen(unseen, (feature,)) == _seen(unseen, (other,))


def context_setup(keys: tuple[str, ...]) -> Any:
    from rlgpt.domain import RLSetup

    return RLSetup(reward_weights={"env_reward": 1.0}, observation_keys=keys)


def test_plan_record_of_an_earlier_version_has_no_functions() -> None:
    from rlgpt.domain import ActionPlan

    plan = ActionPlan.model_validate({"sub_actions": [{"name": "a", "description": "", "kind": "code", "reason": ""}]})
    assert plan.functions == ()
    assert FunctionPlan(name="f", kind="feature", description="").keep is False


@pytest.mark.parametrize("at", [2, pytest.param(25, marks=pytest.mark.slow)])
def test_run_that_fails_while_functions_are_written_can_be_resumed(tmp_path: Path, at: int) -> None:
    """The simulator fails before step ``at``, which is in the episodes for features or later."""
    llm = FakeLLM(reply_with_functions)
    with pytest.raises(ValueError, match="the simulator failed"):
        run(context(tmp_path, PPO(), llm, settings=ONCE, at=at))
    before = {json.dumps(k.model_dump()) for k in llm.keys}
    again = FakeLLM(reply_with_functions)
    (iteration,) = run(context(tmp_path, PPO(), again, settings=ONCE)).history
    assert [f.name for f in iteration.functions] == ["geometry", "there", "nearer"]
    twice = before & {json.dumps(k.model_dump()) for k in again.keys}
    assert len(twice) <= 1, "only the unfinished request is sent again, because its prompt states the remaining steps"
    assert Run.open(tmp_path).record.steps.total == counted(tmp_path / "env_steps")
