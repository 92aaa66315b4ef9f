"""Several plans in an iteration: the comparison, the cost, resumed runs, executors."""

from __future__ import annotations

import functools
import json
import math
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rlgpt.agents.build import build_agents
from rlgpt.domain import Episode, Evaluation, Iteration, Score, Steps
from rlgpt.errors import TranscriptEnded
from rlgpt.executors.local import Processes
from rlgpt.llm.base import Request, RequestKey
from rlgpt.llm.exchange import read_exchanges
from rlgpt.llm.replay import Replay
from rlgpt.llm.transcript import export
from rlgpt.loop import LoopSettings, Seeds, run
from rlgpt.loop.allotment import Allotment
from rlgpt.loop.plans import merit
from rlgpt.rl.ppo import PPO
from rlgpt.runs import Run
from rlgpt.testing.counting import counted
from rlgpt.testing.grid import FETCH, GridPlugin
from rlgpt.testing.llm import FakeLLM
from story import BROKEN, SHORT, TASK, WALK, context, reply

SEVERAL = SHORT.model_copy(update={"plans": 4, "iterations": 1, "repairs": 0, "budget": 3_000})
WAIT = "def run():\n    yield observe()\n"
Answer = str | Exception


def plans(*sources: Answer, alike: tuple[int, ...] = ()) -> Callable[[Request], Answer]:
    """Scripted replies. The code of plan k is ``sources[k]``; an exception instead of a source is raised for the plan.
    The plans with the numbers ``alike`` differ only in their thoughts.
    """

    def answer(request: Request) -> Answer:
        key = request.key
        source = sources[key.plan] if key.plan < len(sources) else TranscriptEnded("no further reply")
        if key.role == "slow":
            if isinstance(source, Exception):
                return source
            told = json.loads(reply(request))
            told["thoughts"] = f"plan {key.plan}"
            if key.plan not in alike:
                told["sub_actions"][0]["description"] = f"walk in the way {key.plan}"
            return json.dumps(told)
        if key.role == "fast":
            meta = {"thoughts": "", "doc": "Walk to the row of the key.", "parameters": [], "max_steps": 20}
            return f"{json.dumps(meta)}\n```python\n{source}\n```"
        return reply(request)

    return answer


def play(folder: Path, *sources: Answer, alike: tuple[int, ...] = (), **more: Any) -> list[RequestKey]:
    """Run or resume the run in ``folder`` with code alone, and return the requests."""
    llm = FakeLLM(plans(*sources, alike=alike))
    settings = more.pop("settings", SEVERAL)
    run(context(folder, PPO(), llm, kind=more.pop("kind", "code_only"), settings=settings, **more))
    return llm.keys


def only(folder: Path) -> Iteration:
    (iteration,) = Run.open(folder).iterations()
    return iteration


def rounds_of(folder: Path) -> set[str]:
    """The stored rounds, as PLAN/ROUND."""
    found = (folder / "iterations" / "0" / "plans").glob("*/rounds/*.json")
    return {f"{path.parents[1].name}/{path.stem}" for path in found}


def test_best_plan_goes_on_and_the_steps_of_all_plans_count(tmp_path: Path) -> None:
    """The code of the second plan solves the task, the code of the third plan fails in its rehearsal."""
    keys = play(tmp_path, WAIT, FETCH, BROKEN, WALK)
    iteration = only(tmp_path)
    wait, fetch, broken, walk = iteration.plans
    assert [p.number for p in iteration.plans if p.kept] == [1]
    assert [len(p.rounds) for p in iteration.plans] == [1, 2, 0, 2]
    assert fetch.result is not None
    assert fetch.result.success_rate == iteration.evaluation.success_rate == 1
    assert [(k.plan, k.role) for k in keys if k.role != "review"] == [
        (n, r) for r in ("slow", "fast") for n in range(4)
    ]
    assert broken.actions == broken.rounds == ()
    assert all(p.actions == ("to_row",) for p in (wait, fetch, walk))
    assert iteration.plan == fetch.plan
    assert iteration.actions[0].source.strip() == FETCH.strip()
    assert iteration.steps.rehearsal == sum(p.rehearsal for p in iteration.plans)
    judged = iteration.evaluation.primitive_steps
    assert iteration.steps.code == sum(p.played for p in iteration.plans) + judged
    record = Run.open(tmp_path).record
    assert iteration.steps == record.steps
    assert record.steps.total == counted(tmp_path / "env_steps")


