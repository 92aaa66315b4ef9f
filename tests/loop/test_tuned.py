"""Tuned code, which is code with the parameter values that the parameter search found, is a candidate of the race. A
run may keep it. In these runs, code with its own defaults never succeeds, and a trained policy forgets what the search
found.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from rlgpt.agents.base import Outcome
from rlgpt.agents.episodes import render_results
from rlgpt.agents.history_text import for_slow, kept_action
from rlgpt.domain import CodedAction, Iteration, Parameter, Steps
from rlgpt.llm.base import Request
from rlgpt.loop import LoopContext, Observer, Result, run
from rlgpt.loop.code import Code
from rlgpt.options import extend, load_bundle
from rlgpt.planner.context import actor_of
from rlgpt.rl.base import EnvSpec, Policy
from rlgpt.rl.evaluation import evaluate_code
from rlgpt.rl.ppo import PPO
from rlgpt.rl.sac import SAC
from rlgpt.runs import Run
from rlgpt.skills import SkillLibrary
from rlgpt.testing.counting import counted
from rlgpt.testing.grid import GridPlugin
from rlgpt.testing.llm import FakeLLM
from story import AWAY, HYPERPARAMETERS, SETTINGS, TASK, WALK, context, reply

TO_COLUMN = f"""
def run(grip):
    view = yield observe()
    right = view["key"][1] - view["agent"][1]
    if right:
        yield go(direction="right" if right > 0 else "left", cells=abs(right))
    yield use() if grip > 5 else {AWAY}
"""
"""The agent takes the key only if ``grip`` is above 5, and the default is 3."""
GRIP: dict[str, Any] = {"name": "grip", "low": 1.0, "high": 9.0, "default": 3.0}
ONCE = SETTINGS.model_copy(
    update={
        "iterations": 1,
        "budget": 1700,
        "selection_episodes": 3,
        "confirmation_episodes": 1,
        "report_episodes": 5,
    }
)


class Forgetful(PPO):
    """A trainer whose trained policy makes the most likely choices of an untrained policy, in every mode. The parameter
    search takes most of the steps.
    """

    def __init__(self, share: float = 0.9) -> None:
        super().__init__(parameter_search=share)

    def load(self, folder: Path, spec: EnvSpec) -> Policy:
        return Unchanged(self.untrained(spec, seed=0, hyperparameters=HYPERPARAMETERS))


class Unchanged(Policy):
    def __init__(self, untrained: Policy) -> None:
        self.untrained = untrained

    def act(self, observation: Any, *, greedy: bool, rng: Any, sharpness: float = 1.0) -> Any:
        return self.untrained.act(observation, greedy=True, rng=rng)


def parameterised(request: Request) -> str:
    """A scripted reply with a plan whose second action has the parameter ``grip``."""
    key = request.key
    if key.role == "slow":
        parts = [{"name": n, "kind": "code", "description": n, "reason": "simple"} for n in ("to_row", "to_column")]
        return json.dumps({"thoughts": "", "sub_actions": parts})
    if key.role == "fast":
        column = key.sub_action == "to_column"
        meta = {"thoughts": "", "doc": "Walk.", "parameters": [GRIP] if column else [], "max_steps": 12}
        return f"{json.dumps(meta)}\n```python\n{TO_COLUMN if column else WALK}\n```"
    if key.role == "setup":
        told = json.loads(reply(request))
        return json.dumps({**told, "coded_actions": ["to_row", "to_column"], "plan_prior": 0.95})
    return reply(request)


def tuning(folder: Path, **more: Any) -> LoopContext:
    trainer = more.pop("trainer", None) or Forgetful()
    return context(folder, trainer, FakeLLM(parameterised), **{"settings": ONCE, **more})


Finished = tuple[Path, Result]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    folder = tmp_path_factory.mktemp("tuned")
    return folder, run(tuning(folder))


@pytest.fixture
def raced(finished: Finished, tmp_path: Path) -> Path:
    """A copy of the finished run's folder, without the race and everything that follows it."""
    folder = tmp_path / "raced"
    shutil.copytree(finished[0], folder)
    for name in ("iterations/0/race", "bundle"):
        shutil.rmtree(folder / name)
    for name in ("iterations/0/iteration.json", "report.json"):
        (folder / name).unlink()
    # The counted steps are those before the race.
    before = finished[1].history[0].steps
    steps = Steps(rehearsal=before.rehearsal, code=before.code, training=before.training)
    (folder / "steps.bin").unlink()
    (folder / "env_steps").write_bytes(b"." * steps.total)
    return folder


