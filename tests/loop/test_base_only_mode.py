"""After a training with base-only episodes, the policy without coded actions is a candidate of the race. A run may keep
it, although the training did not mask the coded actions.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rlgpt.agents.history_text import for_slow
from rlgpt.domain import Iteration
from rlgpt.loop import Result, run
from rlgpt.options import load_bundle
from rlgpt.planner.context import actor_of
from rlgpt.rl.base import EnvSpec, Policy
from rlgpt.rl.evaluation import Judge
from rlgpt.rl.ppo import PPO
from rlgpt.runs import Run
from rlgpt.skills import SkillLibrary
from rlgpt.testing.counting import counted
from rlgpt.testing.grid import MOVES, USE
from story import SETTINGS, context

ONCE = SETTINGS.model_copy(update={"iterations": 1, "report_episodes": 4})
WALK, STAY = list(MOVES), ["up"]


class Fetching(Policy):
    """A policy that fetches the key with base actions, among the moves that it may use."""

    def __init__(self, moves: list[str]) -> None:
        self.moves = moves

    def act(self, observation: Any, *, greedy: bool, rng: Any, sharpness: float = 1.0) -> Any:
        rows, columns = np.sign(observation["obs"][2:4] - observation["obs"][:2]).round().astype(int)
        wanted = next((name for name in self.moves if MOVES[name] in ((rows, 0), (0, columns))), None)
        return np.array([USE if wanted is None else list(MOVES).index(wanted)])


class Paired(PPO):
    """A trainer whose trained policy has other moves if the coded actions are masked."""

    def __init__(self, coded: list[str], without: list[str], *, share: float = 0.25) -> None:
        super().__init__(parameter_search=0.0, base_only=share)
        self.coded, self.without = coded, without

    def load(self, folder: Path, spec: EnvSpec) -> Policy:
        masked = set(spec.setup.coded_actions) <= set(spec.quarantined)
        return Fetching(self.without if masked else self.coded)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    folder = tmp_path_factory.mktemp("base_only")
    return folder, run(context(folder, Paired(STAY, WALK), settings=ONCE))


def test_run_keeps_the_policy_without_code_if_it_is_best(finished: tuple[Path, Result]) -> None:
    (best,) = finished[1].history
    assert best.training is not None
    assert best.training.base_only == ()
    assert (best.kept.mode, best.success_rate, best.masked) == ("base_only", 1.0, ("to_row",))
    assert {e.mode for e in best.rivals} == {"greedy", "sampled"}
    assert max(e.success_rate for e in best.rivals) < 1.0
    report = finished[1].report
    assert report is not None
    assert (report.evaluation.mode, report.evaluation.success_rate) == ("base_only", 1.0)
    assert "to_row" not in report.evaluation.usage
    tested_on = load_bundle(finished[0] / "bundle").tested_on
    assert tested_on is not None
    assert tested_on.success_rate == 0.0, "the code of the bundle never succeeds alone"


def test_agents_get_to_know_that_the_policy_does_not_use_the_code(finished: tuple[Path, Result]) -> None:
    text = for_slow(finished[1].history)
    assert "policy without coded actions: success 1.00" in text
    assert "masked in the policy" in text
    assert "chosen in" not in text


def test_policy_without_code_does_not_become_a_skill(tmp_path: Path) -> None:
    library = SkillLibrary(tmp_path / "skills")
    for coded, skills in ((STAY, 0), (WALK, 1)):
        settings = ONCE.model_copy(update={"report_episodes": 30})
        run(context(tmp_path / str(skills), Paired(coded, WALK), settings=settings, skills=library))
        assert len(library.names()) == skills


def test_its_episodes_count_as_selection_within_the_budget(finished: tuple[Path, Result]) -> None:
    folder, result = finished
    (best,) = result.history
    steps = Run.open(folder).record.steps
    assert steps.selection == sum(e.primitive_steps for e in (best.evaluation, *best.rivals))
    assert steps.total == counted(folder / "env_steps") <= ONCE.budget


def test_resumed_race_keeps_it_too(finished: tuple[Path, Result], tmp_path: Path) -> None:
    folder = shutil.copytree(finished[0], tmp_path / "resumed")
    for name in ("iterations/0/iteration.json", "report.json"):
        (folder / name).unlink()
    again = run(context(folder, Paired(STAY, WALK), settings=ONCE))
    assert [i.kept for i in again.history] == [i.kept for i in finished[1].history]


def test_sub_goal_with_it_masks_the_coded_actions(finished: tuple[Path, Result]) -> None:
    ctx = context(finished[0], Paired(STAY, WALK), settings=ONCE)
    found = actor_of(ctx)
    assert found is not None
    actor = found[1]
    with Judge(actor.played) as judge:
        assert judge.play(actor.acting, range(3)).success_rate == 1.0


@pytest.mark.parametrize("share", [0.25, 0.0])
def test_policy_with_code_is_kept_if_it_is_as_good(share: float, tmp_path: Path) -> None:
    (best,) = run(context(tmp_path, Paired(WALK, WALK, share=share), settings=ONCE)).history
    assert (best.kept.mode, best.masked) == ("greedy", ())
    assert ("base_only" in {e.mode for e in best.rivals}) == (share > 0)


def test_policy_plays_only_in_the_mode_sampled_if_there_are_few_steps_to_judge_it(tmp_path: Path) -> None:
    settings = ONCE.model_copy(update={"judging": 0.1})
    (best,) = run(context(tmp_path, Paired(WALK, WALK, share=0.0), settings=settings)).history
    assert {e.mode for e in best.evaluations} == {"code", "sampled"}
    assert best.kept.mode == "sampled"


def test_iteration_of_an_earlier_version_masks_what_its_training_masked(finished: tuple[Path, Result]) -> None:
    (best,) = finished[1].history
    stored = json.loads(best.model_dump_json())
    stored["training"]["base_only"], stored["evaluation"]["mode"] = ["to_row"], "greedy"
    assert Iteration.model_validate(stored).masked == ("to_row",)