def test_each_round_has_the_same_new_seeds_for_all_its_plans(tmp_path: Path) -> None:
    play(tmp_path, WAIT, WALK, WALK, WALK, settings=SEVERAL.model_copy(update={"selection_episodes": 3}))
    plans_, seeds = only(tmp_path).plans, Seeds(0)
    assert Counter(len(p.rounds) for p in plans_) == {1: 2, 2: 2}
    for number in range(2):
        (played,) = {tuple(e.seed for e in p.rounds[number].episodes) for p in plans_ if len(p.rounds) > number}
        assert played == seeds.halving(0, 3)[(0, 1)[number] : (1, 3)[number]]
    others = {*seeds.selection(100), *seeds.report(100), *seeds.rehearsals(0, 100), *seeds.starts(0, 16)}
    assert not others & set(seeds.halving(0, 100))


def test_resumed_run_repeats_neither_requests_nor_steps_of_plans(tmp_path: Path) -> None:
    """The simulator fails at the first step of the third plan in the first round."""
    sources = (WAIT, FETCH, WALK, WAIT + "    yield observe()\n")
    play(tmp_path / "whole", *sources)
    whole = only(tmp_path / "whole")
    before = sum(p.rehearsal for p in whole.plans) + sum(p.rounds[0].primitive_steps for p in whole.plans[:2])
    (tmp_path / "cut").mkdir()
    with pytest.raises(ValueError, match="the simulator failed"):
        play(tmp_path / "cut", *sources, at=before)
    assert rounds_of(tmp_path / "cut") == {"0/0", "1/0"}
    assert Run.open(tmp_path / "cut").record.steps.total == before
    assert Run.open(tmp_path / "cut").record.steps.lost == 0
    assert play(tmp_path / "cut", *sources) == []
    assert rounds_of(tmp_path / "cut") == rounds_of(tmp_path / "whole") == {"0/0", "1/0", "2/0", "3/0", "1/1", "2/1"}
    assert only(tmp_path / "cut") == whole
    record = Run.open(tmp_path / "cut").record
    assert record.steps == Run.open(tmp_path / "whole").record.steps
    assert record.steps.total == counted(tmp_path / "cut" / "env_steps")


@pytest.mark.slow
def test_run_that_is_killed_in_a_round_repeats_only_the_episodes_of_one_plan(tmp_path: Path) -> None:
    """The environment kills its process in the first episode of the second plan in the second round. The interrupted
    job does not tell its steps.
    """
    sources = (WALK, WAIT, FETCH, WAIT + "    yield observe()\n")
    play(tmp_path / "whole", *sources)
    whole = only(tmp_path / "whole")
    fetch = whole.plans[2]
    assert [len(p.rounds) for p in whole.plans] == [2, 1, 2, 1]
    done = whole.steps.rehearsal + sum(p.played for p in whole.plans) - fetch.rounds[1].primitive_steps
    (tmp_path / "cut").mkdir()
    call = f"test_plans.play(pathlib.Path({str(tmp_path / 'cut')!r}), *{sources!r}, fault='kill', at={done + 1})"
    path = f"import pathlib, sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import test_plans"
    assert subprocess.run([sys.executable, "-c", f"{path}; {call}"], check=False).returncode == -signal.SIGKILL
    assert rounds_of(tmp_path / "cut") == rounds_of(tmp_path / "whole") - {"2/1"}
    assert play(tmp_path / "cut", *sources) == []
    assert only(tmp_path / "cut") == whole
    assert Run.open(tmp_path / "cut").record.steps == Run.open(tmp_path / "whole").record.steps
    assert counted(tmp_path / "cut" / "env_steps") == whole.steps.total + 1


def test_run_that_is_resumed_after_the_comparison_reads_it(tmp_path: Path) -> None:
    """The simulator fails at the first step of the selection."""
    sources = (WAIT, FETCH, WALK, BROKEN)
    play(tmp_path / "whole", *sources)
    whole = only(tmp_path / "whole")
    (tmp_path / "cut").mkdir()
    with pytest.raises(ValueError, match="the simulator failed"):
        play(tmp_path / "cut", *sources, at=whole.steps.rehearsal + sum(p.played for p in whole.plans))
    assert (tmp_path / "cut" / "iterations" / "0" / "plans.json").exists()
    assert play(tmp_path / "cut", *sources) == []
    assert only(tmp_path / "cut") == whole
    assert Run.open(tmp_path / "cut").record.steps.total == counted(tmp_path / "cut" / "env_steps")