def test_run_keeps_tuned_code_that_is_better_than_code_and_policy(finished: Finished) -> None:
    (best,) = finished[1].history
    assert best.code_evaluation is not None
    assert best.tuned_evaluation is not None
    rates = (best.code_evaluation.success_rate, best.tuned_evaluation.success_rate, best.evaluation.success_rate)
    assert rates == (0.0, 1.0, 0.0)
    assert best.kept is best.tuned_evaluation
    seeds = [{e.seed for e in x.episodes} for x in (best.code_evaluation, best.tuned_evaluation)]
    assert seeds[0] == seeds[1], "both play the same selection seeds"
    report = finished[1].report
    assert report is not None
    assert (report.evaluation.mode, report.evaluation.success_rate) == ("tuned", 1.0)


def test_tuned_code_is_code_with_the_found_values_as_defaults(finished: Finished) -> None:
    folder, result = finished
    (best,) = result.history
    assert best.training is not None
    assert best.training.search is not None
    found = best.training.search.found["to_column.grip"]
    assert 5 < found <= 9
    own, tuned = (
        {p.name: p.default for a in actions for p in a.parameters} for actions in (best.actions, best.kept_actions)
    )
    assert (own, tuned) == ({"grip": 3.0}, {"grip": found})
    bundle = load_bundle(folder / "bundle")
    assert bundle.actions == best.kept_actions
    assert [a.source for a in bundle.actions] == [a.source for a in best.actions]
    env = extend(GridPlugin().make_env(TASK, seed=0), actions=bundle, plugin=GridPlugin(), task=TASK)
    env.reset(seed=7)
    infos = [env.step(env.extension.write(name))[-1] for name in ("to_row", "to_column")]
    env.close()
    assert infos[-1]["success"], "the default of the bundle's action is the found value"
    ctx = tuning(folder)
    again = ctx.evaluate_kept(best, seeds=ctx.seeds.report(5))
    assert result.report is not None
    assert again == result.report.evaluation
    plain = evaluate_code(ctx.spec(best.setup, Code(best.actions)), best.actions, seeds=ctx.seeds.report(5))
    assert (plain.mode, plain.success_rate) == ("code", 0.0)


def test_steps_of_tuned_code_count_as_selection_and_within_the_budget(finished: Finished) -> None:
    folder, result = finished
    (best,) = result.history
    steps = Run.open(folder).record.steps
    assert best.tuned_evaluation is not None
    policy = sum(e.primitive_steps for e in (best.evaluation, *best.rivals))
    assert steps.selection == policy + best.tuned_evaluation.primitive_steps
    assert steps.total == counted(folder / "env_steps") <= ONCE.budget
    assert steps.lost == 0