def test_interrupted_rehearsal_of_a_plan_counts_as_lost(tmp_path: Path) -> None:
    sources = (FETCH, WALK)
    play(tmp_path / "whole", *sources)
    whole = only(tmp_path / "whole")
    (tmp_path / "cut").mkdir()
    with pytest.raises(ValueError, match="the simulator failed"):
        play(tmp_path / "cut", *sources, at=whole.plans[0].rehearsal + 1)
    play(tmp_path / "cut", *sources)
    assert only(tmp_path / "cut").steps == whole.steps + Steps(lost=1)
    assert Run.open(tmp_path / "cut").record.steps.total == counted(tmp_path / "cut" / "env_steps")


def test_round_with_other_settings_is_played_again(tmp_path: Path) -> None:
    sources, longer = (WAIT, FETCH, WALK, BROKEN), SEVERAL.model_copy(update={"selection_episodes": 6})
    play(tmp_path / "long", *sources, settings=longer)
    (tmp_path / "cut").mkdir()
    play(tmp_path / "cut", *sources)
    for name in ("iteration", "plans"):
        (tmp_path / "cut" / "iterations" / "0" / f"{name}.json").unlink()
    play(tmp_path / "cut", *sources, settings=longer)
    assert only(tmp_path / "cut").plans == only(tmp_path / "long").plans


def test_equal_plans_are_dropped_before_their_code_is_written(tmp_path: Path) -> None:
    keys = play(tmp_path, WALK, FETCH, FETCH, FETCH, alike=(1, 2))
    assert [k.plan for k in keys if k.role == "fast"] == [0, 1, 3]
    assert [p.equals for p in only(tmp_path).plans] == [None, None, 1, None]
    assert [len(p.rounds) for p in only(tmp_path).plans] == [1, 2, 0, 2]


def test_plan_without_an_equal_plays_no_round(tmp_path: Path) -> None:
    play(tmp_path, FETCH, FETCH, FETCH, FETCH, alike=(0, 1, 2, 3))
    assert [p.kept for p in only(tmp_path).plans] == [True, False, False, False]
    assert rounds_of(tmp_path) == set()


@pytest.mark.parametrize("sources", [(BROKEN,) * 4, (BROKEN, BROKEN, WAIT, BROKEN)])
def test_plan_without_code_that_works_loses(tmp_path: Path, sources: tuple[str, ...]) -> None:
    play(tmp_path, *sources)
    assert [p.kept for p in only(tmp_path).plans].index(True) == (2 if WAIT in sources else 0)
    assert rounds_of(tmp_path) == set()


def test_recording_without_further_plans_gives_fewer_plans(tmp_path: Path) -> None:
    play(tmp_path, WAIT, FETCH)
    assert [p.kept for p in only(tmp_path).plans] == [False, True]


def test_recording_of_several_plans_is_replayed(tmp_path: Path) -> None:
    """A run with one plan in each iteration replays the first plan of the recording."""
    play(tmp_path / "run", WAIT, FETCH, WALK, BROKEN)
    export(tmp_path / "run" / "llm.jsonl", tmp_path / "recording.jsonl")
    for name, settings in (("again", SEVERAL), ("one", SEVERAL.model_copy(update={"plans": 1}))):
        llm = Replay(tmp_path / "recording.jsonl")
        run(context(tmp_path / name, PPO(), llm, kind="code_only", settings=settings))
    assert only(tmp_path / "again") == only(tmp_path / "run")
    assert only(tmp_path / "one").plan == only(tmp_path / "run").plans[0].plan


def test_all_plans_are_asked_for_with_the_same_prompt(tmp_path: Path) -> None:
    play(tmp_path, WAIT, FETCH, WALK, BROKEN)
    asked = [e.request for e in read_exchanges(tmp_path / "llm.jsonl") if e.request.key.role == "slow"]
    assert [r.key.plan for r in asked] == [0, 1, 2, 3]
    assert len({r.model_copy(update={"key": asked[0].key}).model_dump_json() for r in asked}) == 1


def test_next_iteration_reads_only_the_plan_that_went_on(tmp_path: Path) -> None:
    settings = SEVERAL.model_copy(update={"iterations": 2, "plans": 2})
    play(tmp_path, WAIT, WALK, settings=settings)
    first, second = Run.open(tmp_path).iterations()
    asked = [e.request for e in read_exchanges(tmp_path / "llm.jsonl") if e.request.key.iteration == 1]
    text = "\n".join(m.content for r in asked if r.key.role == "slow" for m in r.messages)
    lost = next(p for p in first.plans if not p.kept)
    assert first.plan.sub_actions[0].description in text
    assert lost.plan.sub_actions[0].description not in text
    assert len(second.plans) == 2
    assert first.steps + second.steps == Run.open(tmp_path).record.steps
    assert Run.open(tmp_path).record.steps.total == counted(tmp_path / "env_steps")