def test_run_killed_during_the_race_has_the_same_result_after_a_resume(finished: Finished, raced: Path) -> None:
    before = counted(raced / "env_steps")
    whole = finished[1].history[0]
    selection = whole.steps.selection
    with pytest.raises(ValueError, match="simulator"):
        run(tuning(raced, at=before + selection // 2))
    (again,) = run(tuning(raced)).history
    assert again.steps.lost > 0
    assert again.model_copy(update={"steps": whole.steps}) == whole
    assert load_bundle(raced / "bundle").actions == whole.kept_actions


def test_race_of_an_earlier_version_without_tuned_code_is_played_again(finished: Finished, raced: Path) -> None:
    whole = finished[1].history[0]
    block = json.loads((finished[0] / "iterations/0/race/0.json").read_text())
    block["evaluations"] = [e for e in block["evaluations"] if e["mode"] != "tuned"]
    (raced / "iterations/0/race").mkdir()
    (raced / "iterations/0/race/0.json").write_text(json.dumps(block))
    (again,) = run(tuning(raced)).history
    assert again.kept == whole.kept


def test_iteration_of_an_earlier_version_has_no_tuned_code(finished: Finished) -> None:
    fields = json.loads((finished[0] / "iterations/0/iteration.json").read_text())
    del fields["tuned_evaluation"]
    old = Iteration.model_validate(fields)
    assert old.tuned_evaluation is None
    assert old.kept.mode == "greedy", "code and policy are equally good"
    assert old.kept_actions == old.actions


def test_history_of_the_agents_states_tuned_code_only_if_it_played(finished: Finished) -> None:
    (best,) = finished[1].history
    text, plain = for_slow((best,)), for_slow((best.model_copy(update={"tuned_evaluation": None}),))
    found = f"code alone with to_column.grip {best.kept_actions[1].parameters[0].default:.3g} (default 3)"
    assert found in text
    assert "kept: code with the found values" in text
    assert "found" not in plain
    assert [line for line in text.splitlines() if "found" not in line] == plain.splitlines()[1:]
    kept = kept_action((best,), "to_column")
    assert kept == best.kept_actions[1], "an iteration that keeps the action continues with the found values"


def test_critic_reads_the_results_of_tuned_code_and_its_values(finished: Finished) -> None:
    (best,) = finished[1].history
    names = ("plan", "actions", "setup", "code_evaluation", "training", "evaluation", "tuned_evaluation")
    outcome = Outcome(**{name: getattr(best, name) for name in names})
    grip = best.kept_actions[1].parameters[0].default
    found = f"to_column.grip {grip:.3g} (default 3)"
    title = f"The code alone with the parameter values that a search found ({found}): success 1"
    assert title in render_results(outcome, {})
    plain = render_results(outcome.model_copy(update={"tuned_evaluation": None}), {})
    assert "search" not in plain
    assert [part for part in render_results(outcome, {}).split("\n\n") if title not in part] == plain.split("\n\n")


def test_sub_goal_is_played_by_its_kept_tuned_code(finished: Finished) -> None:
    found = actor_of(tuning(finished[0]))
    assert found is not None
    assert (found[1].mode, found[1].policy) == ("code", None)
    assert found[1].played.actions == finished[1].history[0].kept_actions


def test_skill_of_tuned_code_plays_the_found_values(finished: Finished, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished[0], folder)
    library = SkillLibrary(tmp_path / "skills")
    run(tuning(folder, skills=library, observer=Observer()))
    (name,) = library.names()
    skill = next(iter(library.skills(name)))
    assert skill.record.mode == "code"
    assert skill.bundle.actions == finished[1].history[0].kept_actions


def test_race_has_no_tuned_code_if_the_search_found_the_defaults(raced: Path) -> None:
    path = raced / "iterations/0/training.json"
    training = json.loads(path.read_text())
    training["search"]["found"] = {"to_column.grip": 3.0000001}
    path.write_text(json.dumps(training))
    (best,) = run(tuning(raced)).history
    assert best.tuned_evaluation is None
    assert best.kept.mode == "greedy"


@pytest.mark.parametrize("trainer", [PPO, SAC])
def test_trainers_search_by_default_if_the_policy_begins_as_the_plan_and_code_has_parameters(trainer: Any) -> None:
    column = CodedAction(name="to_column", doc="", source=TO_COLUMN, parameters=(Parameter(**GRIP),))
    row = CodedAction(name="to_row", doc="", source=WALK)
    setup = GridPlugin().default_setup(TASK)
    for actions, prior, searches in (((row, column), 0.9, True), ((row, column), 0.0, False), ((row,), 0.9, False)):
        changes = {"coded_actions": tuple(a.name for a in actions), "plan_prior": prior}
        spec = EnvSpec(TASK, setup.model_copy(update=changes), actions)
        assert trainer().searches(spec) == searches
        assert not trainer(parameter_search=0.0).searches(spec)