def test_setup_is_asked_for_the_plan_that_went_on(tmp_path: Path) -> None:
    keys = play(tmp_path, WAIT, WALK, kind="slow_fast_critic", settings=SEVERAL.model_copy(update={"plans": 2}))
    assert [(k.role, k.plan) for k in keys if k.role in ("setup", "critic")] == [("setup", 1)]
    (iteration,) = Run.open(tmp_path).iterations()
    assert iteration.training is not None
    assert iteration.steps.total <= SEVERAL.budget
    assert Run.open(tmp_path).record.steps.total == counted(tmp_path / "env_steps")


def test_later_plans_are_dropped_when_the_budget_is_spent(tmp_path: Path) -> None:
    keys = play(tmp_path, WALK, FETCH, FETCH, FETCH, settings=SEVERAL.model_copy(update={"budget": 1}))
    assert [k.plan for k in keys if k.role == "fast"] == [0]
    assert [p.kept for p in only(tmp_path).plans] == [True, False, False, False]


@pytest.mark.slow
def test_plans_in_other_processes_have_the_same_record(tmp_path: Path) -> None:
    for name, more in (("one", {}), ("several", {"executor": functools.partial(Processes, jobs=2)})):
        play(tmp_path / name, WAIT, FETCH, WALK, BROKEN, **more)
    assert only(tmp_path / "several") == only(tmp_path / "one")
    assert Run.open(tmp_path / "several").record.steps.total == counted(tmp_path / "several" / "env_steps")


def test_run_with_one_plan_has_no_plans_in_its_files(tmp_path: Path) -> None:
    play(tmp_path, FETCH, settings=SEVERAL.model_copy(update={"plans": 1}))
    assert not (tmp_path / "iterations" / "0" / "plans").exists()
    assert (tmp_path / "iterations" / "0" / "plan.json").exists()
    assert '"plans"' not in (tmp_path / "iterations" / "0" / "iteration.json").read_text()
    keys = [e.request.key.model_dump() for e in read_exchanges(tmp_path / "llm.jsonl")]
    assert all("plan" not in key for key in keys)


def test_request_key_of_a_plan_is_read_as_it_was_written() -> None:
    key = RequestKey(task="grid/key", role="fast", sub_action="to_row", plan=2, candidate=1)
    assert RequestKey.model_validate_json(key.model_dump_json()) == key
    assert "plan" not in key.model_copy(update={"plan": 0}).model_dump_json()


@pytest.mark.parametrize("train", [True, False])
def test_halving_takes_at_most_half_of_the_judging_and_leaves_an_episode_for_code_and_policy(train: bool) -> None:
    kind = "slow_fast_critic" if train else "code_only"
    team = build_agents(kind, FakeLLM({}), GridPlugin(), TASK)
    for budget in (100, 3_000, 60_000):
        settings = LoopSettings(budget=budget, iterations=2, plans=4)
        allotment = Allotment(settings, TASK, team)
        share, halving = allotment.judging((), Steps()), allotment.halving(())
        assert halving <= share / 2
        assert allotment.code_first((), halving) >= allotment.limit - 1
        assert halving + (2 if train else 1) * allotment.code_first((), halving) <= share
        assert allotment.code_first((), 0) == (share // 2 if train else share)


def evaluation(*episodes: tuple[bool, float | None, float], maximize: bool = True) -> Evaluation:
    """An evaluation of code, whose episodes have a success, a score and a return."""
    played = tuple(
        Episode(seed=n, success=success, score=score, total_reward=reward, primitive_steps=1, decisions=1)
        for n, (success, score, reward) in enumerate(episodes)
    )
    scored = any(score is not None for _, score, _ in episodes)
    score = Score(metric="coins", maximize=maximize) if scored else None
    return Evaluation(mode="code", episodes=played, has_success=not scored, score=score)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (evaluation((True, None, 0.0), (False, None, 0.0)), evaluation((False, None, 9.0), (False, None, 9.0))),
        (evaluation((False, 2.0, 0.0)), evaluation((False, 1.0, 9.0))),
        (evaluation((False, 1.0, 0.0), maximize=False), evaluation((False, 2.0, 9.0), maximize=False)),
        (evaluation((False, None, 1.0)), evaluation((False, None, 0.5))),
        (evaluation((False, None, -9.0)), evaluation((False, None, math.nan))),
    ],
)
def test_plans_are_compared_by_success_then_score_then_return(better: Evaluation, worse: Evaluation) -> None:
    assert merit(better) > merit(worse)
